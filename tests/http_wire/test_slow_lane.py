"""Requests of other machines to the MCP SDK begin one after the other, in a fair order."""

import asyncio

import pytest

from agent_league.http import slow_lane
from agent_league.http.allowances import Allowances
from agent_league.http.slow_lane import SlowLane


def test_whoever_has_asked_least_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_lane, "PAUSE", 0.001)
    allowances, order = Allowances(), list[str]()
    flooding, honest = (allowances.find(f"192.0.2.{number}", 0.0).slow for number in (1, 2))

    async def main() -> None:
        lane = SlowLane()

        async def ask(who: str) -> None:
            await lane.enter(flooding if who == "flooding" else honest)
            order.append(who)

        await asyncio.gather(*(ask(who) for who in [*["flooding"] * 5, "honest"]))

    asyncio.run(main())
    assert order == ["flooding", "honest", *["flooding"] * 4]


def test_a_pause_follows_each_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_lane, "PAUSE", 0.01)
    slow = Allowances().find("192.0.2.1", 0.0).slow

    async def main() -> float:
        lane, loop = SlowLane(), asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(*(lane.enter(slow) for _ in range(6)))
        return loop.time() - began

    assert asyncio.run(main()) >= 5 * 0.01


def test_a_caller_that_has_left_takes_no_turn_and_programs_of_this_machine_never_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slow_lane, "PAUSE", 0.001)
    allowances, lane = Allowances(), SlowLane()
    there, here = (allowances.find(who, 0.0).slow for who in ("192.0.2.1", "127.0.0.1"))

    async def main() -> None:
        await lane.enter(there)
        leaving, staying = (asyncio.ensure_future(lane.enter(there)) for _ in range(2))
        for _ in range(1000):
            await lane.enter(here)
        assert not staying.done()
        leaving.cancel()
        await staying

    asyncio.run(main())
    asyncio.run(main())  # in another event loop it begins anew
