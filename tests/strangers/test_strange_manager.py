"""Our player and our referee in a third-party league."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from agent_league.protocol import Role
from agent_league.running.members import run_members
from agent_league.running.serve import LOOPBACK, bind
from agent_league.running.specs import AgentSpec, LeagueLink
from strangers.third_party import LONGEST, printed_by, running

STARTS = ["ROUND_ANNOUNCEMENT", "MATCH_ASSIGNMENT", "START_MATCH", "run_match", "assign_match"]


async def guests(league_url: str) -> None:
    """Send a referee and two players of ours to a league, until it is over."""
    players = [
        AgentSpec(Role.PLAYER, "player", 0, f"Guest {number}", strategy=strategy)
        for number, strategy in enumerate(("always_even", "always_odd"))
    ]
    specs = [AgentSpec(Role.REFEREE, "REF09", 0, "Referee"), *players]
    agents = [(spec, bind(LOOPBACK, 0)) for spec in specs]
    await run_members(agents, LeagueLink(league_url), asyncio.Event())


@pytest.mark.parametrize("start", STARTS)
def test_our_referee_and_our_players_serve_a_foreign_manager(start: str) -> None:
    async def main() -> None:
        async with AsyncExitStack() as stack:
            process = await stack.enter_async_context(running("manager", "--start", start))
            url = (await printed_by(process))["endpoint"]
            async with asyncio.timeout(LONGEST):
                await guests(url)  # which ends only when the league tells everybody that it has
            started = await printed_by(process)
            assert "error" not in started["answer"]
            results = (await printed_by(process))["results"]
        assert list(results) == ["R1M1"]
        assert results["R1M1"] in {"P1", "P2"}  # one says even and the other odd

    asyncio.run(main())
