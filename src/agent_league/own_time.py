"""Our own time: a clock that stands still while this process is late.

A process that is stopped, or gets no processor, sees deadlines pass without having looked whether
an answer came. So the time that a peer has is counted on this clock, and an answer that may lie
in the socket is looked at before its deadline counts.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf
from typing import Generic, TypeVar

Key = TypeVar("Key")

TICK = 0.25
"""Seconds between two measurements, while somebody waits; a shorter delay may go unnoticed."""
TOLERANCE = 0.01
"""Seconds that a timer may be late without us being slow."""


class OwnClock:
    """The clock of one event loop, without the time in which the loop did not run."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop_time, self._call_at = loop.time, loop.call_at
        self.is_running = loop.is_running
        self.lost = 0.0
        self.tick_due = inf
        self.waits = 0
        """How many wait now, while how late the loop is must be measured."""

    def time(self) -> float:
        now, due = self.loop_time(), self.tick_due
        return (now if now < due else due) - self.lost  # noqa: FURB136 - `min` takes three times as long

    def begin_wait(self) -> float:
        """Measure from now on how late the loop is, until `waits` is reduced; return the time."""
        self.waits += 1
        if self.tick_due == inf:
            self._schedule()
        now, due = self.loop_time(), self.tick_due
        return (now if now < due else due) - self.lost  # noqa: FURB136 - as in `time`

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure how late the loop is while a context lasts."""
        self.begin_wait()
        try:
            yield
        finally:
            self.waits -= 1

    def _schedule(self) -> None:
        self.tick_due = self.loop_time() + TICK
        self._call_at(self.tick_due, self._tick)

    def _tick(self) -> None:
        self.lost += max(0.0, self.loop_time() - self.tick_due)
        self.tick_due = inf
        if self.waits:
            self._schedule()


class _Latest(threading.local):
    """The clock that this thread used last."""

    clock: OwnClock | None = None


_latest = _Latest()


def own_clock() -> OwnClock:
    """Return the clock of the running event loop."""
    clock = _latest.clock
    if clock is None or not clock.is_running():  # a thread runs one event loop at a time
        clock = _latest.clock = OwnClock(asyncio.get_running_loop())
    return clock


def own_time() -> float:
    """Return the seconds on the clock of the running event loop."""
    clock = _latest.clock
    if clock is None or not clock.is_running():  # as in `own_clock`: this is called most often
        clock = own_clock()
    now, due = clock.loop_time(), clock.tick_due
    return (now if now < due else due) - clock.lost  # noqa: FURB136 - as in `OwnClock.time`


class Deadline:
    """Calls *expire* once the time that was set last has come on our own clock.

    One timer looks whether that time has passed. Moving it to a later time, as every request of a
    connection does, only changes a number. When the timer itself is late, what came meanwhile is
    handled first.
    """

    def __init__(self, expire: Callable[[], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self.clock = own_clock()
        self._expire = expire
        self.due = 0.0
        """The time that was set last."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = inf
        self._timer_due = inf
        """When the timer looks: on our own clock, which is never ahead of the event loop's."""
        self._is_extended = False

    def set(self, due: float) -> None:
        """Expire at *due*, a time on our own clock."""
        self.due = due
        self._is_extended = False
        if due < self._timer_due:
            self._start_timer(due - self.clock.time())

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._timer_due = None, inf

    def _start_timer(self, seconds: float) -> None:
        self.cancel()
        self._timer_at = self._loop.time() + seconds
        self._timer_due = self.clock.time() + seconds
        self._timer = self._loop.call_at(self._timer_at, self._check)

    def _check(self) -> None:
        late = self._loop.time() - self._timer_at
        self._timer, self._timer_due = None, inf
        left = self.due - self.clock.time()
        if left > 0:
            self._start_timer(left)
        elif late > TOLERANCE and not self._is_extended:
            self._is_extended = True
            self._start_timer(min(late, TICK))
        else:
            self._expire()


class Timeouts(Generic[Key]):
    """Calls *expire* with each key that was not ended in its time, on our own clock.

    One timer is enough for all of them, because nearly all are ended in time.
    """

    def __init__(self, expire: Callable[[Key], object]) -> None:
        self._expire = expire
        self._dues: dict[Key, float] = {}
        self._deadline: Deadline | None = None

    def begin(self, key: Key, seconds: float) -> None:
        """Give *key* so many seconds from now on."""
        deadline = self._deadline
        if deadline is None:
            deadline = self._deadline = Deadline(self._check)
        is_first = not self._dues
        now = deadline.clock.begin_wait() if is_first else deadline.clock.time()
        self._dues[key] = due = now + seconds
        if is_first or due < deadline.due:
            deadline.set(due)

    def end(self, key: Key) -> None:
        """Forget *key*; it may be forgotten already."""
        if self._dues.pop(key, None) is not None and not self._dues and self._deadline:
            self._deadline.clock.waits -= 1

    def close(self) -> None:
        """Expect nothing any more: the timer would keep its owner in memory."""
        for key in tuple(self._dues):
            self.end(key)
        if self._deadline is not None:
            self._deadline.cancel()

    def _check(self) -> None:
        now = own_time()
        late = [key for key, due in self._dues.items() if due <= now]
        for key in late:
            self.end(key)
            self._expire(key)
        if self._dues and self._deadline is not None:
            self._deadline.set(min(self._dues.values()))


@asynccontextmanager
async def timeout_at(due: float) -> AsyncIterator[None]:
    """Raise `TimeoutError` unless a block ends before *due* on our own clock."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as scope:
        deadline = Deadline(lambda: scope.reschedule(loop.time()))
        deadline.set(due)
        try:
            with own_clock().measured():
                yield
        finally:
            deadline.cancel()
