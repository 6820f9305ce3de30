"""The way in for MCP: the SDK comes in with the first caller that needs it, and leaves with the site."""

import asyncio
from typing import TYPE_CHECKING

from agent_league.mcp.offer import Offer
from agent_league.mcp.signs import signs
from agent_league.transport.site import Headers, Receive, Scope, Send, Streams

if TYPE_CHECKING:
    from agent_league.mcp.server import Served

BODY_LIMIT = 4 * 1024 * 1024


class Door:
    """An ASGI application that has the SDK answer."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._owner: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[Served] | None = None
        self._closing = asyncio.Event()
        self._answering: set[asyncio.Task[None]] = set()

    def streams(self) -> Streams:
        """Return this as the part of a site that takes what has no plain answer."""
        return Streams(app=self, wanted=_wanted, close=self.close, body_limit=BODY_LIMIT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._own(self._opened))
        served = await asyncio.shield(self._opened)
        task = asyncio.current_task()
        if scope["type"] == "http" and scope["method"] == "POST" and task is not None:
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        await served.handle(scope, receive, send)

    async def _own(self, opened: "asyncio.Future[Served]") -> None:
        """Hold the SDK's context: it must be left by the task that entered it."""
        try:
            made = await asyncio.to_thread(_made, self._offer)
            async with made.run():
                opened.set_result(made)
                await self._closing.wait()
        finally:
            if not opened.done():
                opened.set_exception(RuntimeError("the SDK of MCP could not be started"))

    async def close(self, grace: float) -> None:
        """Let what is being answered end within *grace* seconds, then the SDK."""
        if self._owner is None or self._opened is None:
            return
        if self._opened.done() and self._opened.exception() is None:
            self._opened.result().hush()
            if self._answering:
                await asyncio.wait(self._answering, timeout=grace)
        self._closing.set()
        await asyncio.wait({self._owner})


def _made(offer: Offer) -> "Served":
    from agent_league.mcp.server import Served  # noqa: PLC0415 - a second of CPU, and 36 MB

    return Served(offer, BODY_LIMIT)


def _wanted(headers: Headers) -> bool:
    return signs(headers).mcp
