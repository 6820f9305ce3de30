"""Serves one agent over HTTP. Callers are not trusted: a request has a deadline and a largest size."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import Any, Self, cast

from agent_league.http.allowances import CallerAllowance
from agent_league.http.exchange import Answer
from agent_league.http.known_heads import KnownHeads
from agent_league.http.limits import ConnectionLimit, Worth, get_shared_limit
from agent_league.http.listening import start_listening, stop_listening
from agent_league.http.local_socket import find_address
from agent_league.http.request_reader import RequestReader
from agent_league.http.response import (
    CONTINUE,
    AsgiExchange,
    Outlet,
    Wait,
    encode_answer,
    make_streaming_app,
)
from agent_league.http.routing import Head, RefusalError, Route, make_error_answer
from agent_league.http.site import AsgiApp, Site, ask, has_failed, make_server_error
from agent_league.own_time import Deadline, own_clock

STREAM_LIFETIME = 3600.0
"""How long a stream may last; whoever still wants it opens another, as clients of MCP do."""
STREAM_PATIENCE = 60.0
"""How long the beginning of a stream may take; the SDK sends something after 15 seconds."""
KEEP_ALIVE = 75.0
"""How long an idle connection stays open: longer than clients keep theirs, or calls are lost."""
_LINGER = 1.0
"""How long a refused caller may go on sending: a reset would make it lose our answer."""
_REQUEST_TIMEOUT = make_error_answer(408, "the request did not arrive in time")
_FULL = make_error_answer(503, "too many connections are open; try again later")
_LATE = make_error_answer(503, "there is no answer yet; try again later")
_NOT_SUPPORTED = make_error_answer(501, "this agent does not speak the protocol of this request")


class ServerConnection(asyncio.Protocol):
    """One connection: reads requests, and answers them one after the other."""

    _allowance: CallerAllowance
    _outlet: Outlet
    _transport: asyncio.Transport
    _stream_start: float

    def __init__(self, server: "HttpServer") -> None:
        self._server, self._patience = server, server.site.body_patience
        self._now, self._loop_time = own_clock().time, asyncio.get_running_loop().time
        self.used_at = self._loop_time()
        """When the last request came that needed no parser; see `_on_deadline`."""
        self._find_known = server.known_heads.find
        self._reader = RequestReader(server.site, server.known_heads)
        self._deadline = Deadline(self._on_deadline)
        self._task: asyncio.Future[Any] | None = None
        """Works on the answer to the request that was read last."""
        self._is_own_stream = False
        """Whether the task sends a `StreamedAnswer`, which ends with the connection."""
        self._exchange: AsgiExchange | None = None
        """The stream that the task sends, if it sends one."""
        self.address = ""
        self._is_timed = True
        """Whether the deadline is that of a request that is arriving."""
        self._is_closing = False
        """Whether the connection is closed after the answer that is due."""
        self._ignores_input = self._is_paused = self._is_write_paused = False
        self._is_ready = True
        """Whether the next bytes begin a request that is answered at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not asyncio's, they only behave like them.
        self._transport = cast("asyncio.Transport", transport)
        self._outlet = Outlet(self._transport)
        self._server.connections.add(self)
        self._deadline.set(self._now() + self._patience)
        self.address = find_address(transport)
        self._allowance = self._server.limit.allowances.find(self.address, self.used_at)
        if self._server.is_closing:
            self.abort()
        elif not self._server.limit.admit(self):
            self._transport.write(encode_answer(_FULL, keep=False))
            self._close_when_sent()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.remove(self)
        self._ignore_input()
        self._reader.requests.clear()
        self._deadline.cancel()
        self._outlet.lost.set()
        self._outlet.writable.set()
        self._end_own_stream()

    def pause_writing(self) -> None:
        self._is_write_paused, self._is_ready = True, False
        self._outlet.writable.clear()
        self._deadline.set(self._now() + self._patience)

    def resume_writing(self) -> None:
        self._is_write_paused = False
        self._outlet.writable.set()
        self._go_on()

    def data_received(self, data: bytes) -> None:
        known = self._find_known(data) if self._is_ready else None
        if known is not None and len(known[1]) <= known[0].body_limit:
            self._answer(*known)
        elif not self._ignores_input:
            self._read(data)

    def _read(self, data: bytes) -> None:
        try:
            self._reader.feed(data)
        except RefusalError as refusal:
            self._refuse(refusal.answer)
        self._go_on()

    def close(self) -> None:
        """Close now, or after the answer to the request that has begun to arrive."""
        self._is_closing = True
        self._end_own_stream()
        if not self._is_busy() and not self._reader.is_reading:
            self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def find_worth(self) -> Worth:
        if self._is_own_stream:
            return Worth.A_LIVE_PAGE
        if self._is_busy() or self._transport.get_write_buffer_size():
            return Worth.AN_ANSWER
        return Worth.HALF_A_REQUEST if self._reader.is_reading else Worth.NOTHING

    def _is_busy(self) -> bool:
        return self._task is not None or bool(self._reader.requests)

    def _on_deadline(self) -> None:
        does_not_read = self._transport.is_closing() or self._is_write_paused
        idle_time = self._loop_time() - self.used_at
        if not does_not_read and self._is_busy():
            self._deadline.set(self._now() + self._patience)
            self._end_late_stream()
        elif does_not_read or self._ignores_input:
            self.abort()
        elif self._is_timed:
            self._refuse(_REQUEST_TIMEOUT)
        elif idle_time < KEEP_ALIVE:
            self._deadline.set(self._now() + KEEP_ALIVE - idle_time)
        else:
            self._transport.close()

    def _go_on(self) -> None:
        """Answer the requests that have arrived, and set the time by which more must arrive."""
        requests = self._reader.requests
        while requests and self._task is None and not self._is_write_paused:
            self._answer(*requests.popleft())
        if self._ignores_input:
            return
        if requests:
            self._is_paused = True
            self._transport.pause_reading()
        elif self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        if self._is_write_paused:
            return
        reads = self._reader.is_reading
        self._is_ready = self._task is None and not reads and not requests
        if not self._is_timed:
            self._is_timed = reads
            is_soon = reads or self._exchange is not None
            self._deadline.set(self._now() + (self._patience if is_soon else KEEP_ALIVE))
        if reads and self._reader.expects_continue and not self._is_busy():
            self._reader.expects_continue = False
            self._transport.write(CONTINUE)

    def _refuse(self, answer: Answer) -> None:
        """Read nothing more; write *answer*, unless the answer to an earlier request is due."""
        self._allowance.charge_refusal(self._loop_time())
        self._ignore_input()
        if self._is_busy():
            self._is_closing = True
        else:
            self._transport.write(encode_answer(answer, keep=False))
            self._transport.write_eof()
            self._deadline.set(self._now() + _LINGER)

    def _answer(self, route: Route, body: bytes, expects_continue: bool = False) -> None:  # noqa: FBT001, FBT002 - a `Request`, taken apart
        self._is_timed = False
        self.used_at = now = self._loop_time()
        if expects_continue:
            self._transport.write(CONTINUE)
        allowance = self._allowance
        late = allowance.spend(route.cost, now)
        answer = allowance.refuse(route.site, late) if late else ask(route.respond, body)
        if isinstance(answer, Answer):
            self._write(route.head, answer)
        elif isinstance(answer, asyncio.Future):
            self._start(answer, partial(self._write_task_answer, route.head))
        elif answer is not None:
            wait = partial(asyncio.sleep, allowance.slow.spend(1, now))
            self._stream(route.head, body, make_streaming_app(answer), wait)
            self._is_own_stream = True
        elif route.site.streams is not None:
            enter = partial(self._server.limit.slow_lane.enter, allowance.slow)
            self._stream(route.head, body, route.site.streams.app, enter)
        else:
            self._write(route.head, _NOT_SUPPORTED)

    def _write(self, head: Head, answer: Answer) -> None:
        if answer.is_refusal:
            self._allowance.charge_refusal(self.used_at)
        keep = head.keep and not self._is_closing
        data = encode_answer(answer, keep=keep)
        if head.method == "HEAD":
            data = data[: data.index(b"\r\n\r\n") + 4]
        self._transport.write(data)
        if not keep:
            self._close_when_sent()

    def _close_when_sent(self) -> None:
        if not self._transport.is_closing():
            self._ignore_input()
            self._reader.requests.clear()
            self._transport.close()
            self._deadline.set(self._now() + self._patience)

    def _ignore_input(self) -> None:
        self._ignores_input, self._is_ready = True, False

    def _start(self, task: asyncio.Future[Any], on_done: Callable[[Any], None]) -> None:
        self._task, self._is_ready = task, False
        self._server.tasks.add(task)
        task.add_done_callback(on_done)

    def _end_task(self, task: asyncio.Future[Any]) -> None:
        self._task, self._is_own_stream, self._exchange = None, False, None
        self._server.tasks.discard(task)

    def _write_task_answer(self, head: Head, task: asyncio.Future[Answer]) -> None:
        self._end_task(task)
        answer = make_server_error() if has_failed(task) else task.result()
        if not self._transport.is_closing():
            self._write(head, answer)
            self._go_on()

    def _stream(self, head: Head, body: bytes, app: AsgiApp, wait: Wait) -> None:
        keep = head.keep and not self._is_closing
        exchange = AsgiExchange(head, body, self._outlet, keep=keep)
        self._exchange, self._stream_start = exchange, self._now()
        self._outlet.detect_dead_peer()
        task = asyncio.ensure_future(exchange.run(app, wait))
        self._start(task, partial(self._end_stream, exchange))

    def _end_stream(self, exchange: AsgiExchange, task: asyncio.Future[None]) -> None:
        self._end_task(task)
        if not has_failed(task) and exchange.is_complete and exchange.keep and not self._is_closing:
            self._go_on()
            return
        if not exchange.is_started and not self._transport.is_closing():
            self._transport.write(encode_answer(make_server_error(), keep=False))
        self._close_when_sent()

    def _end_late_stream(self) -> None:
        """Close a stream that has lasted too long, or has not begun in time."""
        if self._exchange is None:
            return
        is_started = self._exchange.is_started
        if self._now() - self._stream_start < (STREAM_LIFETIME if is_started else STREAM_PATIENCE):
            return
        if not is_started:
            self._transport.write(encode_answer(_LATE, keep=False))
        self._close_when_sent()

    def _end_own_stream(self) -> None:
        if self._is_own_stream and self._task is not None:
            self._task.cancel()


class HttpServer:
    """One site on one listening socket; several may live in one event loop."""

    _listeners: Sequence[asyncio.Server]

    def __init__(self, site: Site, limit: ConnectionLimit) -> None:
        self.site, self.limit = site, limit
        self.connections: set[ServerConnection] = set()
        self.tasks: set[asyncio.Future[Any]] = set()
        """The answers that are being worked on."""
        self.known_heads = KnownHeads[Route]()
        self.is_closing = False
        self._all_closed = asyncio.Event()

    @classmethod
    async def start(
        cls, site: Site, sock: socket.socket, limit: ConnectionLimit | None = None
    ) -> Self:
        """Serve *site* on *sock*, a bound stream socket that belongs to the server from now on.

        All servers of a process share one limit of connections, unless *limit* is another.
        """
        address = sock.getsockname()[0].partition("%")[0]
        names = site.names | {address}  # it may be another one of this machine, as 127.0.0.2
        own = replace(site, local=ip_address(address).is_loopback, names=names)
        server = cls(own, limit or get_shared_limit())
        server._listeners = await start_listening(partial(ServerConnection, server), sock)
        return server

    def remove(self, connection: ServerConnection) -> None:
        """Forget *connection*, which is lost."""
        self.limit.remove(connection)
        self.connections.discard(connection)
        if not self.connections:
            self._all_closed.set()

    async def close(self, grace: float = 1.0) -> None:
        """Stop listening, and give requests in progress *grace* seconds, or none if cancelled."""
        self.is_closing = True
        try:
            await stop_listening(self._listeners)
            for connection in tuple(self.connections):
                connection.close()
            if self.site.streams is not None:
                await self.site.streams.close(grace)
            await self._wait_until_closed(grace)
        finally:
            for connection in tuple(self.connections):
                connection.abort()
        await self._wait_until_closed(grace)
        for task in tuple(self.tasks):
            task.cancel()
        if self.tasks:
            await asyncio.wait(tuple(self.tasks), timeout=grace)
        for listener in self._listeners:
            await listener.wait_closed()

    async def _wait_until_closed(self, within: float) -> None:
        self._all_closed.clear()
        if self.connections:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self._all_closed.wait()
