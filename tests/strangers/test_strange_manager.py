"""Our player and our referee in the league of another house."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from agent_league.hosting import LOOPBACK, PlayerPlan, RefereePlan, bound, run_members, url_of
from strangers.troupe import LONGEST, running, said

STARTS = ["ROUND_ANNOUNCEMENT", "MATCH_ASSIGNMENT", "START_MATCH", "run_match", "assign_match"]


async def guests(league_url: str) -> None:
    """Send a referee and two players of ours to a league, until it is over."""
    socks = [bound(LOOPBACK, 0) for _ in range(3)]
    referee = RefereePlan(league_url=league_url, endpoint=url_of(socks[0]), referee_id="REF09")
    players = [
        PlayerPlan(
            league_url=league_url,
            endpoint=url_of(sock),
            display_name=f"Guest {number}",
            strategy=strategy,
        )
        for number, (sock, strategy) in enumerate(
            zip(socks[1:], ("always_even", "always_odd"), strict=True)
        )
    ]
    await run_members([referee, *players], socks, asyncio.Event())


@pytest.mark.parametrize("start", STARTS)
def test_our_referee_and_our_players_serve_a_foreign_manager(start: str) -> None:
    async def main() -> None:
        async with AsyncExitStack() as stack:
            process = await stack.enter_async_context(running("manager", "--start", start))
            url = (await said(process))["endpoint"]
            async with asyncio.timeout(LONGEST):
                await guests(url)  # which ends only when the league tells everybody that it has
            started = await said(process)
            assert "error" not in started["answer"]
            results = (await said(process))["results"]
        assert list(results) == ["R1M1"]
        assert results["R1M1"] in {"P1", "P2"}  # one says even and the other odd

    asyncio.run(main())
