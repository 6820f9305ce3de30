"""One connection to a peer that may be slow, broken or hostile; `http_client.py` keeps them."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, cast

import httptools

from agent_league.transport.event_stream import EVENT_STREAM, EventStream
from agent_league.transport.exchange import Answer
from agent_league.transport.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)
from agent_league.transport.familiar import FamiliarHead

_HEAD_ROOM = 1 << 16  # what status line, headers and chunk sizes may take beside the body
_FIRST_FINAL = _OK = 200


class Listener(NamedTuple):
    """What a caller hears beside the body, and which event of a stream it waits for."""

    until: Callable[[bytes], bool]
    headers: dict[str, str]


class Question(NamedTuple):
    """A request, and how it is to be answered."""

    request: bytes
    within: float
    deadline: float
    only_status: bool
    """Whether to leave the body: some peers stream one without end."""
    listener: Listener | None = None


class StaleError(UnreachableError):
    """A connection that had been idle was closed before it gave any answer."""


class Connection(asyncio.Protocol):
    """One connection to one peer, which answers one question at a time."""

    def __init__(self, name: str, max_answer: int, home: "set[Connection]") -> None:
        loop = asyncio.get_running_loop()
        self.idle_since = 0.0
        self.lost = loop.create_future()
        self.now = loop.time
        self._name, self._max_answer, self._home = name, max_answer, home
        self._parser, self._familiar = httptools.HttpResponseParser(self), FamiliarHead()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Answer] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = self._armed_for = self._within = 0.0
        self._used = self._keep = self._complete = self._ended_early = False
        self._listener: Listener | None = None
        self._stream: EventStream | None = None

    @property
    def reusable(self) -> bool:
        """Whether the last answer came whole and the peer waits for another question."""
        return (
            self._keep
            and self._complete
            and not self._ended_early
            and self._transport is not None
            and not self._transport.is_closing()
        )

    def ask(self, question: Question) -> asyncio.Future[Answer]:
        """Send *question*; the future holds the answer, or the `NoAnswerError` instead of it."""
        loop = self.lost.get_loop()
        self._again, self._used = self._used, True
        self._only_status = question.only_status
        self._keep = self._framed = self._complete = self._ended_early = False
        self._wire = self._status = 0
        self._body = bytearray()
        self._listener, self._stream = question.listener, None
        self._waiter = waiter = loop.create_future()
        self._due, self._within = question.deadline, question.within
        if self._timer is None or self._due < self._armed_for:
            self._arm()
        if self._transport is None or self._transport.is_closing():
            self._fail(self._closed_early())
        else:
            self._transport.write(question.request)
        return waiter

    # One timer looks whether `_due` has passed. Most answers come long before, and the next
    # question only moves `_due` back, which costs nothing.

    def _arm(self) -> None:
        self._disarm()
        self._armed_for = self._due
        self._timer = self.lost.get_loop().call_at(self._due, self._check_time)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _check_time(self) -> None:
        self._timer = None
        if self._waiter is None:
            return
        if self.now() < self._due:
            self._arm()
        else:
            self._fail(LateError(f"{self._name} gave no whole answer within {self._within:g} s"))

    def abort(self) -> None:
        """Hang up at once; whoever waits for an answer is told."""
        self._fail(UnreachableError(f"the connection to {self._name} was given up"))

    def _fail(self, error: NoAnswerError) -> None:
        self._keep = False
        waiter = self._released()
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)
        if self._transport is not None:
            self._transport.abort()

    def _released(self) -> asyncio.Future[Answer] | None:
        waiter, self._waiter = self._waiter, None
        return waiter

    def _closed_early(self) -> UnreachableError:
        if self._wire:
            return UnreachableError(
                f"{self._name} closed the connection in the middle of its answer"
            )
        kind = StaleError if self._again else UnreachableError
        return kind(f"{self._name} closed the connection without an answer")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not asyncio's, they only behave like them.
        self._transport = cast("asyncio.Transport", transport)
        self._home.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._home.discard(self)
        self._disarm()
        if self._waiter is not None:
            self._fail(self._closed_early())
        self._transport = None
        if not self.lost.done():
            self.lost.set_result(None)

    def eof_received(self) -> None:
        # An answer with no length ends where the connection does; any other is cut short.
        if self._waiter is not None and self._status >= _FIRST_FINAL and not self._framed:
            self._deliver(self._status, bytes(self._body))

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:  # nobody asked: what follows could be taken for the next answer
            self.abort()
            return
        skips = self._wire or self._listener is not None
        body = None if skips else self._familiar.body(data)
        if body is None or len(body) > self._max_answer:
            self._read(data)
        else:
            self._keep = self._complete = True
            self._deliver(_OK, body)

    def _read(self, data: bytes) -> None:
        first = not self._wire
        self._wire += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._keep = False
            if not self._complete:
                self._fail(NonsenseError(f"{self._name} did not answer in HTTP: {error}"))
                return
        if first and self.reusable and self._status == _OK:
            self._familiar.learn(data)
        self._weigh()

    def _weigh(self) -> None:
        much = self._max_answer
        if len(self._body) > much or self._wire > much + _HEAD_ROOM:
            self._fail(NonsenseError(f"{self._name} answered with more than {much} bytes"))
        elif self._complete:
            self._deliver(self._status, bytes(self._body))

    def _deliver(self, status: int, body: bytes) -> None:
        waiter = self._released()
        if waiter is not None and not waiter.done():
            waiter.set_result(Answer(status, body))

    # What the parser tells.

    def on_message_begin(self) -> None:
        if self._complete:  # a second answer to one question
            self._keep = False

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"content-length" or (
            name == b"transfer-encoding" and value.lower().endswith(b"chunked")
        ):
            self._framed = True
        if self._listener is not None:
            self._listener.headers[name.decode("latin-1")] = value.decode("latin-1").strip()

    def on_headers_complete(self) -> None:
        if self._complete:
            return
        if self._listener is not None:
            kind = self._listener.headers.get("content-type", "").lower()
            self._stream = EventStream() if kind.startswith(EVENT_STREAM) else None
        self._status = self._parser.get_status_code()
        if self._only_status:
            self._complete = self._status >= _FIRST_FINAL
        else:
            self._keep = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        if self._complete:
            return
        if self._stream is None:
            self._body += data
        else:
            self._take_events(self._stream, data)

    def _take_events(self, stream: EventStream, data: bytes) -> None:
        """Look for the event that is the answer; what a peer says beside it is not kept."""
        for event in stream.feed(data):
            if self._listener is not None and self._listener.until(event):
                self._body += event
                self._complete, self._ended_early = True, True
                return

    def on_message_complete(self) -> None:
        # 1xx is only an announcement; the answer is still to come.
        if self._status >= _FIRST_FINAL:
            self._complete, self._ended_early = True, False
