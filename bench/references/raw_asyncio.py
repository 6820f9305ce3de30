"""asyncio and nothing else: the least that Python needs to send JSON over HTTP.

Two small protocols that understand only each other. There is no validation, no deadline, no
limit and no error: what this costs, everything that is built on asyncio costs at least.
"""

import asyncio
import socket
from collections import defaultdict
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import msgspec
import uvloop

from bench.recording import Value
from bench.references.stack import Handle

T = TypeVar("T")

HEAD = (
    b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: "
)
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
LENGTH = b"content-length: "

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder().decode


class Framing(asyncio.Protocol):
    """Finds bodies in what arrives, and writes bodies."""

    transport: asyncio.Transport
    head: bytes

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        received = self._received + data
        end = received.find(b"\r\n\r\n")
        if end >= 0:
            start = received.find(LENGTH, 0, end) + len(LENGTH)
            length = int(received[start : received.find(b"\r", start)])
            if len(received) >= end + 4 + length:
                self._received = b""
                self.take(decode(received[end + 4 :]))
                return
        self._received = received

    def write(self, value: Value) -> None:
        body = encode(value)
        self.transport.write(b"%b%d\r\n\r\n%b" % (self.head, len(body), body))

    def take(self, value: Value) -> None:
        raise NotImplementedError


class Answering(Framing):
    """The side of a server."""

    head = OK

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self._handle = handle

    def take(self, value: Value) -> None:
        self.write(self._handle(value))


class Asking(Framing):
    """The side of a client: one call at a time."""

    head = HEAD

    def __init__(self, idle: "list[Asking]") -> None:
        super().__init__()
        self._idle = idle
        self._waiter: asyncio.Future[Value] | None = None

    def ask(self, value: Value) -> "asyncio.Future[Value]":
        self._waiter = asyncio.get_running_loop().create_future()
        self.write(value)
        return self._waiter

    def take(self, value: Value) -> None:
        self._idle.append(self)
        if self._waiter is not None:
            self._waiter.set_result(value)


class RawAsyncio:
    """A server and a client on the event loop of asyncio itself."""

    def __init__(self) -> None:
        self._idle: defaultdict[str, list[Asking]] = defaultdict(list)

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(main)

    async def serve(self, socks: Sequence[socket.socket], handle: Handle) -> None:
        for sock in socks:
            await asyncio.get_running_loop().create_server(lambda: Answering(handle), sock=sock)

    def call(self, url: str, request: Value) -> Awaitable[Value]:
        idle = self._idle[url]
        return idle.pop().ask(request) if idle else self._call_on_new_connection(url, request)

    async def _call_on_new_connection(self, url: str, request: Value) -> Value:
        parts, idle = urlsplit(url), self._idle[url]
        loop = asyncio.get_running_loop()
        place = parts.hostname or "", parts.port or 0
        _, asking = await loop.create_connection(lambda: Asking(idle), *place)
        return await asking.ask(request)


class RawUvloop(RawAsyncio):
    """The same on uvloop, which our league uses too."""

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(main)
