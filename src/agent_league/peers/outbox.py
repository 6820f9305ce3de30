"""Messages that wait to be sent to one peer: bounded, urgent ones first, outdated ones replaced."""

import asyncio
from collections.abc import Callable, Sequence
from enum import IntEnum
from operator import attrgetter
from typing import TypeAlias

from msgspec import Struct

from agent_league.dialects.dialect import Outgoing


class Urgency(IntEnum):
    """Which message goes first when several wait."""

    GAME = 0
    NEWS = 1
    TABLE = 2
    FAREWELL = 3


class QueuedMessage(Struct, frozen=True):
    """A message that waits to be sent."""

    urgency: Urgency
    outgoing: Outgoing
    left: "asyncio.Future[None]"
    """Set when it was sent, or cannot be."""


_get_urgency = attrgetter("urgency")

Send: TypeAlias = Callable[[Sequence[QueuedMessage]], None]
"""Sends messages together, and sets the future of each; that of the last one at last."""


class Outbox:
    """Sends one message at a time; a message replaces one with the same key that still waits.

    If it *sends_batches*, what waits is sent together. When more than *limit* messages wait, the
    oldest of the least urgent is dropped.
    """

    def __init__(self, send: Send, limit: int = 32, *, sends_batches: bool = False) -> None:
        self._send = send
        self._limit = limit
        self._sends_batches = sends_batches
        self._queue: dict[str | asyncio.Future[None], QueuedMessage] = {}
        self._is_busy = False
        """Whether a message is on its way, or will be in a moment."""
        self._loop = asyncio.get_running_loop()  # asked for once: every look takes a system call
        self._current: asyncio.Future[None] | None = None
        """Done when the message that is on its way has arrived."""
        self.dropped = 0

    def put(
        self, outgoing: Outgoing, urgency: Urgency, replaces: str | None = None
    ) -> "asyncio.Future[None]":
        """Queue a message; the future is done when it was sent, or will not be sent any more."""
        queue, left = self._queue, self._loop.create_future()
        if replaces and replaces in queue:
            queue[replaces].left.set_result(None)
        queue[replaces or left] = QueuedMessage(urgency, outgoing, left)
        if len(queue) > self._limit:
            self._drop_least_urgent()
        if not self._is_busy:
            self._is_busy = True
            self._loop.call_soon(self._send_next)  # something more urgent may be put at once
        return left

    def _send_next(self, left: "asyncio.Future[None] | None" = None) -> None:
        """Send what waits, if anything does; whatever was sent before has *left*."""
        if not self._queue:
            self._current, self._is_busy = None, False
            return
        messages = self._take_all() if self._sends_batches else [self._take_most_urgent()]
        self._current = messages[-1].left
        self._current.add_done_callback(self._send_next)
        self._send(messages)

    def _take_all(self) -> list[QueuedMessage]:
        """Return all that wait, the most urgent first."""
        messages = sorted(self._queue.values(), key=_get_urgency)
        self._queue.clear()
        return messages

    def _take_most_urgent(self) -> QueuedMessage:
        if len(self._queue) == 1:
            return self._queue.popitem()[1]
        key = min(self._queue, key=lambda candidate: self._queue[candidate].urgency)
        return self._queue.pop(key)

    def _drop_least_urgent(self) -> None:
        least = max(item.urgency for item in self._queue.values())
        oldest = next(key for key, item in self._queue.items() if item.urgency == least)
        self._drop(oldest)
        self.dropped += 1

    def _drop(self, key: "str | asyncio.Future[None]") -> None:
        self._queue.pop(key).left.set_result(None)

    def __len__(self) -> int:
        return len(self._queue)

    async def wait_until_empty(self) -> None:
        """Return when nothing waits any more."""
        while waiting := [
            *filter(None, [self._current]),
            *(one.left for one in self._queue.values()),
        ]:
            await asyncio.wait(waiting)

    def close(self) -> None:
        """Send nothing more; a message that is on its way may still arrive."""
        for key in list(self._queue):
            self._drop(key)
