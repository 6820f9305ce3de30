"""What an agent shows to the network, and the ASGI application that shows it.

Nothing here depends on how bytes travel: `http_server` and `memory` do that.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import msgspec
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope

from agent_league.protocol import LeagueError
from agent_league.protocol.jsonrpc import INTERNAL_ERROR, returned_error
from agent_league.transport.exchange import Answer
from agent_league.vocabulary import Json

MCP = "/mcp"
JSON_TYPE = b"application/json"
BODILESS = frozenset({202, 204, 304})
NO_CONTENT = frozenset({204, 304})
"""Those of the bodiless answers that do not even say how long nothing is."""

Header: TypeAlias = tuple[bytes, bytes]

_CLOSE: Header = (b"connection", b"close")
_log = logging.getLogger("agent_league")


@dataclass(frozen=True)
class Site:
    """What an agent shows to the network."""

    answer: Callable[[bytes], Answer | Awaitable[Answer]]
    """Answers the body of a `POST /mcp`; an `Answer` given at once costs no task."""
    look: Callable[[str], Json | None]
    """What a GET of a path (any but /mcp) shows, or None where there is nothing.

    A page whose status is not 200 is given as the whole `Answer`.
    """
    too_large: Callable[[], Answer]
    """The answer to a body over the limit; its status is 413."""
    body_limit: int = 10 * 1024
    body_patience: float = 10.0
    """How many seconds a request may take to arrive."""


def ask(site: Site, body: bytes) -> Answer | asyncio.Future[Answer]:
    """Return the site's answer, or the task that is working on it (see `outcome`)."""
    try:
        answer = site.answer(body)
        return answer if isinstance(answer, Answer) else asyncio.ensure_future(answer)
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


class RefusalError(Exception):
    """A request is answered before it is read to its end, and its connection closed."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def check(headers: Mapping[bytes, bytes], site: Site) -> None:
    """Raise `RefusalError` for a POST that no agent should have to read."""
    _check_origin(headers)
    # A web page can post any other type to us without asking first (CORS).
    kind = headers.get(b"content-type", JSON_TYPE)
    if kind != JSON_TYPE and kind.partition(b";")[0].strip().lower() != JSON_TYPE:
        raise RefusalError(problem(415, "the content-type must be application/json"))
    if int(headers.get(b"content-length", 0)) > site.body_limit:
        raise RefusalError(site.too_large())


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

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        assert scope["type"] == "http"  # noqa: S101 - neither lifespan nor websockets are on
        extra: list[Header] = []
        try:
            headers = dict(scope["headers"])
            _check_origin(headers)
            if scope["path"] == MCP:
                answer = await self._called(scope["method"], headers, receive, extra)
            else:
                answer = self._shown(scope["method"], scope["path"], extra)
        except RefusalError as refusal:
            answer, extra = refusal.answer, [_CLOSE]
        await _send(send, answer, extra)

    async def _called(
        self,
        method: str,
        headers: Mapping[bytes, bytes],
        receive: ASGIReceiveCallable,
        extra: list[Header],
    ) -> Answer:
        if method != "POST":
            return _not_allowed(b"POST", extra)
        check(headers, self._site)
        answer = ask(self._site, await self._read(receive))
        if isinstance(answer, Answer):
            return answer
        self._pending.add(answer)
        answer.add_done_callback(self._pending.discard)
        await asyncio.wait({answer})
        return outcome(answer)

    async def _read(self, receive: ASGIReceiveCallable) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(self._site.body_patience):
                while await _read_more(receive, body):
                    self._weigh(body)
        except TimeoutError:
            raise RefusalError(LATE) from None
        self._weigh(body)
        return bytes(body)

    def _weigh(self, body: bytearray) -> None:
        if len(body) > self._site.body_limit:
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


async def _read_more(receive: ASGIReceiveCallable, body: bytearray) -> bool:
    event = await receive()
    if event["type"] != "http.request":
        raise RefusalError(LATE)  # the peer has gone; nobody will read this
    body += event["body"]
    return event["more_body"]


async def _send(send: ASGISendCallable, answer: Answer, extra: Iterable[Header]) -> None:
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
