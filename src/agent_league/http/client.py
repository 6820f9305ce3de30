"""A small HTTP/1.1 client for calling agents that may be slow, broken or hostile.

One deadline covers a whole call, an answer has a largest size, and redirects are not followed:
a peer can cost a caller that much time and memory and no more.
"""

import asyncio
import re
import socket
import ssl
from collections import defaultdict, deque
from collections.abc import Awaitable
from contextlib import suppress
from functools import cache, partial
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from agent_league.futures import pass_on
from agent_league.http.connection import Connection, RawRequest
from agent_league.http.exchange import JSON_TYPE, Answer, HttpRequest, Response
from agent_league.http.known_heads import KnownHeads
from agent_league.http.local_socket import connect_locally
from agent_league.own_time import own_time, timeout_at
from agent_league.protocol.failures import LateError, NoAnswerError, UnreachableError

_CLOSE_TIMEOUT = 0.5
MAX_TARGETS = 4096

Origin: TypeAlias = tuple[bool, str, int]
"""What a connection belongs to: whether it is secure, the host, the port."""

_PORTS = {"http": 80, "https": 443}
_PRINTABLE = re.compile(r"[!-~]{1,2048}")
_SAFE_VALUE = re.compile(r"[ -~]{0,4096}")


class Target(Struct, frozen=True):
    """A URL, parsed once: what to connect to, and how every request there begins."""

    origin: Origin
    name: str
    post: bytes
    get: bytes
    custom_post: bytes
    """The beginning of a POST whose other headers the caller chooses."""
    idle: deque[Connection] = field(default_factory=deque)
    """The connections to its origin that are free for a request."""


# Reading the certificate store takes milliseconds: once, and only if there is an https URL.
_make_ssl_context = cache(ssl.create_default_context)


class HttpClient:
    """Calls agents over HTTP, on connections that are kept while they are in use.

    *max_answer* is the most bytes a body may have; *keep_idle* is how long an unused connection
    is kept, which must be shorter than servers keep theirs. Belongs to one event loop.
    """

    def __init__(self, *, max_answer: int = 1 << 20, keep_idle: float = 30.0) -> None:
        self._max_answer, self._keep_idle = max_answer, keep_idle
        self._targets: dict[str, Target] = {}
        self._idle: defaultdict[Origin, deque[Connection]] = defaultdict(deque)
        self._connections: set[Connection] = set()
        self._known_heads = KnownHeads[int]()
        self._repeats: set[asyncio.Future[Answer]] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    def post(self, url: str, body: bytes, within: float) -> Awaitable[Answer]:
        """Return the answer to *body*, or raise `NoAnswerError` within so many seconds."""
        target = self._targets.get(url) or self._find_target(url)
        data = b"%b%d\r\n\r\n%b" % (target.post, len(body), body)
        return self._call(target, RawRequest(data, within))

    def post_traced(
        self, url: str, body: bytes, within: float, traceparent: str
    ) -> Awaitable[Answer]:
        """Return the answer to *body* as `post` does, and say to which trace it belongs."""
        target, trace = self._find_target(url), traceparent.encode("ascii")
        data = b"%b%d\r\ntraceparent: %b\r\n\r\n%b" % (target.post, len(body), trace, body)
        return self._call(target, RawRequest(data, within))

    def post_for_any_status(self, url: str, body: bytes, within: float) -> Awaitable[Answer]:
        """Return the answer to *body* as `post` does, also one whose status says no."""
        target = self._find_target(url)
        data = b"%b%d\r\n\r\n%b" % (target.post, len(body), body)
        return self._call(target, RawRequest(data, within, any_status=True))

    async def exchange(self, url: str, http_request: HttpRequest, within: float) -> Response:
        """Return the response to *http_request*, or raise `NoAnswerError` within so many seconds.

        A stream of events is read as far as the one that is the answer, and not further.
        """
        target, headers = self._find_target(url), dict[str, str]()
        request = RawRequest(
            encode_request(target, http_request),
            within,
            headers=headers,
            is_answer=http_request.is_answer,
        )
        answer = await self._call(target, request)
        return Response(answer.status, answer.body, headers)

    def get(self, url: str, within: float) -> Awaitable[Answer]:
        """Return what is at *url*, or raise `NoAnswerError` within so many seconds."""
        target = self._find_target(url)
        return self._call(target, RawRequest(target.get, within))

    async def reaches(self, url: str, within: float) -> bool:
        """Whether something that speaks HTTP answers at *url*, whatever it answers."""
        try:
            target = self._find_target(url)
            await self._call(target, RawRequest(target.get, within, only_status=True))
        except NoAnswerError:
            return False
        return True

    async def listens(self, url: str, within: float) -> bool:
        """Whether a connection can be made to *url*, even if nobody answers on it yet."""
        try:
            connection = await self._connect(self._find_target(url), within, own_time() + within)
        except NoAnswerError as error:
            return isinstance(error, LateError)
        connection.abort()
        return True

    async def close(self) -> None:
        """Close all connections. Calls in progress fail with `UnreachableError`."""
        self._closed = True
        for idle in self._idle.values():
            idle.clear()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for task in tuple(self._repeats):
            task.cancel()
        lost = [connection.lost for connection in self._connections]
        for connection in tuple(self._connections):
            connection.abort()
        if lost:
            # uvloop does not call `connection_lost` if the attempt to connect was cancelled.
            await asyncio.wait(lost, timeout=_CLOSE_TIMEOUT)

    def _call(self, target: Target, request: RawRequest) -> Awaitable[Answer]:
        """Send *request* on a connection that is idle, or on a new one."""
        idle = target.idle
        while idle:
            connection = idle.pop()
            if connection.is_free:
                return connection.ask(request)
            connection.abort()
        return self._call_on_new_connection(target, request, own_time() + request.within)

    async def _call_on_new_connection(
        self, target: Target, request: RawRequest, deadline: float
    ) -> Answer:
        connection = await self._connect(target, request.within, deadline)
        return await connection.ask(request, deadline)

    def _repeat(
        self,
        target: Target,
        request: RawRequest,
        deadline: float,
        waiter: "asyncio.Future[Answer]",
    ) -> None:
        """Send *request* once more, on a new connection: the peer closed the one that was idle.

        It did so just as we used it again, which is no failure of the peer.
        """
        task = asyncio.ensure_future(self._call_on_new_connection(target, request, deadline))
        self._repeats.add(task)
        task.add_done_callback(partial(self._end_repeat, waiter))

    def _end_repeat(self, waiter: "asyncio.Future[Answer]", task: "asyncio.Future[Answer]") -> None:
        self._repeats.discard(task)
        if task.cancelled() and not waiter.done():
            waiter.set_exception(UnreachableError("the client was closed"))
        pass_on(task, waiter, lambda answer: answer)

    def _find_target(self, url: str) -> Target:
        """Return the target of *url*, or raise `UnreachableError` if nothing can be sent there."""
        target = self._targets.get(url)
        if target is None:
            if len(self._targets) >= MAX_TARGETS:
                self._targets.clear()
                self._idle.clear()
            parsed = parse_url(url)
            idle = self._idle[parsed.origin]
            target = self._targets[url] = replace(parsed, idle=idle)
        return target

    def _sweep(self) -> None:
        """Close the connections that were not used since the last sweep."""
        for connection in tuple(self._connections):
            if connection.is_free and connection.is_unused:
                connection.abort()
            connection.is_unused = connection.has_answered
        for idle in self._idle.values():
            while idle and not idle[0].is_free:
                idle.popleft()
        is_needed = self._connections and not self._closed
        self._sweeper = self._plan_sweep() if is_needed else None

    def _plan_sweep(self) -> asyncio.TimerHandle:
        # A connection is closed at the second sweep that finds it unused.
        return asyncio.get_running_loop().call_later(self._keep_idle / 2, self._sweep)

    async def _connect(self, target: Target, within: float, deadline: float) -> Connection:
        try:
            async with timeout_at(deadline):
                return await self._open_connection(target)
        except TimeoutError:
            raise LateError(f"{target.name} took no connection within {within:g} s") from None
        except (OSError, UnicodeError) as error:
            raise UnreachableError(f"{target.name} {_describe_error(error)}") from error

    async def _open_connection(self, target: Target) -> Connection:
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
        loop = asyncio.get_running_loop()
        make = partial(
            Connection,
            target.name,
            self._max_answer,
            self._connections,
            self._known_heads,
            idle=target.idle,
            repeat=partial(self._repeat, target),
        )
        local = None if secure else connect_locally(host, port)
        if local is not None:
            _, connection = await loop.create_unix_connection(make, sock=local)
        else:
            _, connection = await loop.create_connection(
                make,
                host,
                port,
                ssl=_make_ssl_context() if secure else None,
                server_hostname=name if secure else None,
            )
        if self._closed:
            connection.abort()
        elif self._sweeper is None:
            self._sweeper = self._plan_sweep()
        return connection


def _describe_error(error: OSError | UnicodeError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "refused the connection: is the agent running?"
    if isinstance(error, UnicodeError | socket.gaierror):
        return f"has no address: {error}"
    return f"cannot be reached: {error}"


def parse_url(url: str) -> Target:
    """Return the target of *url*, or raise `UnreachableError` if nothing can be sent there."""
    try:
        return _parse(url)
    except ValueError:
        raise UnreachableError(f"{url[:200]!r} is not an address") from None


def _parse(url: str) -> Target:
    # Checked before urlsplit, which silently drops tabs and newlines.
    parts = urlsplit(url) if _PRINTABLE.fullmatch(url) else SplitResult("", "", "", "", "")
    host, default = parts.hostname, _PORTS.get(parts.scheme)
    if not host or default is None or "@" in parts.netloc or parts.fragment:
        raise ValueError(url)
    port = parts.port or default
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    head = f"{path} HTTP/1.1\r\nhost: {parts.netloc}\r\nuser-agent: agent-league\r\n"
    accept = f"accept: {JSON_TYPE}\r\n"
    post = f"POST {head}{accept}content-type: {JSON_TYPE}\r\ncontent-length: "
    return Target(
        origin=(parts.scheme == "https", host, port),
        name=name,
        post=post.encode("ascii"),
        get=f"GET {head}{accept}\r\n".encode("ascii"),
        custom_post=f"POST {head}".encode("ascii"),
    )


def encode_request(target: Target, request: HttpRequest) -> bytes:
    """Return the bytes of *request* to *target*."""
    if not all(_SAFE_VALUE.fullmatch(value) for value in request.headers.values()):
        raise UnreachableError(f"{target.name} cannot be sent such headers")
    lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    length = f"content-length: {len(request.body)}\r\n\r\n"
    return b"%b%b%b" % (target.custom_post, (lines + length).encode("ascii"), request.body)
