"""The event loop of this process."""

import asyncio
import gc
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run *main* on the fastest event loop that is installed."""
    gc.collect()
    gc.freeze()  # what was imported stays; to search it again and again costs a fifth
    gc.set_threshold(20_000, 20, 20)
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop  # noqa: PLC0415 - not there on every system

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
