"""Messages that wait to be sent to one peer: bounded, urgent ones first, outdated ones replaced."""

import asyncio
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import partial
from operator import attrgetter
from typing import TypeAlias

from msgspec import Struct, field

from agent_league.dialects.dialect import Outgoing


class Urgency(IntEnum):
    """Which message goes first when several wait."""

    GAME = 0
    NEWS = 1
    TABLE = 2
    FAREWELL = 3


class QueuedMessage(Struct, eq=False):
    """A message that waits to be sent, or is on its way."""

    urgency: Urgency
    outgoing: Outgoing
    _callbacks: list[Callable[["QueuedMessage"], object]] | None = field(default_factory=list)
    """None once it has left."""

    def add_done_callback(self, call: Callable[["QueuedMessage"], object], /) -> None:
        """Call *call* when the message was sent, or will not be sent any more.

        That takes less than a future, which calls by way of the event loop.
        """
        if self._callbacks is None:
            call(self)
        else:
            self._callbacks.append(call)

    def leave(self) -> None:
        """Note that the message was sent, or will not be."""
        callbacks, self._callbacks = self._callbacks, None
        for call in callbacks or ():
            call(self)


_get_urgency = attrgetter("urgency")

Send: TypeAlias = Callable[[Sequence[QueuedMessage]], None]
"""Sends messages together, and has each of them leave; the last one at last."""


class Outbox:
    """Sends one message at a time; a message replaces one with the same key that still waits.

    If it *sends_batches*, what waits is sent together. When more than *limit* messages wait, the
    oldest of the least urgent is dropped.
    """

    def __init__(self, send: Send, limit: int = 32, *, sends_batches: bool = False) -> None:
        self._send = send
        self._limit = limit
        self._sends_batches = sends_batches
        self._queue: dict[str | QueuedMessage, QueuedMessage] = {}
        """Each message, by itself or by the key that it has."""
        self._is_busy = False
        """Whether a message is on its way, or will be in a moment."""
        self._loop = asyncio.get_running_loop()  # asked for once: every look takes a system call
        self._current: QueuedMessage | None = None
        """The last of those that are on their way."""
        self.dropped = 0

    def put(
        self, outgoing: Outgoing, urgency: Urgency, replaces: str | None = None
    ) -> QueuedMessage:
        """Queue a message, and return it."""
        queue, message = self._queue, QueuedMessage(urgency, outgoing)
        if replaces and replaces in queue:
            queue[replaces].leave()
        queue[replaces or message] = message
        if len(queue) > self._limit:
            self._drop_least_urgent()
        if not self._is_busy:
            self._is_busy = True
            self._loop.call_soon(self._send_next)  # something more urgent may be put at once
        return message

    def _send_next(self, left: QueuedMessage | None = None) -> None:
        """Send what waits, if anything does; whatever was sent before has *left*."""
        if not self._queue:
            self._current, self._is_busy = None, False
            return
        messages = self._take_all() if self._sends_batches else [self._take_most_urgent()]
        self._current = messages[-1]
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

    def _drop(self, key: str | QueuedMessage) -> None:
        self._queue.pop(key).leave()

    def __len__(self) -> int:
        return len(self._queue)

    async def wait_until_empty(self) -> None:
        """Return when nothing waits any more."""
        while waiting := [*filter(None, [self._current]), *self._queue.values()]:
            left = self._loop.create_future()
            waiting[-1].add_done_callback(partial(_end_wait, left))
            await left

    def close(self) -> None:
        """Send nothing more; a message that is on its way may still arrive."""
        for key in list(self._queue):
            self._drop(key)


def _end_wait(left: "asyncio.Future[None]", message: QueuedMessage) -> None:
    if not left.done():  # who waits may have been cancelled
        left.set_result(None)
