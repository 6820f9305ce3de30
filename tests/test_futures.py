import asyncio
from collections.abc import Callable

import pytest

from agent_league.futures import call_when_done, copy_outcome, make_waits, wait_together
from timewarp import now, run


async def fail() -> int:
    raise LookupError("lost")


async def give(number: int, after: float = 0.0) -> int:
    await asyncio.sleep(after)
    return number


def test_results_come_in_the_order_of_their_futures() -> None:
    async def scenario() -> None:
        slow, fast = (asyncio.ensure_future(give(n, after)) for n, after in ((1, 2.0), (2, 1.0)))
        assert await wait_together([slow, fast]) == [1, 2]

    run(scenario())


def test_what_is_waited_for_together_ends_together() -> None:
    async def scenario() -> None:
        endless = asyncio.ensure_future(give(1, after=1000.0))
        with pytest.raises(LookupError):
            await wait_together([asyncio.ensure_future(fail()), endless])
        await asyncio.sleep(0)
        assert endless.cancelled()

    run(scenario())


def test_a_future_ends_as_the_task_that_it_copies() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        given, failed, stopped = (loop.create_future() for _ in range(3))
        copy_outcome(asyncio.ensure_future(give(3)), given)
        copy_outcome(asyncio.ensure_future(fail()), failed)
        cancelled = asyncio.ensure_future(give(1, after=1000.0))
        copy_outcome(cancelled, stopped)
        cancelled.cancel()
        assert await given == 3
        with pytest.raises(LookupError):
            await failed
        with pytest.raises(asyncio.CancelledError):
            await stopped

    run(scenario())


def test_a_task_ends_if_nobody_wants_its_outcome_any_more() -> None:
    async def scenario() -> None:
        task = asyncio.ensure_future(give(1, after=1000.0))
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        copy_outcome(task, future)
        future.cancel()
        await asyncio.sleep(0.001)
        assert task.cancelled()

    run(scenario())


@pytest.mark.parametrize(("done_after", "called_after"), [(1.0, 1.0), (9.0, 5.0)])
def test_something_is_called_once_when_all_is_done_or_the_time_is_over(
    done_after: float, called_after: float
) -> None:
    async def scenario() -> None:
        calls: list[float] = []
        futures = [asyncio.ensure_future(give(n, done_after)) for n in range(2)]
        call_when_done(futures, 5.0, lambda: calls.append(now()), make_waits())
        await asyncio.sleep(20)
        assert calls == pytest.approx([called_after], abs=0.3)

    run(scenario())


def test_a_wait_that_begins_later_may_end_earlier() -> None:
    async def scenario() -> None:
        waits, calls = make_waits(), list[str]()

        def note(name: str) -> Callable[[], None]:
            return lambda: calls.append(f"{name} at {now():.0f}")

        waits.begin(note("long"), 8.0)
        waits.begin(note("short"), 2.0)
        ended = note("ended")
        waits.begin(ended, 1.0)
        waits.end(ended)
        await asyncio.sleep(20)
        assert calls == ["short at 2", "long at 8"]

    run(scenario())


def test_waits_that_are_closed_call_nobody() -> None:
    async def scenario() -> None:
        waits, calls = make_waits(), list[str]()
        waits.begin(lambda: calls.append("late"), 1.0)
        waits.close()
        await asyncio.sleep(20)
        assert calls == []

    run(scenario())
