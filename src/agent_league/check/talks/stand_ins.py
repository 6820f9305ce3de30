"""Servers of the check's own, in the parts that the agent under check meets.

They answer rightly, unless a trial wants otherwise, and write down everything that they hear.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

import msgspec

from agent_league.check.exchange import Exchange, Heard
from agent_league.hosting import bound, url_of
from agent_league.protocol.jsonrpc import METHOD_NOT_FOUND, returned_error
from agent_league.transport.exchange import Answer
from agent_league.transport.http_server import HttpServer, Site
from agent_league.vocabulary import Json

LIMIT = 1 << 22
Reply = Callable[[Json], Json | Awaitable[Json]]
"""Returns the result for a message, or waits with it."""


class StandIn:
    """One part, on a port of its own."""

    def __init__(self, reply: Reply) -> None:
        self.url = ""
        self.heard: list[Heard] = []
        self._reply = reply
        self._changed = asyncio.Condition()
        self._server: HttpServer | None = None

    async def open(self, host: str, port: int = 0) -> str:
        """Listen, and return the endpoint; raise `AddressError` if that cannot be."""
        sock = bound(host, port)
        self.url = url_of(sock)
        site = Site(
            answer=lambda body, headers: self._answer(body),
            look=lambda path: None,
            too_large=lambda: Answer(413, b"{}"),
            body_limit=LIMIT,
        )
        self._server = await HttpServer.start(site, sock)
        return self.url

    async def close(self) -> None:
        if self._server is not None:
            await self._server.close(0.1)

    def said(self, kind: str, match_id: str | None = None) -> list[Heard]:
        """Return the messages of *kind* that came, about one match or about any."""
        return [
            heard
            for heard in self.heard
            if heard.kind == kind and match_id in (None, heard.message.get("match_id"))
        ]

    def about(self, match_id: str) -> list[Heard]:
        """Return what was said about one match."""
        return [heard for heard in self.heard if heard.message.get("match_id") == match_id]

    async def hears(self, match_id: str | None, within: float, *kinds: str) -> Heard | None:
        """Return the first message of one of *kinds*, waiting for it so many seconds."""

        def found() -> list[Heard]:
            return [heard for kind in kinds for heard in self.said(kind, match_id)]

        with suppress(TimeoutError):
            async with asyncio.timeout(within), self._changed:
                await self._changed.wait_for(found)
        return next(iter(found()), None)

    async def _answer(self, body: bytes) -> Answer:
        heard = Heard(
            asyncio.get_running_loop().time(),
            Exchange(self.url, body, None, None, 0.0, 0.0, from_agent=True),
        )
        self.heard.append(heard)
        async with self._changed:
            self._changed.notify_all()
        answer = await self._answered(heard)
        answered = heard._replace(exchange=replace(heard.exchange, answer=answer))
        self.heard[self.heard.index(heard)] = answered
        return answer

    async def _answered(self, heard: Heard) -> Answer:
        frame = heard.exchange.request
        if "message_type" not in heard.message:  # a probe of something that we do not speak
            return Answer(200, returned_error(frame.get("id"), METHOD_NOT_FOUND, "unknown"))
        result = self._reply(heard.message)
        return _written(frame, await result if inspect.isawaitable(result) else result)


def _written(frame: Json, result: Json) -> Answer:
    framed = {"jsonrpc": "2.0", "result": result, "id": frame.get("id")}
    return Answer(200, msgspec.json.encode(framed if "method" in frame else result))
