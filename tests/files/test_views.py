"""The files of a season: as it happens, or from its events, they are the same to the last byte."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_league.files import (
    ConfigError,
    FileViews,
    MatchRepository,
    PlayerHistoryRepository,
    RoundsRepository,
    StandingsRepository,
    UnsafeIdError,
    export,
)
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store import Event, StoreError
from agent_league.store.events import (
    AgentRegistered,
    MatchEnded,
    RoundClosed,
    SeasonEnded,
    SeasonStarted,
)
from agent_league.tournament.standings import Scoring
from league_box import Box, played
from scripted import Scripted, says

LEAGUE = "league_2025_even_odd"


def tree(root: Path) -> dict[str, bytes]:
    files = [path for path in root.rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def box() -> Box:
    """Return a league with wins, draws and technical losses in it, over two legs."""
    league = Box(["always_even", "always_odd", "random"], referees=2, guests=1, legs=2)
    league.guest(Scripted("?", {"GAME_INVITATION": says(accept=False)}))
    return played(league)


def written(
    events: Sequence[Event],
    root: Path,
    when: Callable[[Event], bool],
    terms: LeagueSettings,
) -> FileViews:
    """Write the files as the events happen, whenever *when* says so."""
    season = Season(terms)
    views = FileViews(season, root)
    for event in events:
        season.apply(event)
        views.apply(event)
        if when(event):
            views.flush()
    return views


def at_round_ends(event: Event) -> bool:
    return isinstance(event, RoundClosed | SeasonEnded)


def test_a_tree_written_live_is_the_tree_that_its_events_make(tmp_path: Path) -> None:
    league = Box(["always_even", "always_odd", "random", "markov"], referees=2)
    views = FileViews(league.season, tmp_path / "live")

    def on_event(event: Event) -> None:
        views.apply(event)
        if at_round_ends(event):
            views.flush()

    league.events.listen(on_event)
    played(league)
    export(league.events, tmp_path / "again")
    assert tree(tmp_path / "live") == tree(tmp_path / "again")
    assert set(tree(tmp_path / "live")) == {
        f"data/leagues/{LEAGUE}/standings.json",
        f"data/leagues/{LEAGUE}/rounds.json",
        *(f"data/matches/{LEAGUE}/R{r}M{m}.json" for r in (1, 2, 3) for m in (1, 2)),
        *(f"data/players/P0{n}/history.json" for n in (1, 2, 3, 4)),
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
@given(data=st.data())
def test_whenever_they_are_written_the_files_end_up_the_same(
    data: st.DataObject, box: Box, tmp_path: Path
) -> None:
    events = list(box.events)
    flushed = data.draw(st.sets(st.integers(0, len(events) - 1)))
    turns = iter(range(len(events)))
    for name in ("live", "again"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    written(events, tmp_path / "live", lambda _: next(turns) in flushed, box.settings).flush()
    export(events, tmp_path / "again")
    assert tree(tmp_path / "live") == tree(tmp_path / "again")


def test_deleting_the_files_loses_nothing(box: Box, tmp_path: Path) -> None:
    export(box.events, tmp_path)
    before = tree(tmp_path)
    shutil.rmtree(tmp_path / "data")
    export(box.events, tmp_path)
    export(box.events, tmp_path)
    assert tree(tmp_path) == before


def test_an_earlier_season_of_that_name_leaves_nothing_behind(box: Box, tmp_path: Path) -> None:
    export(box.events, tmp_path / "fresh")
    larger = played(Box(["random"] * 7, seed="larger"))
    export(larger.events, tmp_path / "used")
    export(box.events, tmp_path / "used")
    assert tree(tmp_path / "used") == tree(tmp_path / "fresh")


def test_another_league_of_the_folder_keeps_its_files(box: Box, tmp_path: Path) -> None:
    other = played(Box(["random"] * 2, league_id="cup"))
    export(other.events, tmp_path)
    export(box.events, tmp_path)
    found = PlayerHistoryRepository(tmp_path).load("P01")
    assert found is not None
    assert {match.league_id for match in found.history} == {"cup", LEAGUE}
    assert MatchRepository(tmp_path, "cup").ids() == ["R1M1"]
    before = tree(tmp_path)
    export(other.events, tmp_path)
    assert tree(tmp_path) == before


ROW = ["rank", "player_id", "display_name", "played", "wins", "draws", "losses", "points"]


def test_the_standings_have_the_shape_of_the_example(box: Box, tmp_path: Path) -> None:
    export(box.events, tmp_path)
    reply = json.loads((tmp_path / f"data/leagues/{LEAGUE}/standings.json").read_bytes())
    head = ["schema_version", "league_id", "last_updated", "version", "rounds_completed"]
    assert list(reply) == [*head, "standings"]
    assert [list(row) for row in reply["standings"]] == [ROW] * 4
    assert reply["standings"] == msgspec.to_builtins(box.season.standings())
    assert reply["rounds_completed"] == box.season.total_rounds
    assert reply["last_updated"] == box.happened(RoundClosed)[-1].at


def test_the_rounds_have_the_keys_of_the_announcements(box: Box, tmp_path: Path) -> None:
    export(box.events, tmp_path)
    reply = json.loads((tmp_path / f"data/leagues/{LEAGUE}/rounds.json").read_bytes())
    assert list(reply) == ["schema_version", "league_id", "last_updated", "rounds"]
    assert [one["round_id"] for one in reply["rounds"]] == [1, 2, 3, 4, 5, 6]
    first = reply["rounds"][0]
    announced = {"match_id", "game_type", "player_A_id", "player_B_id", "referee_endpoint"}
    assert all(announced <= match.keys() for match in first["matches"])
    assert all(match["referee_endpoint"].startswith("http://ref") for match in first["matches"])
    assert (first["status"], first["matches_completed"]) == ("COMPLETED", 2)
    totals = {"total_matches", "wins", "draws", "technical_losses"}
    assert first["summary"].keys() == totals
    assert sum(first["summary"].values()) == 2 * first["summary"]["total_matches"]
    assert first["completed_at"] == box.happened(RoundClosed)[0].at


def test_a_match_has_the_keys_of_its_report(box: Box, tmp_path: Path) -> None:
    export(box.events, tmp_path)
    for ended in box.happened(MatchEnded):
        path = tmp_path / f"data/matches/{LEAGUE}/{ended.match_id}.json"
        reply = json.loads(path.read_bytes())
        assert {"league_id", "round_id", "match_id", "game_type", "result"} <= reply.keys()
        assert {"winner", "score", "details"} <= reply["result"].keys()
        assert {"drawn_number", "choices"} <= reply["result"]["details"].keys()
        assert reply["result"]["winner"] == ended.winner
        assert sum(reply["result"]["score"].values()) == (2 if ended.status == "DRAW" else 3)
        assert reply["started_at"] <= reply["ended_at"] == ended.at


def test_a_history_has_the_keys_of_the_end_of_a_match(box: Box, tmp_path: Path) -> None:
    export(box.events, tmp_path)
    for row in box.season.standings():
        reply = json.loads((tmp_path / f"data/players/{row.player_id}/history.json").read_bytes())
        assert (reply["wins"], reply["losses"], reply["draws"]) == (row.wins, row.losses, row.draws)
        assert len(reply["history"]) == row.played
        notices = {
            "status",
            "winner_player_id",
            "drawn_number",
            "number_parity",
            "choices",
            "reason",
        }
        assert all(match["result"].keys() == {*notices, "details"} for match in reply["history"])
        assert reply["last_updated"] == reply["history"][-1]["ended_at"]


def test_what_is_written_can_be_read_by_the_repositories(box: Box, tmp_path: Path) -> None:
    export(box.events, tmp_path)
    matches = MatchRepository(tmp_path, LEAGUE)
    assert len(matches.ids()) == len(box.season.results)
    assert all(matches.load(match_id) for match_id in matches.ids())
    assert StandingsRepository(tmp_path, LEAGUE).load()
    assert RoundsRepository(tmp_path, LEAGUE).load()


def test_the_version_counts_up_with_every_change_of_the_table(box: Box, tmp_path: Path) -> None:
    versions: list[tuple[int, str]] = []
    season = Season(box.settings)
    views = FileViews(season, tmp_path)
    table = StandingsRepository(tmp_path, LEAGUE)
    for event in box.events:
        season.apply(event)
        views.apply(event)
        views.flush()
        found = table.load()
        assert found is not None
        versions.append((found.version, found.last_updated))
    assert versions == sorted(versions)
    changes = box.happened(SeasonStarted, MatchEnded, RoundClosed)
    assert versions[-1][0] == 1 + len(changes)


def test_a_player_that_comes_back_under_another_name_is_called_so(box: Box, tmp_path: Path) -> None:
    again = box.happened(AgentRegistered)
    (first,) = [event for event in again if event.agent_id == "P01"]
    events = [*box.events, msgspec.structs.replace(first, display_name="New", at="2026")]
    export(events, tmp_path)
    found = StandingsRepository(tmp_path, LEAGUE).load()
    assert found is not None
    assert found.last_updated == "2026"
    assert "New" in [row.display_name for row in found.standings]


def test_nothing_is_written_before_it_is_time(box: Box, tmp_path: Path) -> None:
    written(list(box.events), tmp_path, lambda _: False, box.settings)
    assert tree(tmp_path) == {}


def test_what_has_not_changed_is_not_written_again(box: Box, tmp_path: Path) -> None:
    views = written(list(box.events), tmp_path, at_round_ends, box.settings)
    shutil.rmtree(tmp_path)
    assert views.flush()
    assert tree(tmp_path) == {}


def test_a_file_that_could_not_be_written_stays_due(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = written(list(box.events), tmp_path / "live", lambda _: False, box.settings)

    def full(*args: Any) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    for _ in range(2):
        with pytest.raises(StoreError, match="No space left"):
            views.flush()
    monkeypatch.undo()
    views.flush()
    export(box.events, tmp_path / "again")
    assert tree(tmp_path / "live") == tree(tmp_path / "again")


def test_a_damaged_file_does_not_keep_the_others_from_being_written(
    box: Box, tmp_path: Path
) -> None:
    damaged = tmp_path / "data/players/P01/history.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"P01/history\.json: not JSON"):
        export(box.events, tmp_path)
    damaged.unlink()
    export(box.events, tmp_path / "whole")
    for name, body in tree(tmp_path / "whole").items():
        assert "P01" in name or (tmp_path / name).read_bytes() == body


def test_a_report_in_other_words_is_shown_as_far_as_it_can_be(box: Box, tmp_path: Path) -> None:
    strange = {"drawn_number": "eight", "choices": ["even"], "mood": "fine"}
    events = [
        msgspec.structs.replace(event, details=strange) if isinstance(event, MatchEnded) else event
        for event in box.events
    ]
    export(events, tmp_path)
    found = PlayerHistoryRepository(tmp_path).load("P01")
    assert found is not None
    result = found.history[0].result
    assert (result.drawn_number, result.choices, result.details) == (None, {}, {"mood": "fine"})


def test_what_a_match_is_worth_comes_from_the_settings(box: Box, tmp_path: Path) -> None:
    terms = LeagueSettings(seed="s", legs=2, scoring=Scoring(win=10))
    export(box.events, tmp_path, terms)
    record = MatchRepository(tmp_path, LEAGUE).load("R1M1")
    assert record is not None
    assert set(record.result.score.values()) <= {10, 1, 0}
    found = StandingsRepository(tmp_path, LEAGUE).load()
    assert found is not None
    assert found.standings[0].points >= 10


def test_there_is_nothing_to_export_without_a_season(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no season was opened"):
        export([], tmp_path)


def test_a_league_whose_name_is_no_file_name_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnsafeIdError):
        FileViews(Season(LeagueSettings(seed="s", league_id="../cup")), tmp_path)


def test_the_file_of_a_match_tells_which_rules_were_broken_in_it(tmp_path: Path) -> None:
    league = Box(["always_even"], guests=1)
    league.guest(Scripted("?", {"CHOOSE_PARITY_CALL": says(player_id="P77")}))
    export(list(played(league).events), tmp_path)
    record = MatchRepository(tmp_path, LEAGUE).load("R1M1")
    assert record is not None
    assert msgspec.to_builtins(record.violations) == [
        {"agent_id": "P02", "rule": "player-id-other", "got": "P77"}
    ]
