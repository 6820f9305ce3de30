"""One connection to a peer that may be slow, broken or hostile. `client.py` keeps them."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

import httptools
from msgspec import Struct

from agent_league.http.exchange import Answer, check_answer
from agent_league.http.known_heads import KnownHeads
from agent_league.own_time import Deadline, own_clock
from agent_league.protocol.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)

_HEAD_LIMIT = 1 << 16
"""How many bytes status line, headers and chunk sizes may take beside the body."""
_FIRST_FINAL = _OK = 200
_EVENT_STREAM = "text/event-stream"


class RawRequest(Struct):
    """A request as bytes, and what of the response is wanted."""

    data: bytes
    within: float
    any_status: bool = False
    """Whether an answer whose status says no is wanted too."""
    only_status: bool = False
    """Whether to leave the body unread: some peers stream one without end."""
    headers: dict[str, str] | None = None
    """Filled with the headers of the response, if they are wanted."""
    is_answer: Callable[[bytes], bool] | None = None
    """Whether the data of an event is the answer, if the response is a stream of events."""


_NO_REQUEST = RawRequest(b"", 0.0)


Repeat: TypeAlias = Callable[[RawRequest, float, "asyncio.Future[Answer]"], None]
"""Sends a request once more, whose idle connection was closed before it gave any answer.

The deadline is the same.
"""


class EventStream:
    """Reads the body of a `text/event-stream` in pieces; each byte is looked at once."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of each event that ends in *piece*."""
        self._rest += piece
        if b"\n" not in piece and b"\r" not in piece:
            return
        lines = self._rest.splitlines(keepends=True)
        # The last line may not be complete: a line feed may still follow a carriage return.
        self._rest = bytearray() if lines[-1].endswith(b"\n") else lines.pop()
        for line in lines:
            content = line.rstrip(b"\r\n")
            if content.startswith(b"data:"):
                self._data.append(bytes(content[5:].removeprefix(b" ")))
            elif not content and self._data:
                data, self._data = self._data, []
                yield b"\n".join(data)


class Connection(asyncio.Protocol):
    """One connection to one peer, which answers one request at a time."""

    _stream: EventStream | None

    def __init__(
        self,
        name: str,
        max_answer: int,
        open_connections: "set[Connection]",
        known_heads: KnownHeads[int],
        *,
        idle: "deque[Connection]",
        repeat: Repeat,
    ) -> None:
        """*idle* takes the connection when it is free for another request."""
        loop = asyncio.get_running_loop()
        self.has_answered = self.is_unused = False
        """Whether an answer came so far, and whether none was asked for since the last sweep."""
        self.is_free = False
        """Whether the peer waits for a request: the last answer, if any, came whole."""
        self.lost = loop.create_future()
        self._make_waiter = loop.create_future
        self._name, self._max_answer, self._open_connections = name, max_answer, open_connections
        self._idle, self._repeat = idle, repeat
        self._parser, self._known_heads = httptools.HttpResponseParser(self), known_heads
        self._find_known = known_heads.find
        self._clock = own_clock()
        self._deadline = Deadline(self._on_deadline)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Answer] | None = None
        self._request = _NO_REQUEST
        self._bytes_received = self._status = 0
        """Of an answer that goes through the parser, until it is delivered."""

    def ask(self, request: RawRequest, deadline: float | None = None) -> asyncio.Future[Answer]:
        """Send *request*; the future holds the answer, or the `NoAnswerError` instead of it.

        The time that it has begins now, unless there is a *deadline* on our own clock.
        """
        self._request = request
        self._waiter = waiter = self._make_waiter()
        now = self._clock.begin_wait()
        self._deadline.set(now + request.within if deadline is None else deadline)
        transport = self._transport
        if transport is not None and self.is_free:
            self.is_free = False
            transport.write(request.data)
        else:
            self._fail_closed()
        return waiter

    def _on_deadline(self) -> None:
        if self._waiter is not None:
            within = self._request.within
            self._fail(LateError(f"{self._name} gave no whole answer within {within:g} s"))

    def abort(self) -> None:
        """Close at once; a call in progress fails."""
        self._fail(UnreachableError(f"the connection to {self._name} was given up"))

    def _fail(self, error: NoAnswerError) -> None:
        waiter = self._close()
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)

    def _fail_closed(self) -> None:
        """Fail because the peer closed the connection, or repeat the request if that was no answer."""
        is_stale = self.has_answered and not self._bytes_received
        waiter = self._close()
        if waiter is None or waiter.done():
            return
        if is_stale:
            self._repeat(self._request, self._deadline.due, waiter)
        else:
            where = "in the middle of its answer" if self._bytes_received else "without an answer"
            error = UnreachableError(f"{self._name} closed the connection {where}")
            waiter.set_exception(error)

    def _close(self) -> "asyncio.Future[Answer] | None":
        """Close the connection, and return who waits for its answer."""
        self.is_free = False
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            self._clock.waits -= 1
        if self._transport is not None:
            self._transport.abort()
        return waiter

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not asyncio's, they only behave like them.
        self._transport = cast("asyncio.Transport", transport)
        self._open_connections.add(self)
        self.is_free = True

    def connection_lost(self, exc: Exception | None) -> None:
        self._open_connections.discard(self)
        self._deadline.cancel()
        if self._waiter is not None:
            self._fail_closed()
        self._transport, self.is_free = None, False
        if not self.lost.done():
            self.lost.set_result(None)

    def eof_received(self) -> None:
        self.is_free = False
        # An answer without a length ends where the connection does; any other is cut short.
        if self._waiter is not None and self._status >= _FIRST_FINAL and not self._has_length:
            self._deliver(self._waiter)

    def data_received(self, data: bytes) -> None:
        waiter = self._waiter
        if waiter is None:  # nobody asked: it could be taken for the answer to the next call
            self.abort()
            return
        known = None
        if not self._bytes_received and self._request.headers is None:
            known = self._find_known(data)
        if known is None or len(known[1]) > self._max_answer:
            self._parse(data, waiter)
            return
        self._free()
        if not waiter.done():
            waiter.set_result(Answer(_OK, known[1]))

    def _parse(self, data: bytes, waiter: "asyncio.Future[Answer]") -> None:
        is_first = not self._bytes_received
        if is_first:
            self._has_length, self._body, self._stream = False, bytearray(), None
            self._keep = self._is_complete = self._ended_early = False
        self._bytes_received += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._keep = False
            if not self._is_complete:
                self._fail(NonsenseError(f"{self._name} did not answer in HTTP: {error}"))
                return
        if is_first and self._is_complete and self._keep and self._status == _OK:
            self._known_heads.learn(data, _OK)
        limit = self._max_answer
        if len(self._body) > limit or self._bytes_received > limit + _HEAD_LIMIT:
            self._fail(NonsenseError(f"{self._name} answered with more than {limit} bytes"))
        elif self._is_complete:
            self._deliver(waiter)

    def _deliver(self, waiter: "asyncio.Future[Answer]") -> None:
        """Give *waiter* the answer that the parser has read."""
        answer, request = Answer(self._status, bytes(self._body)), self._request
        if self._keep and not self._ended_early:
            self._bytes_received = self._status = 0
            self._free()
        else:
            self._close()
        if waiter.done():
            return
        try:
            if answer.status != _OK and not request.any_status and not request.only_status:
                check_answer(answer, self._name)
            waiter.set_result(answer)
        except NoAnswerError as error:
            waiter.set_exception(error)

    def _free(self) -> None:
        """Keep the connection, whose answer has come whole, for another request."""
        self._waiter = None
        self._clock.waits -= 1
        self.has_answered, self.is_free, self.is_unused = True, True, False
        self._idle.append(self)

    # Called by the parser.

    def on_message_begin(self) -> None:
        if self._is_complete:  # a second answer to one request
            self._keep = False

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"content-length" or (
            name == b"transfer-encoding" and value.lower().endswith(b"chunked")
        ):
            self._has_length = True
        if self._request.headers is not None:
            self._request.headers[name.decode("latin-1")] = value.decode("latin-1").strip()

    def on_headers_complete(self) -> None:
        if self._is_complete:
            return
        request = self._request
        if request.headers is not None:
            kind = request.headers.get("content-type", "").lower()
            self._stream = EventStream() if kind.startswith(_EVENT_STREAM) else None
        self._status = self._parser.get_status_code()
        if request.only_status:
            self._is_complete = self._status >= _FIRST_FINAL
        else:
            self._keep = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        if self._is_complete:
            return
        if self._stream is None:
            self._body += data
            return
        is_answer = self._request.is_answer
        for event in self._stream.feed(data):
            if is_answer is None or is_answer(event):  # other events are not kept
                self._body += event
                self._is_complete = self._ended_early = True
                return

    def on_message_complete(self) -> None:
        # A 1xx response is only an announcement; the answer is still to come.
        if self._status >= _FIRST_FINAL:
            self._is_complete, self._ended_early = True, False
