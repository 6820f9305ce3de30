"""Messages that wait to be sent to one peer: bounded, urgent ones first, outdated ones replaced."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from agent_league.dialects.dialect import Outgoing


class Urgency(IntEnum):
    """Which message goes first when several wait."""

    GAME = 0
    NEWS = 1
    TABLE = 2
    FAREWELL = 3


class _QueuedMessage(NamedTuple):
    urgency: Urgency
    outgoing: Outgoing
    left: "asyncio.Future[None]"


Send: TypeAlias = Callable[[Outgoing], Awaitable[None]]
"""Sends one message and never raises: its owner decides what a failure means."""


class Outbox:
    """Sends one message at a time; a message replaces one with the same key that still waits.

    When more than *limit* messages wait, the oldest of the least urgent is dropped.
    """

    def __init__(self, send: Send, limit: int = 32) -> None:
        self._send = send
        self._limit = limit
        self._queue: OrderedDict[str, _QueuedMessage] = OrderedDict()
        self._numbers = 0
        self._worker: asyncio.Task[None] | None = None
        self.dropped = 0

    def put(
        self, outgoing: Outgoing, urgency: Urgency, replaces: str | None = None
    ) -> "asyncio.Future[None]":
        """Queue a message; the future is done when it was sent, or will not be sent any more."""
        self._numbers += 1
        key, left = replaces or f"#{self._numbers}", asyncio.get_running_loop().create_future()
        if key in self._queue:
            self._queue[key].left.set_result(None)
        self._queue[key] = _QueuedMessage(urgency, outgoing, left)
        if len(self._queue) > self._limit:
            least = max(item.urgency for item in self._queue.values())
            oldest = next(key for key, item in self._queue.items() if item.urgency == least)
            self._drop(oldest)
            self.dropped += 1
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
        return left

    def _take_most_urgent(self) -> _QueuedMessage:
        if len(self._queue) == 1:
            return self._queue.popitem()[1]
        key = min(self._queue, key=lambda candidate: self._queue[candidate].urgency)
        return self._queue.pop(key)

    def _drop(self, key: str) -> None:
        self._queue.pop(key).left.set_result(None)

    def __len__(self) -> int:
        return len(self._queue)

    async def wait_until_empty(self) -> None:
        """Return when nothing waits any more."""
        while self._worker is not None:
            await asyncio.shield(self._worker)

    def close(self) -> None:
        for key in list(self._queue):
            self._drop(key)
        if self._worker is not None:
            self._worker.cancel()

    async def _work(self) -> None:
        try:
            while self._queue:
                message = self._take_most_urgent()
                try:
                    await self._send(message.outgoing)
                finally:
                    message.left.set_result(None)
        finally:
            self._worker = None
