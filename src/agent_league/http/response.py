"""Writes the bytes of a response: of an answer, or of an ASGI application piece by piece."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from typing import TypeAlias

from agent_league.http.exchange import JSON_TYPE, Answer, ExtraHeaders, StreamedAnswer
from agent_league.http.routing import Head
from agent_league.http.site import AsgiApp, Event, Receive, Scope, Send

_DEAD_PEER_MS = 60_000
"""How long the peer of a stream may acknowledge nothing, until the system closes the connection."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_LAST_CHUNK = b"0\r\n\r\n"
_OK = 200
_STATUSES = frozenset(HTTPStatus)
_WITHOUT_BODY = frozenset({202, 204, 304})
_WITHOUT_LENGTH = frozenset({204, 304})
"""The statuses that do not even have a content-length of 0."""


def encode_answer(answer: Answer, *, keep: bool) -> bytes:
    """Return *answer* as bytes; *keep* says whether the connection stays open."""
    status, body = answer.status, answer.body
    is_json = answer.content_type is JSON_TYPE
    if status == _OK and keep and is_json and not answer.headers:  # as nearly always
        return b"%b%d\r\n\r\n%b" % (_PLAIN_HEAD, len(body), body)
    content_type, headers = answer.content_type, answer.headers
    if status in _WITHOUT_BODY:
        end = b"\r\n" if status in _WITHOUT_LENGTH else b"content-length: 0\r\n\r\n"
        return _encode_known_head(status, "", headers, keep) + end
    head = _encode_known_head(status, content_type, headers, keep)
    return b"%b%d\r\n\r\n%b" % (head, len(body), body)


@lru_cache(maxsize=256)
def _encode_known_head(status: int, content_type: str, headers: ExtraHeaders, keep: bool) -> bytes:  # noqa: FBT001 - lru_cache is slow with keywords
    """Return a head as far as the length that ends it, if there is a content type."""
    head = _encode_head(status, _encode_headers(content_type, headers), keep=keep)
    return head + b"content-length: " if content_type else head


_PLAIN_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "


def _encode_headers(content_type: str, headers: ExtraHeaders) -> list[tuple[bytes, bytes]]:
    """Return *headers* and the content type, if there is one, as bytes."""
    named = (("content-type", content_type), *headers) if content_type else headers
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in named]


def _encode_head(status: int, headers: Iterable[tuple[bytes, bytes]], *, keep: bool) -> bytes:
    """Return the status line and *headers*, without the empty line that ends them."""
    phrase = HTTPStatus(status).phrase if status in _STATUSES else ""
    lines = [f"HTTP/1.1 {status} {phrase}".encode(), *(b"%b: %b" % pair for pair in headers)]
    return b"\r\n".join([*lines, b"" if keep else b"connection: close\r\n"])


Wait: TypeAlias = Callable[[], Awaitable[None]]
"""Waits until an application may begin to answer."""


class Outlet:
    """Where the responses of one connection are written."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.lost = asyncio.Event()
        """Set when the peer has left."""
        self.writable = asyncio.Event()
        """Set unless the peer reads more slowly than we write."""
        self.writable.set()

    def detect_dead_peer(self) -> None:
        """Have the system close the connection if its peer has vanished without a word."""
        sock = self.transport.get_extra_info("socket")
        if sock is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_PEER_MS)


class AsgiExchange:
    """One request and its response, as an ASGI application sees them."""

    def __init__(self, head: Head, body: bytes, outlet: Outlet, *, keep: bool) -> None:
        self._head, self._outlet = head, outlet
        self._body: bytes | None = body
        self.keep = keep
        self._is_chunked = False
        self.is_started = self.is_complete = False

    async def run(self, app: AsgiApp, wait: Wait) -> None:
        """Have *app* answer after *wait*."""
        await wait()
        head = self._head
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": head.version,
            "method": head.method,
            "scheme": "http",
            "path": head.path,
            "query_string": head.query,
            "headers": head.headers,
        }
        await app(scope, self._receive, self._send)

    async def _receive(self) -> Event:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._outlet.lost.wait()
        return {"type": "http.disconnect"}

    async def _send(self, event: Event) -> None:
        if self._outlet.lost.is_set() or self.is_complete:
            return
        if event["type"] == "http.response.start":
            self._start(event["status"], list(event.get("headers", ())))
        else:
            self._write(event.get("body", b""), is_last=not event.get("more_body", False))
        await self._outlet.writable.wait()

    def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.is_started = True
        names = {name.lower() for name, _ in headers}
        has_length = status in _WITHOUT_LENGTH or b"content-length" in names
        self._is_chunked = not has_length and self._head.version == "1.1"
        if self._is_chunked and b"transfer-encoding" not in names:
            headers.append((b"transfer-encoding", b"chunked"))
        self._outlet.transport.write(_encode_head(status, headers, keep=self.keep) + b"\r\n")

    def _write(self, data: bytes, *, is_last: bool) -> None:
        if self._is_chunked:
            chunk = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
            data = chunk + (_LAST_CHUNK if is_last else b"")
        if self._head.method != "HEAD":
            self._outlet.transport.write(data)
        self.is_complete = is_last


def make_streaming_app(answer: StreamedAnswer) -> AsgiApp:
    """Return an application that sends *answer*."""
    headers = _encode_headers(answer.content_type, answer.headers)

    async def send_chunks(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        async for chunk in answer.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body"})

    return send_chunks
