"""The event loop of this process."""

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run *main* on the fastest event loop that is installed."""
    gc.collect()
    gc.freeze()  # what was imported stays; to search it again and again costs a fifth
    gc.set_threshold(20_000, 20, 20)
    _let_others_finish()
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop  # noqa: PLC0415 - not there on every system

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


def _let_others_finish() -> None:
    """Have the system not interrupt another process whenever a message for this one arrives.

    So this process finds more to do each time it runs, and each message costs less.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a container may forbid it
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


class Leftovers:
    """What has ended here, and whose memory is not free yet.

    The parts of a league, and of an agent, refer to each other, so only a search through all that
    is in memory finds those that nobody needs. Left alone, Python searches so rarely that hundreds
    of them stay.
    """

    def __init__(self) -> None:
        self._ended = 0

    def add(self, running: int) -> None:
        """Note that one has ended while so many others are *running*.

        It searches when as many have ended as are running: so a search is never for little.
        """
        self._ended += 1
        if self._ended >= running:
            self._ended = 0
            gc.collect()
