"""An event loop with virtual time: its clock jumps ahead whenever nothing is ready."""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from unittest.mock import patch

from agent_league import own_time

T = TypeVar("T")

EPOCH = datetime(2025, 1, 15, 10, 0, tzinfo=UTC)
"""What the clock shows when a run begins."""
LIMIT = 3600.0
SOCKET_GRACE = 0.02
THREAD_GRACE = 300.0
"""Real seconds that work in a thread may take, on a machine that is very busy."""


class TooLongError(Exception):
    """More virtual time passed than any test needs: something never happens."""


class StuckError(Exception):
    """Nothing is ready and no timer is set, so nothing can happen any more."""


class _JumpingSelector(selectors.DefaultSelector):
    """Advances the clock by *timeout* seconds instead of waiting."""

    def __init__(self, limit: float, grace: float) -> None:
        super().__init__()
        self.now = 0.0
        self.threads = 0
        self._limit, self._grace = limit, grace

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        real_wait = THREAD_GRACE if self.threads else self._grace
        if real_wait and (ready := super().select(real_wait)):
            return ready
        if timeout is None:
            raise StuckError("every task waits for something that nobody will do")
        self.now += timeout
        if self.now > self._limit:
            raise TooLongError(f"more than {self._limit:g} s have passed")
        return ready


class TimewarpLoop(asyncio.SelectorEventLoop):
    """Starts at second 0 and ends at *limit*; before a jump it waits *grace* real seconds."""

    def __init__(self, limit: float = LIMIT, grace: float = 0.0) -> None:
        self._jumping = _JumpingSelector(limit, grace)
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]  # types only
        """Run *func* in a thread; the clock does not jump while somebody waits for it."""
        self._jumping.threads += 1
        work = super().run_in_executor(executor, func, *args)
        work.add_done_callback(self._end_thread)
        return work

    async def shutdown_default_executor(self, *timeout: Any) -> None:
        self._jumping.threads += 1
        try:
            await super().shutdown_default_executor(*timeout)
        finally:
            self._jumping.threads -= 1

    def _end_thread(self, work: object) -> None:
        self._jumping.threads -= 1


def run(main: Coroutine[Any, Any, T], *, limit: float = LIMIT, grace: float = 0.0) -> T:
    """Run *main* to its end; raise `TooLongError` or `StuckError` if it has none.

    Threads that the loop did not start work in real time: before each jump it waits *grace* real
    seconds for them, so that a strategy that answers at once is not taken for one that thinks too
    long.
    """
    # In virtual time a loop is never late; to measure that all the time would take real time.
    tick = limit if grace else own_time.TICK
    with (
        patch.object(own_time, "TICK", tick),
        asyncio.Runner(loop_factory=lambda: TimewarpLoop(limit, grace)) as runner,
    ):
        return runner.run(main)


def run_over_sockets(main: Coroutine[Any, Any, T]) -> T:
    """Run *main*, all of whose sockets belong to this loop, in virtual time.

    No deadline passes because the machine is slow: data sent over loopback arrives at once, or a
    moment later, so the clock jumps only when every agent is waiting.
    """
    return run(main, grace=SOCKET_GRACE)


def now() -> float:
    """Return how many seconds have passed on the running loop, to the millisecond."""
    return round(asyncio.get_running_loop().time(), 3)


def clock() -> datetime:
    """Return the time on the running loop's clock; pass this as an agent's `clock`."""
    return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())
