"""What waits to be sent to one peer: bounded, the urgent first, the outdated replaced."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from agent_league.transport.line import Letter


class Urgency(IntEnum):
    """What goes first when several letters wait."""

    GAME = 0
    NEWS = 1
    TABLE = 2
    FAREWELL = 3


class _Waiting(NamedTuple):
    urgency: Urgency
    letter: Letter


Send: TypeAlias = Callable[[Letter], Awaitable[None]]
"""Sends one letter and never raises: whoever hands it in decides what a failure means."""


class Outbox:
    """Sends one letter at a time; a letter with the key of one that still waits replaces it.

    When *limit* letters wait, the oldest of the least urgent gives way.
    """

    def __init__(self, send: Send, limit: int = 32) -> None:
        self._send = send
        self._limit = limit
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._numbers = 0
        self._worker: asyncio.Task[None] | None = None
        self.dropped = 0

    def put(self, letter: Letter, urgency: Urgency, replaces: str | None = None) -> None:
        self._numbers += 1
        self._waiting[replaces or f"#{self._numbers}"] = _Waiting(urgency, letter)
        if len(self._waiting) > self._limit:
            self._drop_one()
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())

    def __len__(self) -> int:
        return len(self._waiting)

    async def drained(self) -> None:
        """Return when nothing waits any more."""
        while self._worker is not None:
            await asyncio.shield(self._worker)

    def close(self) -> None:
        self._waiting.clear()
        if self._worker is not None:
            self._worker.cancel()

    async def _work(self) -> None:
        try:
            while self._waiting:
                await self._send(self._next())
        finally:
            self._worker = None

    def _next(self) -> Letter:
        if len(self._waiting) == 1:  # as nearly always
            return self._waiting.popitem()[1].letter
        key = min(self._waiting, key=lambda waiting: self._waiting[waiting].urgency)
        return self._waiting.pop(key).letter

    def _drop_one(self) -> None:
        least = max(waiting.urgency for waiting in self._waiting.values())
        oldest = next(key for key, waiting in self._waiting.items() if waiting.urgency == least)
        del self._waiting[oldest]
        self.dropped += 1
