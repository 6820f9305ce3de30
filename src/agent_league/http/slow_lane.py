"""In which order, and how fast, requests of other machines begin that cost milliseconds each.

Clients of MCP do not try again when they are refused, so these requests are late instead: those to the
MCP SDK begin one after the other, and who has asked least goes first. So neither one machine nor many
together take more than a twentieth of the process, and who asks now and then does not wait for who floods.
"""

import asyncio
from heapq import heappop, heappush
from itertools import count

from agent_league.http.allowances import UNLIMITED, Allowance

PAUSE = 0.05
"""Seconds between two beginnings: about twenty times what such a request costs."""


class SlowLane:
    """Lets one request begin at a time, with a pause after it."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop that the pause after a request is counted on, if there is one."""

    async def enter(self, slow: Allowance) -> None:
        """Wait for the turn of the caller whose allowance is *slow*."""
        if slow.left == UNLIMITED:
            return
        loop = asyncio.get_running_loop()
        slow.spend(1, loop.time())
        if self._loop is not loop:
            self._waiting.clear()
            self._pause(loop)
            return
        turn = loop.create_future()
        heappush(self._waiting, (-slow.left, next(self._numbers), turn))
        await turn

    def _pause(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        loop.call_later(PAUSE, self._let_next_begin, loop)

    def _let_next_begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = None
        while self._waiting:
            turn = heappop(self._waiting)[2]
            if not turn.done():  # it is, if the caller has left
                turn.set_result(None)
                self._pause(loop)
                return
