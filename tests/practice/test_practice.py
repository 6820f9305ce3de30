"""An agent at an address plays against our strategies, and the criteria tell the truth about it."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.league import LeagueManager
from agent_league.player import Player, load_brain
from agent_league.practice.addressee import NotAPlayerError
from agent_league.practice.course import (
    AgentAbsentError,
    PracticePlan,
    PracticeReport,
    run_practice,
)
from agent_league.practice.criteria import judge_criteria, tallies
from agent_league.practice.trainee import TimedCall
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.season.settings import LeagueSettings
from agent_league.serving.site import make_site
from agent_league.store import EventLog
from agent_league.store.events import MatchEnded
from cli.league_command import league, running
from end_to_end.http_league import HASTY
from league_box import player_meta
from misbehaving import Act, Rascal, crashing, erring, garbled, silent, wrong_case
from scripted import hosted
from timewarp import run_over_sockets


def practised(
    strategy: str, name: str = "player", **exercise: Any
) -> tuple[PracticeReport, Player]:
    """Let a player of ours, which is in no league, be put through an exercise over HTTP."""

    async def main() -> tuple[PracticeReport, Player]:
        wire, sock = HttpClient(), bind(LOOPBACK, 0)
        meta = player_meta(url_of(sock))
        brain = load_brain(strategy)
        player = Player(name, wire, "http://nowhere/mcp", meta=meta, brain=brain, seed="7")
        server = await HttpServer.start(make_site(player), sock)
        try:
            return await run_practice(
                PracticePlan(url_of(sock), **{"seed": "7", **exercise})
            ), player
        finally:
            await server.close()
            await wire.close()

    return run_over_sockets(main())


def misled(act: Act, only: str, matches: int = 3) -> PracticeReport:
    """Put a misbehaving agent through a short exercise."""

    async def main() -> PracticeReport:
        rascal = Rascal(act, only)
        try:
            url = await rascal.server.open()
            return await run_practice(
                PracticePlan(url, ["random"], matches, seed="7", patience=HASTY)
            )
        finally:
            await rascal.server.close()

    return run_over_sockets(main())


def test_a_good_agent_meets_every_opponent_so_often_and_keeps_to_the_protocol() -> None:
    course, player = practised("frequency", opponents=["random", "always_even"], matches=60)
    against_random, against_even = tallies(course)
    assert (against_random.played, against_even.played) == (60, 60)
    assert against_random.technical_losses + against_even.technical_losses == 0
    assert against_even.draws <= 3
    compliance, punctuality, skill, grace = judge_criteria(course)
    assert (compliance.met, punctuality.met) == (True, True)
    assert (skill.met, grace.met) == (None, None)
    assert "none can expect more than 25% wins and 1.25 points a match" in skill.measured
    assert not player.over.is_set()


def test_two_agents_at_addresses_meet_each_other_with_the_options_of_the_game() -> None:
    async def main() -> PracticeReport:
        wire, socks = HttpClient(), [bind(LOOPBACK, 0) for _ in range(2)]
        servers = []
        for sock, strategy in zip(socks, ("always_defect", "tit_for_tat"), strict=True):
            meta = replace(player_meta(url_of(sock)), game_types=["prisoners_dilemma"])
            player = Player("P", wire, "http://nowhere/mcp", meta=meta, brain=load_brain(strategy))
            servers.append(await HttpServer.start(make_site(player), sock))
        try:
            first, second = map(url_of, socks)
            options = {"rounds": 5}
            return await run_practice(
                PracticePlan(first, [second], 4, "prisoners_dilemma", "7", options)
            )
        finally:
            for server in servers:
                await server.close()
            await wire.close()

    report = run_over_sockets(main())
    assert [ended.winner for ended in report.results] == [report.agent_id] * 4
    assert {tuple(sorted(ended.details["scores"])) for ended in report.results} == {(4, 9)}


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
    skill = judge_criteria(course)[2]
    assert skill.met is False
    few, _ = practised("random", opponents=["random"], matches=2, game_type="tic_tac_toe")
    assert judge_criteria(few)[2].met is None


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
    compliance, punctuality, *_ = judge_criteria(course)
    assert (compliance.met, punctuality.met) == (compliant, punctual)
    assert only in compliance.measured or compliant
    lost = tallies(course)[0].technical_losses
    assert lost == (0 if only == "ROUND_ANNOUNCEMENT" else 3)


def test_a_move_that_the_rules_forbid_is_a_fault_too() -> None:
    def ended(termination: str) -> MatchEnded:
        fields: dict[str, Any] = {"round_id": 1, "referee_id": "REF01", "players": ["P01", "P02"]}
        lost = [] if termination == "completed" else ["P01"]
        return MatchEnded(
            at="",
            match_id="R1M1",
            **fields,
            winner=None,
            status="TECHNICAL_LOSS" if lost else "DRAW",
            termination=termination,
            technical_losses=lost,
        )

    def course(termination: str) -> PracticeReport:
        reply = [TimedCall("GAME_MOVE_CALL", "R1M1", 0.1)]
        exercise = PracticePlan("http://a/mcp", ["random"], game_type="tic_tac_toe")
        return PracticeReport(exercise, "P01", ["P02"], [ended(termination)], reply)

    assert judge_criteria(course("completed"))[0].met is True
    assert judge_criteria(course("invalid_move"))[0].met is False


def runs(late: Sequence[int], games: int) -> PracticeReport:
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
    reply = [
        TimedCall("CHOOSE_PARITY_CALL", f"R{n}M1", 0.1, "late" if n in late else "", n in late)
        for n in range(games)
    ]
    return PracticeReport(PracticePlan("http://a/mcp", ["mirror"]), "P01", ["P02"], results, reply)


@pytest.mark.parametrize(
    ("late", "games", "met"),
    [((), 50, True), ((), 49, None), ((0,), 51, True), ((25,), 60, False), ((50,), 100, True)],
)
def test_fifty_games_in_a_row_are_counted(
    late: Sequence[int], games: int, met: bool | None
) -> None:
    assert judge_criteria(runs(late, games))[1].met is met


def test_the_skill_criterion_wants_the_random_opponent() -> None:
    skill = judge_criteria(runs((), 50))[2]
    assert (skill.met, skill.measured) == (None, "not played: --vs random")


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def served(answer: Callable[[bytes], Answer], *words: str, encoding: str = "utf-8") -> Ended:
    """Run the command on an agent that answers every message like this."""

    async def main() -> Ended:
        sock = bind(LOOPBACK, 0)
        server = await HttpServer.start(hosted(answer), sock)
        try:
            with running(
                "practice", url_of(sock), "-n", "10", *words, encoding=encoding
            ) as program:
                out, err = await asyncio.to_thread(program.communicate)
                return Ended(program.returncode or 0, out, err)
        finally:
            await server.close(0.1)

    return asyncio.run(main())


@pytest.mark.parametrize("status", [501, 500, 503])
def test_an_http_error_to_everything_is_no_compliance(status: int) -> None:
    done = served(lambda body: Answer(status, b""))
    assert done.code == 1, done.err
    assert "\u2717 100 % protocol compliance: 0.0% " in done.out
    assert f"HTTP {status}" in done.out


def test_silence_is_neither_compliance_nor_the_opposite() -> None:
    assert judge_criteria(runs(range(60), 60))[0].met is None


@pytest.mark.parametrize("introduces_itself", [True, False])
def test_a_manager_does_not_practise(introduces_itself: bool) -> None:
    error = {"code": -32011, "message": "no", "data": {"error_code": "E011"}}
    refusal = json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode()

    async def main() -> None:
        sock, wire = bind(LOOPBACK, 0), HttpClient()
        manager = LeagueManager(LeagueSettings(seed="7"), wire, EventLog())
        site = (
            make_site(manager) if introduces_itself else hosted(lambda body: Answer(200, refusal))
        )
        server = await HttpServer.start(site, sock)
        try:
            with pytest.raises(NotAPlayerError, match="is a league manager; only players can"):
                await run_practice(PracticePlan(url_of(sock), ["random"]))
        finally:
            await server.close()
            await manager.close()
            await wire.close()

    run_over_sockets(main())


def test_a_terminal_without_these_signs_gets_words_and_progress_is_shown() -> None:
    done = served(lambda body: Answer(200, b'{"status": "\xc3\xa9"}'), encoding="ascii")
    assert done.code == 1, done.err
    assert "NO 100 % protocol compliance" in done.out
    assert "-- graceful handling" in done.out
    assert "5 of 10 matches played" in done.err
    assert "10 of 10 matches played" in done.err


def test_nobody_there_is_said_so() -> None:
    with pytest.raises(AgentAbsentError, match="nobody answers at http"):
        run_over_sockets(run_practice(PracticePlan("http://127.0.0.1:9/mcp", ["random"])))
    done = league("practice", "http://127.0.0.1:9/mcp")
    assert done.returncode == 4
    assert "hint: start the agent first" in done.stderr


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        (("--vs", "nobody"), "there is no strategy 'nobody'"),
        (("--game", "chess"), "no game 'chess'"),
    ],
)
def test_what_is_not_there_is_said_before_anything_starts(words: Sequence[str], reply: str) -> None:
    done = league("practice", "http://127.0.0.1:9/mcp", *words)
    assert done.returncode == 2
    assert reply in done.stderr


def test_the_command_prints_a_table_or_a_document_and_says_no_by_its_exit_code() -> None:
    def asked(*words: str) -> Any:
        async def main() -> Any:
            rascal = Rascal(wrong_case, "CHOOSE_PARITY_CALL" if "bad" in words else "")
            url = await rascal.server.open()
            try:
                given = [word for word in words if word != "bad"]
                return await asyncio.to_thread(league, "practice", url, "-n", "4", *given)
            finally:
                await rascal.server.close()

        return asyncio.run(main())

    good = asked("--json", "--vs", "random,mirror")
    assert good.returncode == 0, good.stderr
    notices = json.loads(good.stdout)
    assert [row["opponent"] for row in notices["opponents"]] == ["random", "mirror"]
    assert notices["opponents"][0]["ceiling"] == {"win_rate": 0.25, "points": 1.25}
    assert set(notices["opponents"][0]["win_rate"]) == {"value", "low", "high"}
    assert [one["met"] for one in notices["criteria"]] == [True, None, None, None]
    bad = asked("bad")
    assert bad.returncode == 1
    assert "\u2717 100 % protocol compliance" in bad.stdout
    assert "INVALID" in bad.stdout or "parity_choice" in bad.stdout
