"""A referee or a league that is late itself blames nobody."""

import asyncio
import threading

from agent_league.protocol import Patience
from agent_league.running.event_loop import run
from agent_league.store.events import AgentSuspended, MatchEnded
from end_to_end.http_league import HttpLeague
from misbehaving import Body, Rascal, send

WINDOW = 0.6
PATIENCE = Patience(join=5.0, move=WINDOW, game_over=5.0, report=5.0, generic=5.0)


async def nearly_late(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Give the right answer after 90 % of the time."""
    await asyncio.sleep(0.9 * WINDOW)
    send(writer, rascal.honest(request))


def play_and_stand_still(seconds: float) -> HttpLeague:
    """Play a league in which everybody, the referee too, stands still during the first move."""

    async def main() -> HttpLeague:
        async with HttpLeague(awaited_players=2, patience=PATIENCE) as league:
            asked = asyncio.Event()

            async def act(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
                asked.set()
                await nearly_late(rascal, request, writer)

            await league.add_referee()
            for _ in range(2):
                await league.add_rascal(Rascal(act, "CHOOSE_PARITY_CALL"))
            season = asyncio.ensure_future(league.play())
            await asked.wait()
            await asyncio.sleep(0.1)
            threading.Event().wait(seconds)
            await season
            return league

    return run(main())


def test_a_deadline_that_passed_while_the_referee_was_late_is_extended_and_the_record_says_so() -> (
    None
):
    league = play_and_stand_still(2.0)
    (ended,) = [event for event in league.events if isinstance(event, MatchEnded)]
    assert ended.termination == "completed"
    assert ended.details["referee_lag_ms"] > 1000
    assert [event for event in league.events if isinstance(event, AgentSuspended)] == []


def test_the_record_of_a_match_without_delay_says_nothing_of_it() -> None:
    league = play_and_stand_still(0.0)
    (ended,) = [event for event in league.events if isinstance(event, MatchEnded)]
    assert ended.termination == "completed"
    assert ended.details.get("referee_lag_ms", 0) < 1000
