"""Serves one agent over HTTP: uvicorn's protocol, with a short way for a plain `POST /mcp`.

Peers are not trusted here: a request has a deadline and a largest size before any of it is read
by an agent. Everything that is not plain goes through the ASGI application in `site.py`, which
says the same, so whatever is added later (a stream) is added there. The client: `http_client.py`.
"""

import asyncio
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from ipaddress import ip_address
from typing import Self

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from agent_league.transport.exchange import Answer
from agent_league.transport.familiar import FamiliarHead
from agent_league.transport.site import (
    BODILESS,
    LATE,
    MCP,
    NO_CONTENT,
    AgentApp,
    Headers,
    RefusalError,
    Site,
    ask,
    check,
    outcome,
    problem,
)

__all__ = ["HttpServer", "Site"]

KEEP_ALIVE = 75.0
"""How long an idle connection stays open: longer than clients keep theirs, or calls are lost."""

_MCP = MCP.encode()
_HEAD_LIMIT = 1 << 16
_LINGER = 1.0  # a peer that is refused while it still sends would lose our answer to a reset


def _render(answer: Answer, *, keep: bool) -> bytes:
    status, body = answer
    if status in BODILESS:
        return _bodiless(status, keep)
    return b"%b%d\r\n\r\n%b" % (_head(status, keep), len(body), body)


@lru_cache(maxsize=256)
def _head(status: int, keep: bool) -> bytes:  # noqa: FBT001 - lru_cache is slow with keywords
    head = STATUS_LINE[status] + b"content-type: application/json\r\n"
    return head + (b"" if keep else b"connection: close\r\n") + b"content-length: "


@lru_cache(maxsize=16)
def _bodiless(status: int, keep: bool) -> bytes:  # noqa: FBT001 - as above
    length = b"" if status in NO_CONTENT else b"content-length: 0\r\n"
    return STATUS_LINE[status] + length + (b"\r\n" if keep else b"connection: close\r\n\r\n")


_GARBLED = problem(400, "this is not an HTTP request")
_LONG_HEAD = problem(431, "the headers are too long")


class _Turn(RequestResponseCycle):
    """An answer under way outside ASGI; uvicorn sees it, and so queues what is pipelined."""

    def __init__(self, *, keep_alive: bool) -> None:
        self.keep_alive = keep_alive
        self.response_complete = self.disconnected = False
        self.message_event = _NOBODY_WAITS


_NOBODY_WAITS = asyncio.Event()


class _Desk(ServerState):
    """What the connections of one server share."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self.site = site
        self.pending: set[asyncio.Future[Answer]] = set()
        self.closing = False
        self.deserted = asyncio.Event()


class AgentProtocol(HttpToolsProtocol):
    """One connection. It answers a plain `POST /mcp` itself and leaves the rest to uvicorn."""

    def __init__(self, config: Config, desk: _Desk) -> None:
        super().__init__(config, desk, {}, asyncio.get_running_loop())
        self._desk, self._site = desk, desk.site
        self._reading = self._timed = True  # a request is being waited for; it has a deadline
        self._plain = self._plain_ended = self._deaf = self._last = self._keep = False
        self._between, self._familiar = True, FamiliarHead()  # no request has begun to arrive
        self._familiar_headers: Headers = ()
        self._streamed = False  # the request that is read is for the streams of the site
        self._wire = 0
        self._body = b""
        self._due = self._armed_for = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._wire_limit = _HEAD_LIMIT + 8 * self._site.body_limit

    # Connection and time. One timer per connection looks whether `_due` has passed; moving `_due`
    # back costs nothing, so a request that arrives whole sets no timer.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it too
        super().connection_made(transport)
        if self._desk.closing:
            transport.abort()
        else:
            self._arm(self.loop.time() + self._site.body_patience)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        if self._watch is not None:
            self._watch.cancel()
        if not self.connections:
            self._desk.deserted.set()

    def _arm(self, due: float) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._due = self._armed_for = due
        self._watch = self.loop.call_at(due, self._check_time)

    def _check_time(self) -> None:
        now = self.loop.time()
        if now < self._due:
            self._arm(self._due)
        elif self._deaf or self.flow.write_paused:  # it does not read what we say
            self.transport.abort()
        elif self._busy():
            self._arm(now + self._site.body_patience)
        elif self._reading:
            self._hang_up(LATE)
        else:
            self.transport.close()

    def _rest(self) -> None:
        if not self._reading:
            self._due = self.loop.time() + KEEP_ALIVE

    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def shutdown(self) -> None:
        """Close now, or after the answer to the request that has begun to arrive."""
        if self._wire and not self._busy():
            self._last = True
        else:
            super().shutdown()

    # Reading.

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        body = self._familiar.body(data) if self._between else None
        if body is None or len(body) > self._site.body_limit or not self._at_rest():
            self._read(data)
        elif not self._serve(body, self._familiar_headers):
            self._streamed = True
            self._read(data)

    def _read(self, data: bytes) -> None:
        begins, self._plain_ended = self._between, False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as found:
            self._read_without_upgrade(data[found.args[0] :])
        except httptools.HttpParserError as error:
            self._hang_up(_reason(error))
        else:
            if begins and self._between and self._plain_ended and self._keep:
                self._familiar.learn(data)
                self._familiar_headers = tuple(self.headers)
        if self._reading:
            self._wait_for_more(len(data))

    def _wait_for_more(self, came: int) -> None:
        self._wire += came
        if self._wire > self._wire_limit:
            self._hang_up(self._site.too_large() if self._plain else _LONG_HEAD)
        elif not self._timed:
            self._timed = True
            self._arm(self.loop.time() + self._site.body_patience)

    def _read_without_upgrade(self, rest: bytes) -> None:
        # The parser takes no body after an upgrade; some clients (Java's) wish for one on every
        # POST and are content without. So the same request is read again without the wish.
        first = b"%b %b HTTP/1.1" % (self.parser.get_method(), self.url)
        lines = [b"%b: %b" % (n, v) for n, v in self.headers if n != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        try:
            self.parser.feed_data(b"\r\n".join([first, *lines, b"", rest]))
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._hang_up(_reason(error))

    def _hang_up(self, answer: Answer) -> None:
        """Read nothing more; say *answer* unless an earlier request is still being answered."""
        self._deaf, self._reading = True, False
        if self._busy():
            self.cycle.keep_alive = False
        elif not self.transport.is_closing():
            self.transport.write(_render(answer, keep=False))
            self.transport.write_eof()
            self._arm(self.loop.time() + _LINGER)

    def on_message_begin(self) -> None:
        # uvicorn makes a scope here; a plain request needs none, so `_hand_over` makes it.
        self.url = b""
        self.headers = []
        self.expect_100_continue = self._plain = self._between = False
        self._reading = True

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        if not self._is_plain():
            self._hand_over()
            return
        check(dict(self.headers), self._site, self._site.body_limit)
        self._plain, self._body = True, b""
        self._keep = self.parser.should_keep_alive() and self.parser.get_http_version() == "1.1"

    def _is_plain(self) -> bool:
        return (
            self.url == _MCP
            and self.parser.get_method() == b"POST"
            and not self.expect_100_continue
            and self._at_rest()
            and not self._streamed
            and not self._is_long()
        )

    def _is_long(self) -> bool:
        """Whether this is longer than a message may be, but may be no message."""
        length = int(dict(self.headers).get(b"content-length", 0))
        return length > self._site.body_limit and self._site.streaming(tuple(self.headers))

    def _at_rest(self) -> bool:
        """Whether nothing is being answered, and all that was has been sent."""
        return not (self.flow.write_paused or self._busy())

    def _hand_over(self) -> None:
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        super().on_headers_complete()
        self.cycle.keep_alive = self.cycle.keep_alive and not self._last
        self._streamed = False
        self._arrived()

    def _arrived(self) -> None:
        self._reading = self._timed = False
        self._wire = 0

    def on_body(self, body: bytes) -> None:
        if not self._plain:
            super().on_body(body)
        elif len(self._body) + len(body) > self._site.body_limit:
            raise RefusalError(self._site.too_large())
        else:
            self._body += body

    def on_message_complete(self) -> None:
        self._between = True
        if self._plain:
            self._plain = False
            self._arrived()
            self._plain_ended = self._serve(self._body, tuple(self.headers))
            if not self._plain_ended:
                self._hand_over()
                super().on_body(self._body)
                super().on_message_complete()
        elif not self.parser.should_upgrade():
            super().on_message_complete()

    # Answering.

    def _serve(self, body: bytes, headers: Headers) -> bool:
        """Answer, now or later; False if the request is for the streams of the site."""
        answer, keep = ask(self._site, body, headers), self._keep and not self._last
        if answer is None:
            return False
        if isinstance(answer, Answer):
            self._write(answer, keep=keep)
            self._rest()
            return True
        self.cycle = turn = _Turn(keep_alive=keep)
        self._desk.pending.add(answer)
        answer.add_done_callback(partial(self._settle, turn))
        return True

    def _settle(self, turn: _Turn, task: asyncio.Future[Answer]) -> None:
        self._desk.pending.discard(task)
        answer = outcome(task)
        turn.response_complete = True
        if not self.transport.is_closing():
            self._write(answer, keep=turn.keep_alive)
        self.on_response_complete()

    def _write(self, answer: Answer, *, keep: bool) -> None:
        self.transport.write(_render(answer, keep=keep))
        if not keep:
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._unset_keepalive_if_required()  # `_check_time` sees to idle connections
        self._rest()


def _reason(error: Exception) -> Answer:
    cause = error.__context__
    return cause.answer if isinstance(cause, RefusalError) else _GARBLED


class HttpServer:
    """One site on one listening socket; several may live in one event loop."""

    def __init__(self, desk: _Desk, server: asyncio.Server) -> None:
        self._desk, self._server = desk, server

    @classmethod
    async def start(cls, site: Site, sock: socket.socket) -> Self:
        """Serve *site* on *sock*, a bound stream socket that belongs to the server from now on."""
        site = replace(site, local=ip_address(sock.getsockname()[0].partition("%")[0]).is_loopback)
        desk = _Desk(site)
        config = Config(
            AgentApp(site, desk.pending),
            interface="asgi3",
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_keep_alive=int(KEEP_ALIVE),
        )
        config.load()
        loop = asyncio.get_running_loop()
        make = partial(AgentProtocol, config, desk)
        return cls(desk, await loop.create_server(make, sock=sock, backlog=1024))

    async def close(self, grace: float = 1.0) -> None:
        """Stop listening, and give requests in progress *grace* seconds to be answered."""
        desk = self._desk
        desk.closing = True
        self._server.close()
        for connection in tuple(desk.connections):
            connection.shutdown()
        if desk.site.streams is not None:
            await desk.site.streams.close(grace)
        await self._deserted(grace)
        for connection in tuple(desk.connections):
            connection.transport.abort()
        await self._deserted(grace)
        await _end((*desk.tasks, *desk.pending), grace)
        await self._server.wait_closed()

    async def _deserted(self, within: float) -> None:
        self._desk.deserted.clear()
        if self._desk.connections:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self._desk.deserted.wait()


async def _end(tasks: Iterable[asyncio.Future[Answer] | asyncio.Task[None]], within: float) -> None:
    left = tuple(tasks)
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=within)
