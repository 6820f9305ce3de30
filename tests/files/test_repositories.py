"""The files under data/: whole or not at all, and never outside their folder."""

import os
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.files import (
    ConfigError,
    MatchRecord,
    MatchRepository,
    PlayerHistoryRepository,
    RoundsFile,
    RoundsRepository,
    StandingsFile,
    StandingsRepository,
    UnsafeIdError,
)
from agent_league.files.layout import Layout, validate_id
from agent_league.files.records import PlayedMatch, RoundBook, build_history
from agent_league.protocol.results import GameResult, ReportedResult
from agent_league.protocol.rounds import StandingRow
from agent_league.store import StoreError
from agent_league.store.events import RoundOpened, ScheduledMatch

AT = "2025-01-15T12:00:00.000Z"
ROW = StandingRow(
    rank=1, player_id="P01", display_name="A", played=2, wins=2, draws=0, losses=0, points=6
)


def standings(version: int) -> StandingsFile:
    return StandingsFile(
        league_id="cup", last_updated=AT, version=version, rounds_completed=1, standings=[ROW]
    )


def match(match_id: str) -> MatchRecord:
    return MatchRecord(
        league_id="cup",
        round_id=1,
        match_id=match_id,
        game_type="even_odd",
        player_A_id="P01",
        player_B_id="P02",
        referee_id="REF01",
        started_at=None,
        ended_at=AT,
        result=ReportedResult(winner=None, score={"P01": 1, "P02": 1}, details={}),
    )


def played(league_id: str, match_id: str, winner: str | None, at: str = AT) -> PlayedMatch:
    result = GameResult(
        status="WIN" if winner else "DRAW",
        winner_player_id=winner,
        drawn_number=8,
        number_parity="even",
        choices={},
        reason="",
    )
    return PlayedMatch(
        league_id=league_id,
        round_id=1,
        match_id=match_id,
        opponent_id="P02",
        ended_at=at,
        result=result,
    )


def test_what_is_saved_is_loaded_again(tmp_path: Path) -> None:
    table = StandingsRepository(tmp_path, "cup")
    assert table.load() is None
    table.save(standings(5))
    assert table.load() == standings(5)
    rounds = RoundsRepository(tmp_path, "cup")
    rounds.save(RoundsFile(league_id="cup", last_updated=AT, rounds=[]))
    assert rounds.load() == RoundsFile(league_id="cup", last_updated=AT, rounds=[])
    matches = MatchRepository(tmp_path, "cup")
    matches.save(match("R1M1"))
    assert (matches.load("R1M1"), matches.load("R1M2")) == (match("R1M1"), None)
    histories = PlayerHistoryRepository(tmp_path)
    histories.save(build_history("P01", [played("cup", "R1M1", "P01")]))
    assert histories.load("P01") == build_history("P01", [played("cup", "R1M1", "P01")])
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {
        "data/leagues/cup/standings.json",
        "data/leagues/cup/rounds.json",
        "data/matches/cup/R1M1.json",
        "data/players/P01/history.json",
    }


@given(
    rounds=st.lists(st.lists(st.text(max_size=8), max_size=3), max_size=3),
    game=st.sampled_from(["even_odd", 'a "game" [of] {its}\nown']),
)
def test_rounds_that_are_written_one_by_one_make_the_same_file_as_all_at_once(
    rounds: list[list[str]], game: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    book = RoundBook(game)
    for number, players in enumerate(rounds, 1):
        matches = [
            ScheduledMatch(round_id=number, match_id=f"R{number}M{k}", first=one, second="P02")
            for k, one in enumerate(players, 1)
        ]
        book.open_round(RoundOpened(at=AT, round_id=number, matches=matches))
    file = RoundsFile(league_id="cup", last_updated=AT, rounds=book.records())
    path = RoundsRepository(tmp_path_factory.mktemp("rounds"), "cup").save(file)
    assert path.read_bytes() == msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"


@pytest.mark.parametrize("broken", ["replace"])
def test_a_crash_before_the_new_file_is_in_place_leaves_the_old_one(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = StandingsRepository(tmp_path, "cup")
    table.save(standings(1))

    def fail(*args: Any) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(StoreError, match="cannot be written: No space left"):
        table.save(standings(2))
    monkeypatch.undo()
    assert table.load() == standings(1)
    assert [path.name for path in table.path.parent.iterdir()] == ["standings.json"]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    table = StandingsRepository(tmp_path, "cup")
    table.path.parent.mkdir(parents=True)
    table.path.write_text('{"league_id": 5}', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"standings\.json: league_id: expected text, got 5"):
        table.load()


def test_matches_are_listed_in_the_order_of_the_schedule(tmp_path: Path) -> None:
    matches = MatchRepository(tmp_path, "cup")
    for match_id in ("R10M1", "R2M10", "R2M9"):
        matches.save(match(match_id))
    assert matches.ids() == ["R2M9", "R2M10", "R10M1"]


def test_clearing_takes_matches_only_and_spares_those_that_are_named(tmp_path: Path) -> None:
    matches = MatchRepository(tmp_path, "cup")
    for match_id in ("R1M1", "R1M2"):
        matches.save(match(match_id))
    notes = tmp_path / "data/matches/cup/notes.json"
    notes.write_text("mine", encoding="utf-8")
    matches.clear(but={"R1M2"})
    assert matches.ids() == ["R1M2"]
    assert notes.exists()


def test_a_file_that_cannot_be_removed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = MatchRepository(tmp_path, "cup")
    matches.save(match("R1M1"))

    def fail(*args: Any, **kwargs: Any) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", fail)
    with pytest.raises(StoreError, match=r"R1M1\.json: cannot be removed: Permission denied"):
        matches.clear()


def test_a_history_adds_up_what_was_played_in_every_league(tmp_path: Path) -> None:
    histories = PlayerHistoryRepository(tmp_path)
    later = "2025-01-16T12:00:00.000Z"
    histories.add("P01", [played("cup", "R1M1", "P02", later)])
    histories.add("P01", [played("bowl", "R1M1", "P01")])
    histories.add("P01", [played("bowl", "R2M1", None)])
    found = histories.load("P01")
    assert found is not None
    assert (found.wins, found.losses, found.draws, found.last_updated) == (1, 1, 1, later)
    assert [match.league_id for match in found.history] == ["bowl", "bowl", "cup"]
    histories.add("P01", [played("bowl", "R2M1", "P01")])
    found = histories.load("P01")
    assert found is not None
    assert (found.wins, found.losses, found.draws) == (2, 1, 0)


def test_a_voided_match_stays_in_the_history_and_does_not_count(tmp_path: Path) -> None:
    histories = PlayerHistoryRepository(tmp_path)
    histories.add("P01", [played("cup", "R1M1", "P01"), played("bowl", "R1M1", "P01")])
    histories.void("P01", "cup", "R1M1")
    found = histories.load("P01")
    assert found is not None
    assert found.wins == 1
    assert {match.league_id: match.voided for match in found.history} == {
        "cup": True,
        "bowl": False,
    }


def test_a_league_is_forgotten_in_every_history(tmp_path: Path) -> None:
    histories = PlayerHistoryRepository(tmp_path)
    for player in ("P01", "P02"):
        histories.add(player, [played("cup", "R1M1", None)])
    histories.add("P02", [played("bowl", "R1M1", None)])
    histories.forget("cup")
    assert histories.load("P01") is None
    assert histories.load("P02") == build_history("P02", [played("bowl", "R1M1", None)])


def test_a_player_without_matches_has_an_empty_history() -> None:
    assert build_history("P01", []).last_updated is None


names = st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9./\\_-]{0,70}", fullmatch=True)


@given(names)
def test_an_id_is_one_name_in_its_folder_or_is_refused(name: str) -> None:
    root = Path("/top")
    try:
        path = Layout(root).match("cup", name)
    except UnsafeIdError:
        return
    assert os.path.normpath(path) == str(path)
    assert path.parent == root / "data/matches/cup"
    assert len(name) <= 64
    assert name.isascii()


@given(
    st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_-]|\.(?=[A-Za-z0-9])){0,62}[A-Za-z0-9]", fullmatch=True)
)
def test_a_plain_id_is_never_refused(name: str) -> None:
    assert validate_id(name[:64].rstrip(".")) == name[:64].rstrip(".")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a..b", "../a", "a/b", "a\\b", ".hidden", "a\n", "a.", "x" * 65, "\u0661"],
)
def test_an_id_that_is_no_plain_name_is_refused_everywhere(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnsafeIdError):
        StandingsRepository(tmp_path, name)
    with pytest.raises(UnsafeIdError):
        RoundsRepository(tmp_path, name)
    with pytest.raises(ValueError, match="cannot name a file"):
        MatchRepository(tmp_path, name)
    with pytest.raises(UnsafeIdError):
        MatchRepository(tmp_path, "cup").load(name)
    with pytest.raises(UnsafeIdError):
        PlayerHistoryRepository(tmp_path).load(name)
    assert list(tmp_path.iterdir()) == []
