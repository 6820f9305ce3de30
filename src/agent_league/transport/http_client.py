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

from agent_league.transport.exchange import Answer, Heard, Parcel, usable
from agent_league.transport.failures import (
    LateError,
    NoAnswerError,
    UnreachableError,
)
from agent_league.transport.http_connection import Connection, Listener, Question, StaleError
from agent_league.transport.target import Origin, Target, packed, taken_apart

_FAREWELL = 0.5


@cache
def _trust() -> ssl.SSLContext:
    # Reading the certificate store takes milliseconds: once, and only if anybody says https.
    return ssl.create_default_context()


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

    async def exchange(self, url: str, parcel: Parcel, within: float) -> Heard:
        """Return what comes back for *parcel*, or raise `NoAnswerError` within so many seconds.

        A stream of events is read as far as the one that is the answer, and not further.
        """
        target = taken_apart(url)
        listener = Listener(parcel.until, {})
        request = packed(target, parcel)
        answer = await self._call(target, request, within, listener=listener)
        return Heard(answer.status, answer.body, listener.headers)

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
        self,
        target: Target,
        request: bytes,
        within: float,
        *,
        only_status: bool = False,
        listener: Listener | None = None,
    ) -> Answer:
        now = asyncio.get_running_loop().time()
        question = Question(request, within, now + within, only_status, listener)
        connection = self._rested(target.origin, now) or await self._connected(target, question)
        try:
            answer = await connection.ask(question)
            return answer if only_status else usable(answer, target.name)
        except StaleError:
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
