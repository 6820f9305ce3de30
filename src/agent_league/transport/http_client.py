"""A small HTTP/1.1 client for calling agents that may be slow, broken or hostile.

One deadline covers a whole call, an answer has a largest size, and redirects are not followed:
a peer can cost a caller that much time and memory and no more. The server is `http_server.py`.
"""

import asyncio
import socket
import ssl
from collections import defaultdict, deque
from collections.abc import Awaitable
from contextlib import suppress
from functools import cache, partial
from typing import NamedTuple, cast

import httptools

from agent_league.transport.exchange import Answer, usable
from agent_league.transport.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)
from agent_league.transport.familiar import FamiliarHead
from agent_league.transport.target import Origin, Target, taken_apart

_HEAD_ROOM = 1 << 16  # what status line, headers and chunk sizes may take beside the body
_FIRST_FINAL = _OK = 200


_FAREWELL = 0.5


class Question(NamedTuple):
    """A request, and how it is to be answered."""

    request: bytes
    within: float
    deadline: float
    only_status: bool
    """Whether to leave the body: some peers stream one without end."""


@cache
def _trust() -> ssl.SSLContext:
    # Reading the certificate store takes milliseconds: once, and only if anybody says https.
    return ssl.create_default_context()


class _StaleError(UnreachableError):
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
        self._used = self._keep = self._complete = False

    @property
    def reusable(self) -> bool:
        """Whether the last answer came whole and the peer waits for another question."""
        return (
            self._keep
            and self._complete
            and self._transport is not None
            and not self._transport.is_closing()
        )

    def ask(self, question: Question) -> asyncio.Future[Answer]:
        """Send *question*; the future holds the answer, or the `NoAnswerError` instead of it."""
        loop = self.lost.get_loop()
        self._again, self._used = self._used, True
        self._only_status = question.only_status
        self._keep = self._framed = self._complete = False
        self._wire = self._status = 0
        self._body = bytearray()
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
        kind = _StaleError if self._again else UnreachableError
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
        body = None if self._wire else self._familiar.body(data)
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

    def on_headers_complete(self) -> None:
        if self._complete:
            return
        self._status = self._parser.get_status_code()
        if self._only_status:
            self._complete = self._status >= _FIRST_FINAL
        else:
            self._keep = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        if not self._complete:
            self._body += data

    def on_message_complete(self) -> None:
        # 1xx is only an announcement; the answer is still to come.
        if self._status >= _FIRST_FINAL:
            self._complete = True


class HttpClient:
    """Calls agents over HTTP, on connections that are kept while they are in use.

    *max_answer* is the most bytes a body may have; *keep_idle* is how long an unused connection
    is kept, which must be shorter than servers keep theirs. Belongs to one event loop.
    """

    def __init__(self, *, max_answer: int = 1 << 20, keep_idle: float = 30.0) -> None:
        self._max_answer, self._keep_idle = max_answer, keep_idle
        self._idle: defaultdict[Origin, deque[Connection]] = defaultdict(deque)
        self._connections: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    def post(self, url: str, body: bytes, within: float) -> Awaitable[Answer]:
        """Return the answer to *body*, or raise `NoAnswerError` within so many seconds."""
        target = taken_apart(url)
        request = b"%b%d\r\n\r\n%b" % (target.post, len(body), body)
        return self._call(target, request, within)

    def get(self, url: str, within: float) -> Awaitable[Answer]:
        """Return what is at *url*, or raise `NoAnswerError` within so many seconds."""
        target = taken_apart(url)
        return self._call(target, target.get, within)

    async def reaches(self, url: str, within: float) -> bool:
        """Whether something that speaks HTTP answers at *url*, whatever it answers."""
        try:
            target = taken_apart(url)
            await self._call(target, target.get, within, only_status=True)
        except NoAnswerError:
            return False
        return True

    async def listens(self, url: str, within: float) -> bool:
        """Whether a connection can be made to *url*, though nobody may answer for a while."""
        now = asyncio.get_running_loop().time()
        try:
            target = taken_apart(url)
            connection = await self._connected(
                target, Question(b"", within, now + within, only_status=True)
            )
        except NoAnswerError as error:
            return isinstance(error, LateError)
        connection.abort()
        return True

    async def close(self) -> None:
        """Hang up everywhere. Calls under way fail with `UnreachableError`."""
        self._closed = True
        self._idle.clear()
        if self._sweeper is not None:
            self._sweeper.cancel()
        lost = [connection.lost for connection in self._connections]
        for connection in tuple(self._connections):
            connection.abort()
        if lost:
            # uvloop forgets to tell a connection whose dialling was cancelled that it is lost.
            await asyncio.wait(lost, timeout=_FAREWELL)

    async def _call(
        self, target: Target, request: bytes, within: float, *, only_status: bool = False
    ) -> Answer:
        now = asyncio.get_running_loop().time()
        question = Question(request, within, now + within, only_status)
        connection = self._rested(target.origin, now) or await self._connected(target, question)
        try:
            answer = await connection.ask(question)
            return answer if only_status else usable(answer, target.name)
        except _StaleError:
            # The peer hung up just as we asked: a race of keep-alive, not a failure of it.
            if self._closed:
                raise
        finally:
            self._put_back(connection, target.origin)
        return await self._call_afresh(target, question)

    async def _call_afresh(self, target: Target, question: Question) -> Answer:
        connection = await self._connected(target, question)
        try:
            answer = await connection.ask(question)
            return answer if question.only_status else usable(answer, target.name)
        finally:
            self._put_back(connection, target.origin)

    def _rested(self, origin: Origin, now: float) -> Connection | None:
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.reusable and now - connection.idle_since < self._keep_idle:
                return connection
            connection.abort()
        return None

    def _put_back(self, connection: Connection, origin: Origin) -> None:
        if self._closed or not connection.reusable:
            connection.abort()
            return
        connection.idle_since = connection.now()
        self._idle[origin].append(connection)
        if self._sweeper is None:
            loop = asyncio.get_running_loop()
            self._sweeper = loop.call_later(self._keep_idle, self._sweep)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        oldest = loop.time() - self._keep_idle
        for origin, idle in tuple(self._idle.items()):
            while idle and (idle[0].idle_since <= oldest or not idle[0].reusable):
                idle.popleft().abort()
            if not idle:
                del self._idle[origin]
        self._sweeper = loop.call_later(self._keep_idle, self._sweep) if self._idle else None

    async def _connected(self, target: Target, question: Question) -> Connection:
        try:
            async with asyncio.timeout_at(question.deadline):
                return await self._dialled(target)
        except TimeoutError:
            raise LateError(
                f"{target.name} took no connection within {question.within:g} s"
            ) from None
        except (OSError, UnicodeError) as error:
            raise UnreachableError(f"{target.name} {_cause(error)}") from error

    async def _dialled(self, target: Target) -> Connection:
        host = target.origin[1]
        if host != "localhost":
            return await self._dial(target, host)
        try:
            return await self._dial(target, "127.0.0.1")
        except OSError:
            # An agent may listen on IPv6 alone; if not, the first failure tells more.
            with suppress(OSError):
                return await self._dial(target, "::1")
            raise

    async def _dial(self, target: Target, host: str) -> Connection:
        secure, name, port = target.origin
        _, connection = await asyncio.get_running_loop().create_connection(
            partial(Connection, target.name, self._max_answer, self._connections),
            host,
            port,
            ssl=_trust() if secure else None,
            server_hostname=name if secure else None,
        )
        return connection


def _cause(error: OSError | UnicodeError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "refused the connection: is the agent running?"
    if isinstance(error, UnicodeError | socket.gaierror):
        return f"has no address: {error}"
    return f"cannot be reached: {error}"
