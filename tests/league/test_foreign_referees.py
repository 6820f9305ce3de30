"""Referees that are no referees of ours: what they are told, and what their word is worth."""

import asyncio
from typing import Any

import pytest

from agent_league.http.exchange import Answer
from agent_league.protocol import Role
from agent_league.protocol.failures import RefusedError
from agent_league.protocol.play import ResultReport
from agent_league.protocol.results import ReportedResult
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AgentSuspended, MatchEnded
from league_box import Box, Guest
from scripted import Behaviour, Call, Scripted, does_not_know
from timewarp import now, run

START = "START_MATCH"


def says_ok(call: Call) -> Answer:
    return call.returns({"status": "ok"})


def report(referee: Guest, **changes: Any) -> ResultReport:
    fields = {
        "auth_token": referee.token,
        "league_id": LeagueSettings.league_id,
        "round_id": 1,
        "match_id": "R1M1",
        "game_type": "even_odd",
        "result": ReportedResult(winner="P01", score={}, details={}),
    }
    return ResultReport(**referee.stamp(), **(fields | changes))


def refereed(behaviour: Behaviour, script: Any, **settings: Any) -> Box:
    """Play a match whose referee does what *script* does, once it was told to."""

    async def main() -> Box:
        box = Box(["always_even", "always_odd"], referees=0, **settings)
        peer = Scripted("REF01", {START: behaviour, "None": behaviour})
        referee = box.guest(peer, Role.REFEREE)
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await peer.has_heard(START)
        await script(box, referee)
        async with asyncio.timeout(1000):
            await season
        await box.close()
        return box

    return run(main())


def test_a_referee_that_said_ok_and_then_asks_is_given_its_match_at_once() -> None:
    async def script(box: Box, referee: Guest) -> None:
        await asyncio.sleep(1)
        answer = await referee.query("GET_NEXT_MATCH", {})
        assert answer.data is not None
        match = answer.data["next_match"]
        assert (match["match_id"], match["player_A_id"]) == ("R1M1", "P01")
        assert match["player_B_endpoint"].startswith("http://p02/mcp?match_id=R1M1&")
        assert not {"ticket", "seed", "auth_token"} & match.keys()
        again = await referee.query("GET_NEXT_MATCH", {})
        assert again.data == {"next_match": None}
        assert now() == 1
        await referee.line.tell(report(referee))

    box = refereed(says_ok, script)
    assert box.season.results["R1M1"].winner == "P01"
    assert box.season.violations_of("REF01") == {"order-form": 1, "report-ticket": 1}


def test_an_ok_that_nothing_comes_of_is_followed_by_the_other_forms() -> None:
    async def script(box: Box, referee: Guest) -> None:
        assert isinstance(referee.peer, Scripted)
        await referee.peer.has_heard("MATCH_ASSIGNMENT")
        await referee.line.tell(report(referee))

    box = refereed(says_ok, script)
    assert box.season.results["R1M1"].termination == "completed"
    notices = methods(box.guests[0])
    assert notices[:4] == ["start_match", START, None, START]
    assert "MATCH_ASSIGNMENT" in notices


def methods(referee: Guest) -> list[str | None]:
    assert isinstance(referee.peer, Scripted)
    wanted = {START, "MATCH_ASSIGNMENT", "RUN_MATCH", "ROUND_ANNOUNCEMENT"}
    return [call.method for call in referee.peer.received if call.kind in wanted]


def test_a_referee_of_our_own_kind_still_needs_its_ticket() -> None:
    async def script(box: Box, referee: Guest) -> None:
        with pytest.raises(RefusedError, match="ticket"):
            await referee.line.tell(report(referee))
        assert isinstance(referee.peer, Scripted)
        order = referee.peer.messages(START)[0]
        await referee.line.tell(report(referee, ticket=order["ticket"]))

    box = refereed(lambda call: call.returns(call.right()), script)
    assert box.season.violations_of("REF01") == {}


def test_a_strict_league_gives_matches_only_to_referees_that_take_them() -> None:
    async def main() -> Box:
        box = Box(["always_even", "always_odd"], referees=1, strictness="strict")
        box.guest(Scripted("REF02", {START: does_not_know}), Role.REFEREE)
        await box.play()
        return box

    box = run(main())
    assert {event.agent_id for event in box.happened(AgentSuspended)} <= {"REF02"}
    assert {event.referee_id for event in box.happened(MatchEnded)} == {"REF01"}
    assert box.season.violations_of("REF02") == {}
