"""Programs that ask again and again for the next events of a league, such as `league watch`."""

import asyncio
from collections import deque
from contextlib import suppress
from typing import NamedTuple

PATIENCE = 1.0
"""Seconds in which a program that follows the league asks for the next events."""


class _Answer(NamedTuple):
    """An answer to a program that is expected to ask again."""

    seq: int
    """The number of the last event in it."""
    at: float


class Followers:
    """Who was told of an event, and has not asked yet for those after it."""

    def __init__(self) -> None:
        self._answers: deque[_Answer] = deque()
        self._all_asked = asyncio.Event()

    def note_request(self, after: int) -> None:
        """Note that somebody asks for what came after event number *after*."""
        found = next((one for one in self._answers if one.seq == after), None)
        if found is not None:
            self._answers.remove(found)
        if not self._answers:
            self._all_asked.set()

    def note_answer(self, seq: int) -> None:
        """Note that somebody is told of the events up to number *seq*, and wants to know more."""
        now = asyncio.get_running_loop().time()
        self._forget_gone(now)
        self._answers.append(_Answer(seq, now))

    async def wait_for_requests(self) -> None:
        """Wait until everybody has asked for the next events, except those who seem to be gone."""
        now = asyncio.get_running_loop().time()
        self._forget_gone(now)
        if not self._answers:
            return
        self._all_asked.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._answers[-1].at + PATIENCE):
                await self._all_asked.wait()

    def _forget_gone(self, now: float) -> None:
        while self._answers and self._answers[0].at + PATIENCE < now:
            self._answers.popleft()
