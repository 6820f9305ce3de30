"""An agent at an address plays against our strategies, and the criteria tell the truth about it."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from agent_league.hosting import LOOPBACK, bound, url_of
from agent_league.player import Player, load_brain
from agent_league.practice import AgentAbsentError, Course, Exercise, criteria, practise, tallies
from agent_league.practice.envoy import Exchange
from agent_league.protocol import ErrorCode
from agent_league.store.events import MatchEnded
from agent_league.transport.http_client import HttpClient
from agent_league.transport.http_server import HttpServer
from cli.league_command import league
from end_to_end.http_league import HASTY
from league_box import player_meta
from misbehaving import Act, Rascal, crashing, erring, garbled, silent, wrong_case


def practised(strategy: str, name: str = "player", **exercise: Any) -> tuple[Course, Player]:
    """Let a player of ours, which is in no league, be put through an exercise over HTTP."""

    async def main() -> tuple[Course, Player]:
        wire, sock = HttpClient(), bound(LOOPBACK, 0)
        meta = player_meta(url_of(sock))
        brain = load_brain(strategy)
        player = Player(name, wire, "http://nowhere/mcp", meta=meta, brain=brain, seed="7")
        server = await HttpServer.start(player.site(), sock)
        try:
            return await practise(Exercise(url_of(sock), **{"seed": "7", **exercise})), player
        finally:
            await server.close()
            await wire.close()

    return asyncio.run(main())


def misled(act: Act, only: str, matches: int = 3) -> Course:
    """Put a misbehaving agent through a short exercise."""

    async def main() -> Course:
        rascal = Rascal(act, only)
        try:
            url = await rascal.open()
            return await practise(Exercise(url, ["random"], matches, seed="7", patience=HASTY))
        finally:
            await rascal.close()

    return asyncio.run(main())


def test_a_good_agent_meets_every_opponent_so_often_and_keeps_to_the_protocol() -> None:
    course, player = practised("frequency", opponents=["random", "always_even"], matches=60)
    against_random, against_even = tallies(course)
    assert (against_random.played, against_even.played) == (60, 60)
    assert against_random.technical_losses + against_even.technical_losses == 0
    assert against_even.draws <= 3
    compliance, punctuality, skill, grace = criteria(course)
    assert (compliance.met, punctuality.met) == (True, True)
    assert (skill.met, grace.met) == (None, None)
    assert "none can expect more than 25% wins and 1.25 points a match" in skill.measured
    assert not player.over.is_set()


@pytest.mark.parametrize("name", ["player", "P02", "P77"])
def test_an_agent_learns_from_its_opponents_by_whatever_id_it_goes(name: str) -> None:
    course, player = practised("markov", name, opponents=["always_odd"], matches=10)
    assert {played.theirs for played in player.history.values()} == {"odd"}
    assert {played.opponent for played in player.history.values()} != {name}
    assert len(player.history) == 10
    assert tallies(course)[0].technical_losses == 0


def test_the_criterion_of_skill_is_met_where_skill_counts() -> None:
    course, _ = practised("random", opponents=["random"], matches=100, game_type="tic_tac_toe")
    assert tallies(course)[0].ceiling is None
    skill = criteria(course)[2]
    assert skill.met is False
    few, _ = practised("random", opponents=["random"], matches=2, game_type="tic_tac_toe")
    assert criteria(few)[2].met is None


@pytest.mark.parametrize(
    ("act", "only", "compliant", "punctual"),
    [
        (silent, "CHOOSE_PARITY_CALL", True, False),
        (silent, "GAME_INVITATION", True, False),
        (crashing, "CHOOSE_PARITY_CALL", True, False),
        (garbled, "GAME_INVITATION", False, None),
        (wrong_case, "CHOOSE_PARITY_CALL", False, None),
        (erring, "CHOOSE_PARITY_CALL", False, None),
        (erring, "ROUND_ANNOUNCEMENT", False, None),
    ],
)
def test_each_fault_is_found_by_its_criterion(
    act: Act, only: str, compliant: bool, punctual: bool | None
) -> None:
    course = misled(act, only)
    compliance, punctuality, *_ = criteria(course)
    assert (compliance.met, punctuality.met) == (compliant, punctual)
    assert only in compliance.measured or compliant
    lost = tallies(course)[0].technical_losses
    assert lost == (0 if only == "ROUND_ANNOUNCEMENT" else 3)


def test_a_move_that_the_rules_forbid_is_a_fault_too() -> None:
    def ended(termination: str) -> MatchEnded:
        fields: dict[str, Any] = {"round_id": 1, "referee_id": "REF01", "players": ["P01", "P02"]}
        lost = [] if termination == "completed" else ["P01"]
        status = "TECHNICAL_LOSS" if lost else "DRAW"
        return MatchEnded(
            at="",
            match_id="R1M1",
            **fields,
            winner=None,
            status=status,
            termination=termination,
            technical_losses=lost,
        )

    def course(termination: str) -> Course:
        said = [Exchange("GAME_MOVE_CALL", "R1M1", 0.1)]
        exercise = Exercise("http://a/mcp", ["random"], game_type="tic_tac_toe")
        return Course(exercise, "P01", ["P02"], [ended(termination)], said)

    assert criteria(course("completed"))[0].met is True
    assert criteria(course("invalid_move"))[0].met is False


def runs(late: Sequence[int], games: int) -> Course:
    """Return a course of so many games, in which those with these numbers had a timeout."""
    results = [
        MatchEnded(
            at="",
            match_id=f"R{n}M1",
            round_id=n,
            referee_id="REF01",
            players=["P01", "P02"],
            winner=None,
            status="DRAW",
            termination="completed",
        )
        for n in range(games)
    ]
    said = [
        Exchange(
            "CHOOSE_PARITY_CALL", f"R{n}M1", 0.1, ErrorCode.TIMEOUT_ERROR if n in late else None
        )
        for n in range(games)
    ]
    return Course(Exercise("http://a/mcp", ["mirror"]), "P01", ["P02"], results, said)


@pytest.mark.parametrize(
    ("late", "games", "met"),
    [((), 50, True), ((), 49, None), ((0,), 51, True), ((25,), 60, False), ((50,), 100, True)],
)
def test_fifty_games_in_a_row_are_counted(
    late: Sequence[int], games: int, met: bool | None
) -> None:
    assert criteria(runs(late, games))[1].met is met


def test_the_skill_criterion_wants_the_random_opponent() -> None:
    skill = criteria(runs((), 50))[2]
    assert (skill.met, skill.measured) == (None, "not played: --vs random")


def test_nobody_there_is_said_so() -> None:
    with pytest.raises(AgentAbsentError, match="nobody answers at http"):
        asyncio.run(practise(Exercise("http://127.0.0.1:9/mcp", ["random"])))
    done = league("practice", "http://127.0.0.1:9/mcp")
    assert done.returncode == 4
    assert "hint: start the agent first" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--vs", "nobody"), "there is no strategy 'nobody'"),
        (("--game", "chess"), "no game 'chess'"),
    ],
)
def test_what_is_not_there_is_said_before_anything_starts(words: Sequence[str], said: str) -> None:
    done = league("practice", "http://127.0.0.1:9/mcp", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_command_prints_a_table_or_a_document_and_says_no_by_its_exit_code() -> None:
    def asked(*words: str) -> Any:
        async def main() -> Any:
            rascal = Rascal(wrong_case, "CHOOSE_PARITY_CALL" if "bad" in words else "")
            url = await rascal.open()
            try:
                given = [word for word in words if word != "bad"]
                return await asyncio.to_thread(league, "practice", url, "-n", "4", *given)
            finally:
                await rascal.close()

        return asyncio.run(main())

    good = asked("--json", "--vs", "random,mirror")
    assert good.returncode == 0, good.stderr
    told = json.loads(good.stdout)
    assert [row["opponent"] for row in told["opponents"]] == ["random", "mirror"]
    assert told["opponents"][0]["ceiling"] == {"win_rate": 0.25, "points": 1.25}
    assert set(told["opponents"][0]["win_rate"]) == {"value", "low", "high"}
    assert [one["met"] for one in told["criteria"]] == [True, None, None, None]
    bad = asked("bad")
    assert bad.returncode == 1
    assert "\u2717 100 % protocol compliance" in bad.stdout
    assert "INVALID" in bad.stdout or "parity_choice" in bad.stdout
