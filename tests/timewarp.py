"""An event loop whose clock jumps ahead whenever nothing is ready: an hour takes milliseconds."""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")

EPOCH = datetime(2025, 1, 15, 10, 0, tzinfo=UTC)
"""What the clock shows when a run begins."""
LIMIT = 3600.0


class TooLongError(Exception):
    """So much time passed on the loop's clock that something must be waiting in vain."""


class StuckError(Exception):
    """Nothing is ready, and no timer is set: nothing can ever happen."""


class _JumpingSelector(selectors.DefaultSelector):
    """Does not wait for *timeout* seconds, but makes it that much later."""

    def __init__(self, limit: float, grace: float) -> None:
        super().__init__()
        self.now = 0.0
        self._limit, self._grace = limit, grace

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self._grace and (ready := super().select(self._grace)):
            return ready
        if timeout is None:
            raise StuckError("every task waits for something that nobody will do")
        self.now += timeout
        if self.now > self._limit:
            raise TooLongError(f"more than {self._limit:g} s have passed")
        return ready


class TimewarpLoop(asyncio.SelectorEventLoop):
    """Starts at second 0; *limit* bounds it. *grace* is real time that threads are given."""

    def __init__(self, limit: float = LIMIT, grace: float = 0.0) -> None:
        self._jumping = _JumpingSelector(limit, grace)
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run(main: Coroutine[Any, Any, T], *, limit: float = LIMIT, grace: float = 0.0) -> T:
    """Run *main* to its end; raise `TooLongError` or `StuckError` if it has none.

    A thread works in real time: *grace* is how many real seconds it is waited for before each
    jump, so that a strategy that answers at once is not taken for one that thinks too long.
    """
    with asyncio.Runner(loop_factory=lambda: TimewarpLoop(limit, grace)) as runner:
        return runner.run(main)


def now() -> float:
    """Return how many seconds have passed on the running loop, to the millisecond."""
    return round(asyncio.get_running_loop().time(), 3)


def clock() -> datetime:
    """Return the moment on the running loop's clock; hand this in as an agent's `clock`."""
    return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())
