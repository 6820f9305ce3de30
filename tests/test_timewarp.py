import asyncio

import pytest

from timewarp import EPOCH, LIMIT, StuckError, TooLongError, clock, now, run


def test_a_sleep_of_an_hour_takes_no_time_and_moves_the_clock() -> None:
    async def main() -> float:
        await asyncio.sleep(3000)
        assert (clock() - EPOCH).total_seconds() == 3000
        return now()

    assert run(main()) == 3000


def test_timers_go_off_in_order_and_timeouts_hold() -> None:
    async def main() -> list[str]:
        reply: list[str] = []
        loop = asyncio.get_running_loop()
        loop.call_later(20, reply.append, "late")
        loop.call_later(10, reply.append, "early")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 15)
        await asyncio.sleep(10)
        return reply

    assert run(main()) == ["early", "late"]


def test_waiting_for_nothing_ends_at_once() -> None:
    with pytest.raises(StuckError):
        run(asyncio.Event().wait())


def test_waiting_for_ever_ends_at_the_limit() -> None:
    with pytest.raises(TooLongError):
        run(asyncio.sleep(LIMIT + 1))


def test_a_thread_is_waited_for() -> None:
    async def main() -> str:
        return await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 0.001)

    assert run(main()) == "done"
