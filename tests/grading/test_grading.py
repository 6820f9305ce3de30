"""What staff get: every fault counted once, every place worth its points."""

import csv
import io
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_league.cli.console import print_csv
from agent_league.grading import (
    Conduct,
    Grade,
    Rubric,
    grade_players,
    note_disqualification,
    note_match,
    note_violation,
)
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.addresses import store_at
from agent_league.store.events import (
    AgentDisqualified,
    AgentRegistered,
    MatchEnded,
    SeasonStarted,
    ViolationNoted,
)
from cli.league_command import league
from end_to_end.http_league import HttpLeague
from misbehaving import Act, Rascal, crashing, garbled, silent, wrong_case
from timewarp import run_over_sockets

PAGE = (Path(__file__).parent.parent.parent / "docs/grading.md").read_text(encoding="utf-8")
AT = "2026-01-01T00:00:00Z"
ONCE = Retry(attempts=1, base_delay=0.01)


def ended(match_id: str = "R1M1", **changes: Any) -> MatchEnded:
    fields: dict[str, Any] = {
        "at": AT,
        "match_id": match_id,
        "round_id": 1,
        "referee_id": "REF01",
        "players": ["P01", "P02"],
        "winner": "P01",
        "status": "WIN",
        "termination": "completed",
    }
    return MatchEnded(**{**fields, **changes})


def season_of(players: int) -> Season:
    """Return a season of so many players, in which everybody lost to everybody before."""
    season = Season(LeagueSettings(seed="7"))
    ids = [f"P{number:02}" for number in range(1, players + 1)]
    for player in ids:
        season.apply(
            AgentRegistered(
                at=AT,
                role="player",
                agent_id=player,
                display_name=f"=Player {player}",
                version="1.0.0",
                endpoint=f"http://{player}/mcp",
                game_types=["even_odd"],
                token_hash="",
                expires=AT,
            )
        )
    season.apply(SeasonStarted(at=AT, players=ids))
    for n, first in enumerate(ids):
        for second in ids[n + 1 :]:
            season.apply(ended(f"{first}-{second}", players=[first, second], winner=first))
    return season


def graded(conduct: Conduct, rubric: Rubric | None = None) -> Grade:
    return grade_players(season_of(2), {"P01": conduct}, rubric or Rubric())[0]


@pytest.mark.parametrize(
    ("rank", "points"),
    [
        *((1, 100), (2, 95), (3, 90), (4, 85), (5, 85), (6, 80), (10, 80)),
        *((11, 75), (15, 75), (16, 70), (20, 70), (21, 65), (100, 65)),
    ],
)
def test_a_place_is_worth_what_the_assignment_says(rank: int, points: int) -> None:
    row = ALL[rank - 1]
    assert (row.rank, row.place_points, row.points) == (rank, points, points + 10)


ALL = grade_players(season_of(100), {}, Rubric())


def test_a_hundred_players_are_graded_in_the_order_of_the_table() -> None:
    assert [row.rank for row in ALL] == list(range(1, 101))
    assert [row.player_id for row in ALL][:2] == ["P01", "P02"]


@pytest.mark.parametrize(
    ("conduct", "ground", "points"),
    [
        (Conduct(matches=20, moves=20), "", 110),
        (Conduct(matches=20, moves=20, timeouts=1), "", 110),
        (Conduct(matches=20, moves=20, timeouts=2), "timeouts", 0),
        (Conduct(matches=20, moves=20, violations=1, faulty={"R1M1"}), "violations", 0),
        (Conduct(matches=20, moves=20, failures=1), "failures", 0),
        (Conduct(matches=20, moves=20, failures=1, violations=1), "violations, failures", 0),
    ],
)
def test_whoever_breaks_the_rules_is_out(conduct: Conduct, ground: str, points: int) -> None:
    row = graded(conduct)
    assert (row.disqualified, row.points) == (ground, points)


def test_staff_may_be_more_lenient_and_the_bonus_is_still_for_the_faultless() -> None:
    lenient = Rubric(most_violations=None, most_timeouts=None, most_failures=None)
    row = graded(Conduct(matches=4, faulty={"R1M1"}, violations=3, timeouts=9, moves=9), lenient)
    assert (row.points, row.bonus, row.compliance, row.disqualified) == (100, 0, 0.75, "")


def make_entry(kind: str, to: str = "P02", **fields: Any) -> dict[str, Any]:
    message = {"message_type": kind, **fields}
    return {"at": AT, "from": "referee:REF01", "to": f"player:{to}", "message": message}


def missed(error: str, by: str = "P02") -> dict[str, Any]:
    return {"at": AT, "from": f"player:{by}", "to": "referee:REF01", "error": error}


def noted(make_entry: list[dict[str, Any]], **changes: Any) -> dict[str, Conduct]:
    conducts: dict[str, Conduct] = {}
    note_match(conducts, ended(**changes), make_entry)
    return conducts


def test_faults_are_counted_for_whoever_committed_them_even_if_forgiven() -> None:
    found = noted(
        [
            make_entry("CHOOSE_PARITY_CALL"),
            missed("E001 too late"),
            make_entry("GAME_ERROR", error_code="E001"),
            make_entry("CHOOSE_PARITY_CALL"),
            missed("E022 nonsense"),
            make_entry("CHOOSE_PARITY_CALL", to="P01"),
            missed("E009 gone", by="P01"),
            make_entry("GAME_MOVE_CALL", to="P01"),
            make_entry("GAME_ERROR", to="P01", error_code="E024"),
        ]
    )
    assert found["P02"] == Conduct(
        1, faulty={"R1M1"}, moves=2, timeouts=1, failures=0, violations=1
    )
    assert found["P01"] == Conduct(
        1, faulty={"R1M1"}, moves=2, timeouts=0, failures=1, violations=1
    )


def test_what_the_league_noted_counts_and_so_does_whom_it_put_out() -> None:
    conducts = noted([])
    broken = ViolationNoted(at=AT, agent_id="P02", rule="choice-field", got="choice")
    for match_id in ("R1M1", None):
        note_violation(conducts, msgspec.structs.replace(broken, match_id=match_id))
    assert conducts["P02"] == Conduct(1, faulty={"R1M1"}, moves=1, violations=2)
    out = AgentDisqualified(at=AT, agent_id="P02", ground="schema", why="choice-field")
    note_disqualification(conducts, out)
    assert graded(conducts["P02"], Rubric()).disqualified == "schema"
    assert conducts["P01"] == Conduct(1, moves=1)


@pytest.mark.parametrize(
    ("termination", "fault"),
    [
        ("timeout", Conduct(1, moves=1, timeouts=1)),
        ("unreachable", Conduct(1, moves=1, failures=1)),
        ("invalid_reply", Conduct(1, {"R1M1"}, moves=1, violations=1)),
        ("invalid_move", Conduct(1, {"R1M1"}, moves=1, violations=1)),
        ("error_reply", Conduct(1, {"R1M1"}, moves=1, violations=1)),
    ],
)
def test_of_a_match_without_a_word_its_ending_tells(termination: str, fault: Conduct) -> None:
    lost = {"status": "TECHNICAL_LOSS", "technical_losses": ["P02"], "termination": termination}
    found = noted([], **lost)
    assert found["P02"] == fault
    assert found["P01"] == Conduct(1, moves=1)


@pytest.mark.parametrize(
    ("termination", "fault"),
    [
        ("suspended", Conduct(1, failures=1)),
        ("declined", Conduct(1)),
        ("disqualified", Conduct(1)),
    ],
)
def test_nobody_was_asked_for_a_move_in_a_match_that_did_not_begin(
    termination: str, fault: Conduct
) -> None:
    lost = {"status": "TECHNICAL_LOSS", "technical_losses": ["P02"], "termination": termination}
    invited = [make_entry("GAME_INVITATION", to="P01"), make_entry("GAME_INVITATION")]
    for transcript in ([], invited):
        found = noted(transcript, **lost)
        assert found["P02"] == fault
        assert found["P01"] == Conduct(1)


def test_a_late_answer_to_an_invitation_that_was_forgiven_is_no_late_move() -> None:
    late = [
        make_entry("GAME_INVITATION"),
        missed("E001 too late"),
        make_entry("GAME_ERROR", error_code="E001"),
    ]
    asked = [make_entry("GAME_INVITATION"), make_entry("CHOOSE_PARITY_CALL")]
    assert noted([*late, *asked])["P02"] == Conduct(1, moves=1)


def test_whoever_never_joins_in_time_is_out() -> None:
    lost = {"status": "TECHNICAL_LOSS", "technical_losses": ["P02"], "termination": "timeout"}
    found = noted([make_entry("GAME_INVITATION"), missed("E001 too late")], **lost)
    assert found["P02"] == Conduct(1, timeouts=1)
    assert graded(found["P02"]).disqualified == "timeouts"


def test_two_players_that_forfeit_have_each_their_own_fault() -> None:
    found = noted(
        [],
        winner=None,
        status="TECHNICAL_LOSS",
        technical_losses=["P01", "P02"],
        termination="both_forfeit",
        forfeits={"P01": "timeout", "P02": "invalid_move"},
    )
    assert (found["P01"].timeouts, found["P01"].violations) == (1, 0)
    assert (found["P02"].timeouts, found["P02"].violations) == (0, 1)


@pytest.mark.parametrize(
    ("players", "points"),
    [
        (5, [30, 25, 20, 15, 10]),
        (10, [30, 30, 25, 25, 20, 20, 15, 15, 10, 10]),
        (4, [30, 25, 20, 15]),
        (2, [30, 20]),
    ],
)
def test_the_part_of_the_class_is_worth_what_document_000_says(
    players: int, points: list[int]
) -> None:
    rows = grade_players(season_of(players), {}, Rubric())
    assert [row.competition_points for row in rows] == points


def test_a_disqualified_player_has_no_points_of_competition() -> None:
    assert graded(Conduct(matches=1, moves=1, violations=1)).competition_points == 0


@pytest.mark.parametrize("entry", [{}, {"message": 7, "to": "player:P02"}, {"error": None}])
def test_a_transcript_of_another_shape_does_no_harm(entry: dict[str, Any]) -> None:
    assert noted([entry])["P02"] == Conduct(1)


def test_the_page_shows_the_default_rubric_and_every_column() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert msgspec.json.decode(shown, type=Rubric) == Rubric()
    assert json.loads(shown) == json.loads(msgspec.json.encode(Rubric()))
    columns = [name for name in Grade.__dataclass_fields__ if f"`{name}`" not in PAGE]
    assert columns == []


def played_with(act: Act, only: str, folder: Path) -> None:
    """Keep a league of three in *folder*, one of whom misbehaves."""

    async def script(league: HttpLeague) -> None:
        await league.add_referee()
        await league.add_player()
        await league.add_player()
        await league.add_rascal(Rascal(act, only))
        await league.play()

    async def main() -> None:
        store = store_at(str(folder / "league.db"))
        league = HttpLeague(awaited_players=3, retry=ONCE, patience=Patience(move=2.0))
        league.store = store
        try:
            async with league:
                await script(league)
        finally:
            await store.close()

    run_over_sockets(main())


@pytest.mark.parametrize(
    ("act", "column"),
    [
        (silent, "timeouts"),
        (crashing, "failures"),
        (garbled, "violations"),
        (wrong_case, "violations"),
    ],
)
def test_the_grades_of_a_league_that_was_played(act: Act, column: str, tmp_path: Path) -> None:
    played_with(act, "CHOOSE_PARITY_CALL", tmp_path)
    done = league("grade", "--shared", str(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 3
    rascal = next(row for row in rows if row["player"].startswith("Rascal"))
    assert int(rascal[column]) >= 2
    assert rascal["disqualified"].split(", ")[0] == column
    assert rascal["points"] == "0"
    for honest in rows:
        if honest is not rascal:
            assert (honest["violations"], honest["failures"], honest["bonus"]) == ("0", "0", "10")


def test_a_rubric_is_read_from_a_file_and_a_wrong_one_is_said_so(tmp_path: Path) -> None:
    done = league("play", "--players", "2", "--port-base", "0", "--display", "none", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    file = tmp_path / "rubric.json"
    file.write_text('{"places": [[1, 20]], "otherwise": 10, "compliance_bonus": 1}')
    found = json.loads(league("grade", "--rubric", "rubric.json", "--json", cwd=tmp_path).stdout)
    assert [row["points"] for row in found["grades"]] == [21, 11]
    assert found["rubric"]["otherwise"] == 10
    for wrong in ('{"place": []}', '{"most_timeouts": 7}', "[]", "{", '{"otherwise": "1"}'):
        file.write_text(wrong)
        refused = league("grade", "--rubric", "rubric.json", cwd=tmp_path)
        assert refused.returncode == 2, refused.stderr
        assert "rubric.json is not a rubric" in refused.stderr
    missing = league("grade", "--rubric", "none.json", cwd=tmp_path)
    assert (missing.returncode, "cannot be read" in missing.stderr) == (2, True)


def test_a_name_is_never_a_formula(capsys: pytest.CaptureFixture[str]) -> None:
    row = asdict(ALL[0])
    print_csv(list(row), [row], "\n")
    assert ",'=Player P01," in capsys.readouterr().out
