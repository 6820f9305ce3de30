"""A small HTTP/1.1 client for calling agents that may be slow, broken or hostile.

One deadline covers a whole call, an answer has a largest size, and redirects are not followed:
a peer can cost a caller that much time and memory and no more. The server is `http_server.py`.
"""

import asyncio
import re
import socket
import ssl
from collections import defaultdict, deque
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import NamedTuple, TypeAlias, cast
from urllib.parse import SplitResult, urlsplit

import httptools

from agent_league.transport.exchange import Answer, usable
from agent_league.transport.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)

Origin: TypeAlias = tuple[bool, str, int]
"""What a connection belongs to: whether it is secure, the host, the port."""

_PORTS = {"http": 80, "https": 443}
_PRINTABLE = re.compile(r"[!-~]{1,2048}")
_HEAD_ROOM = 1 << 16  # what status line, headers and chunk sizes may take beside the body
_FIRST_FINAL = 200


class Target(NamedTuple):
    """A URL, taken apart once."""

    origin: Origin
    name: str
    post: bytes
    get: bytes


class Question(NamedTuple):
    """A request, and how it is to be answered."""

    request: bytes
    within: float
    deadline: float
    only_status: bool
    """Whether to leave the body: some peers stream one without end."""


@lru_cache(maxsize=4096)
def _target(url: str) -> Target:
    try:
        return _taken_apart(url)
    except ValueError:
        raise UnreachableError(f"{url[:200]!r} is not an address") from None


def _taken_apart(url: str) -> Target:
    # Checked before urlsplit, which drops tabs and newlines without a word.
    parts = urlsplit(url) if _PRINTABLE.fullmatch(url) else SplitResult("", "", "", "", "")
    host, default = parts.hostname, _PORTS.get(parts.scheme)
    if not host or default is None or "@" in parts.netloc or parts.fragment:
        raise ValueError(url)
    port = parts.port or default
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target((parts.scheme == "https", host, port), name, *_heads(path, parts.netloc))


def _heads(path: str, netloc: str) -> tuple[bytes, bytes]:
    shared = f"{path} HTTP/1.1\r\nhost: {netloc}\r\nuser-agent: agent-league\r\naccept: application/json\r\n"
    post = f"POST {shared}content-type: application/json\r\ncontent-length: "
    return post.encode("ascii"), f"GET {shared}\r\n".encode("ascii")


@cache
def _trust() -> ssl.SSLContext:
    # Reading the certificate store takes milliseconds: once, and only if anybody says https.
    return ssl.create_default_context()


class _StaleError(UnreachableError):
    """A connection that had been idle was closed before it gave any answer."""


class Connection(asyncio.Protocol):
    """One connection to one peer, which answers one question at a time."""

    def __init__(self, name: str, max_answer: int, home: "set[Connection]") -> None:
        self.idle_since = 0.0
        self.lost = asyncio.get_running_loop().create_future()
        self._name, self._max_answer, self._home = name, max_answer, home
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Answer] | None = None
        self._timer: asyncio.TimerHandle | None = None
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
        self._timer = loop.call_at(question.deadline, self._expire, question.within)
        if self._transport is None or self._transport.is_closing():
            self._fail(self._closed_early())
        else:
            self._transport.write(question.request)
        return waiter

    def _expire(self, within: float) -> None:
        self._fail(LateError(f"{self._name} gave no whole answer within {within:g} s"))

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
        if self._timer is not None:
            self._timer.cancel()
        waiter, self._waiter, self._timer = self._waiter, None, None
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
        if self._waiter is not None:
            self._fail(self._closed_early())
        self._transport = None
        if not self.lost.done():
            self.lost.set_result(None)

    def eof_received(self) -> None:
        # An answer with no length ends where the connection does; any other is cut short.
        if self._waiter is not None and self._status >= _FIRST_FINAL and not self._framed:
            self._deliver()

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:  # nobody asked: what follows could be taken for the next answer
            self.abort()
            return
        self._wire += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._keep = False
            if not self._complete:
                self._fail(NonsenseError(f"{self._name} did not answer in HTTP: {error}"))
                return
        self._weigh()

    def _weigh(self) -> None:
        much = self._max_answer
        if len(self._body) > much or self._wire > much + _HEAD_ROOM:
            self._fail(NonsenseError(f"{self._name} answered with more than {much} bytes"))
        elif self._complete:
            self._deliver()

    def _deliver(self) -> None:
        waiter = self._released()
        if waiter is not None and not waiter.done():
            waiter.set_result(Answer(self._status, bytes(self._body)))

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

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        """Return the answer to *body*, or raise `NoAnswerError` within so many seconds."""
        target = _target(url)
        request = b"%b%d\r\n\r\n%b" % (target.post, len(body), body)
        return usable(await self._call(target, request, within), target.name)

    async def get(self, url: str, within: float) -> Answer:
        """Return what is at *url*, or raise `NoAnswerError` within so many seconds."""
        target = _target(url)
        return usable(await self._call(target, target.get, within), target.name)

    async def reaches(self, url: str, within: float) -> bool:
        """Whether something that speaks HTTP answers at *url*, whatever it answers."""
        try:
            target = _target(url)
            await self._call(target, target.get, within, only_status=True)
        except NoAnswerError:
            return False
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
            await asyncio.wait(lost)

    async def _call(
        self, target: Target, request: bytes, within: float, *, only_status: bool = False
    ) -> Answer:
        now = asyncio.get_running_loop().time()
        question = Question(request, within, now + within, only_status)
        rested = self._rested(target.origin, now)
        if rested is not None:
            try:
                return await self._over(rested, target.origin, question)
            except _StaleError:
                # The peer hung up just as we asked: a race of keep-alive, not a failure of it.
                if self._closed:
                    raise
        fresh = await self._connected(target, question)
        return await self._over(fresh, target.origin, question)

    async def _over(self, connection: Connection, origin: Origin, question: Question) -> Answer:
        try:
            return await connection.ask(question)
        finally:
            self._put_back(connection, origin)

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
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle[origin].append(connection)
        if self._sweeper is None:
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
