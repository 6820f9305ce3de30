"""What an agent shows to the network, and the ASGI application that shows it.

Nothing here depends on how bytes travel: `http_server` and `memory` do that.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec
from uvicorn._types import ASGIReceiveCallable as Receive
from uvicorn._types import (
    ASGIReceiveEvent,
    HTTPScope,
    Scope,
)
from uvicorn._types import ASGISendCallable as Send

from agent_league.protocol import LeagueError
from agent_league.protocol.jsonrpc import INTERNAL_ERROR, returned_error
from agent_league.transport.exchange import Answer
from agent_league.vocabulary import Json

__all__ = ["AgentApp", "Headers", "Receive", "Scope", "Send", "Site", "Streams", "ask", "outcome"]

MCP = "/mcp"
JSON_TYPE = b"application/json"
BODILESS = frozenset({202, 204, 304})
NO_CONTENT = frozenset({204, 304})
"""Those of the bodiless answers that do not even say how long nothing is."""

Header: TypeAlias = tuple[bytes, bytes]
Headers: TypeAlias = tuple[Header, ...]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_CLOSE: Header = (b"connection", b"close")
_log = logging.getLogger("agent_league")


@dataclass(frozen=True)
class Streams:
    """Who takes the requests that want more than one answer to one body."""

    app: AsgiApp
    wanted: Callable[[Headers], bool]
    """Whether the headers of a request at /mcp show that it may be one of those."""
    close: Callable[[float], Awaitable[None]]
    """End them all, giving what is being answered so many seconds."""
    body_limit: int = 4 * 1024 * 1024


def _nobody(path: str) -> "Site | None":
    """Return who else is at *path*: nobody."""


@dataclass(frozen=True)
class Site:
    """What an agent shows to the network."""

    answer: Callable[[bytes, Headers], Answer | Awaitable[Answer] | None]
    """Answers the body of a `POST /mcp`; an `Answer` given at once costs no task.

    None: the request is for *streams*, which there must be then.
    """
    look: Callable[[str], Json | None]
    """What a GET of a path (any but /mcp) shows, or None where there is nothing.

    A page whose status is not 200 is given as the whole `Answer`.
    """
    too_large: Callable[[], Answer]
    """The answer to a body over the limit; its status is 413."""
    body_limit: int = 10 * 1024
    body_patience: float = 10.0
    """How many seconds a request may take to arrive."""
    streams: Streams | None = None
    names: frozenset[str] = frozenset()
    """The hosts by which it is reached, beside those of the machine itself."""
    local: bool = False
    """Whether it listens to this machine only, and so is called by no other name."""
    beside: "Callable[[str], Site | None]" = _nobody
    """Who is called at a path other than /mcp: an agent that this one takes in."""

    def streaming(self, headers: Headers) -> bool:
        """Whether a request with these *headers* may be for the streams."""
        return self.streams is not None and self.streams.wanted(headers)


def ask(site: Site, body: bytes, headers: Headers) -> Answer | asyncio.Future[Answer] | None:
    """Return the site's answer, or the task that is working on it (see `outcome`).

    None: it is for the streams of the site.
    """
    try:
        answer = site.answer(body, headers)
        if answer is None or isinstance(answer, Answer):
            return answer
        return asyncio.ensure_future(answer)
    except Exception:  # noqa: BLE001 - the one boundary: a bug in one answer must not end the agent
        _log.exception("an answer failed")
        return _broken()


def outcome(task: asyncio.Future[Answer]) -> Answer:
    """Return what a finished *task* of `ask` answered; if it failed, the answer that says so."""
    if task.cancelled():
        return _broken()
    error = task.exception()
    if error is None:
        return task.result()
    # What was raised on purpose has its sentence; only a bug needs its traceback.
    shown = None if isinstance(error, LeagueError) else error
    _log.error("an answer failed: %s", error, exc_info=shown)
    return _broken()


def _broken() -> Answer:
    return Answer(500, returned_error(None, INTERNAL_ERROR, "internal error"))


def problem(status: int, text: str) -> Answer:
    return Answer(status, msgspec.json.encode({"error": text}))


LATE = problem(408, "the request did not arrive in time")
_NOBODY = problem(501, "this agent does not speak the protocol of this request")


class RefusalError(Exception):
    """A request is answered before it is read to its end, and its connection closed."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def check(headers: Mapping[bytes, bytes], site: Site, limit: int) -> None:
    """Raise `RefusalError` for a POST that no agent should have to read."""
    check_caller(headers, site)
    # A web page can post any other type to us without asking first (CORS).
    kind = headers.get(b"content-type", JSON_TYPE)
    if kind != JSON_TYPE and kind.partition(b";")[0].strip().lower() != JSON_TYPE:
        raise RefusalError(problem(415, "the content-type must be application/json"))
    if int(headers.get(b"content-length", 0)) > limit:
        raise RefusalError(site.too_large())


LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})


def check_caller(headers: Mapping[bytes, bytes], site: Site) -> None:
    """Raise `RefusalError` for what a web page sends that means to reach somebody else."""
    host = headers.get(b"host")
    # A page may have its own name lead to this machine; then it calls us by that name.
    if site.local and host is not None and not _is_ours(host, site.names):
        shown = host.decode("ascii", "replace")[:100]
        raise RefusalError(problem(421, f"no agent here is called {shown}"))
    _check_origin(headers)


def _is_ours(host: bytes, names: frozenset[str]) -> bool:
    name = without_port(host.decode("ascii", "replace"))
    return name in LOOPBACK_NAMES or name in names


def without_port(host: str) -> str:
    """Return the name in what a `Host` header says."""
    return re.sub(r":[0-9]*$", "", host.strip().lower())


def _check_origin(headers: Mapping[bytes, bytes]) -> None:
    origin = headers.get(b"origin")
    if origin is None:
        return
    if origin.partition(b"://")[2].lower() != headers.get(b"host", b"").lower():
        raise RefusalError(problem(403, "pages of another origin may not call this agent"))


class AgentApp:
    """The site as an ASGI application; *pending* holds the answers that are being worked on."""

    def __init__(self, site: Site, pending: set[asyncio.Future[Answer]]) -> None:
        self._site, self._pending = site, pending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"  # noqa: S101 - neither lifespan nor websockets are on
        beside = None if scope["path"] == MCP else self._site.beside(scope["path"])
        if beside is not None:
            known = replace(beside, local=self._site.local, names=self._site.names)
            app = AgentApp(known, self._pending)
            return await app({**scope, "path": MCP}, receive, send)
        extra: list[Header] = []
        # The parser leaves the blanks at the end of a value, which do not belong to it.
        headers = tuple((name, value.strip(b" \t")) for name, value in scope["headers"])
        body = _Replayed(receive)
        try:
            answer = await self._answered(scope, headers, body, extra)
        except RefusalError as refusal:
            answer, extra = refusal.answer, [_CLOSE]
        if answer is None and self._site.streams is not None:
            return await self._site.streams.app({**scope, "headers": headers}, body, send)
        return await _send(send, answer or _NOBODY, extra)

    async def _answered(
        self, scope: HTTPScope, headers: Headers, body: "_Replayed", extra: list[Header]
    ) -> Answer | None:
        check_caller(dict(headers), self._site)
        if scope["path"] != MCP:
            return self._shown(scope["method"], scope["path"], extra)
        if scope["method"] == "POST":
            return await self._called(headers, body)
        return None if self._site.streaming(headers) else _not_allowed(b"POST", extra)

    async def _called(self, headers: Headers, body: "_Replayed") -> Answer | None:
        site = self._site
        long = site.streams and site.streaming(headers)
        limit = site.streams.body_limit if site.streams and long else site.body_limit
        check(dict(headers), site, limit)
        answer = ask(site, await self._read(body, limit), headers)
        if answer is None or isinstance(answer, Answer):
            return answer
        self._pending.add(answer)
        answer.add_done_callback(self._pending.discard)
        await asyncio.wait({answer})
        return outcome(answer)

    async def _read(self, body: "_Replayed", limit: int) -> bytes:
        try:
            async with asyncio.timeout(self._site.body_patience):
                while await body.read_more():
                    self._weigh(body.read, limit)
        except TimeoutError:
            raise RefusalError(LATE) from None
        self._weigh(body.read, limit)
        return bytes(body.read)

    def _weigh(self, body: bytearray, limit: int) -> None:
        if len(body) > limit:
            raise RefusalError(self._site.too_large())

    def _shown(self, method: str, path: str, extra: list[Header]) -> Answer:
        if method not in {"GET", "POST"}:
            return _not_allowed(b"GET", extra)
        page = self._site.look(path) if method == "GET" else None
        if page is None:
            return problem(404, f"there is nothing at {path}")
        if isinstance(page, Answer):
            return page
        return Answer(200, msgspec.json.encode(page))


def _not_allowed(method: bytes, extra: list[Header]) -> Answer:
    extra.append((b"allow", method))
    return problem(405, f"only {method.decode()} is allowed here")


class _Replayed:
    """A body that was read to see whose it is, and can be read once more by its owner."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.read = bytearray()
        self._given = False

    async def read_more(self) -> bool:
        event = await self._receive()
        if event["type"] != "http.request":
            raise RefusalError(LATE)  # the peer has gone; nobody will read this
        self.read += event["body"]
        return event["more_body"]

    async def __call__(self) -> ASGIReceiveEvent:
        if self._given or not self.read:
            return await self._receive()
        self._given = True
        return {"type": "http.request", "body": bytes(self.read), "more_body": False}


async def _send(send: Send, answer: Answer, extra: Iterable[Header]) -> None:
    status, body = answer
    if status in BODILESS:
        body = b""
    headers = [*extra] if status in BODILESS else [(b"content-type", JSON_TYPE), *extra]
    if status not in NO_CONTENT:
        headers.append((b"content-length", b"%d" % len(body)))
    await send(
        {"type": "http.response.start", "status": status, "headers": headers, "trailers": False}
    )
    await send({"type": "http.response.body", "body": body, "more_body": False})
