"""What an agent shows to the network. Nothing here depends on how bytes travel."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agent_league.http.exchange import Answer, PageAnswer, PageRequest, StreamedAnswer
from agent_league.protocol import LeagueError, RpcCode
from agent_league.protocol.jsonrpc import encode_error
from agent_league.vocabulary import Json

MCP = "/mcp"

Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]
"""The headers of a request: names in lower case, values without blanks around them."""

Scope: TypeAlias = MutableMapping[str, Any]
Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger("agent_league")


TOO_MANY = Answer(429, b'{"error":"too many requests; wait a second"}')


@dataclass(frozen=True)
class Streams:
    """An ASGI application for the requests that need more than one answer to one body."""

    app: AsgiApp
    matches: Callable[[Headers], bool]
    """Whether a request at /mcp with these headers may need the application."""
    close: Callable[[float], Awaitable[None]]
    """End them all; what is being answered has so many seconds to finish."""
    warm_up: Callable[[], Any] = lambda: None
    """Load what the application needs, in the background, before the first request needs it."""
    body_limit: int = 4 * 1024 * 1024


@dataclass(frozen=True)
class Site:
    """What an agent shows to the network."""

    answer: Callable[[bytes, Headers], Answer | Awaitable[Answer] | None]
    """Answers the body of a `POST /mcp`; an `Answer` given at once costs no task.

    None: the request is for *streams*, which must not be None then.
    """
    find_page: Callable[[str], Json | None]
    """Returns what a GET of a path (any but /mcp) shows, or None if there is nothing.

    A value is shown as JSON. For another content type or status, return an `Answer` or a
    `StreamedAnswer`.
    """
    too_large: Callable[[], Answer]
    """The answer to a body over the limit; its status is 413."""
    body_limit: int = 10 * 1024
    body_patience: float = 10.0
    """How many seconds a request may take to arrive."""
    streams: Streams | None = None
    too_many: Callable[[], Answer] = field(default=lambda: TOO_MANY)
    """The answer to a caller that asks too often; its status is 429."""
    names: frozenset[str] = frozenset()
    """The hosts by which it is reached, beside those of the machine itself."""
    local: bool = False
    """Whether it listens to this machine only, so that no other host name can be right."""
    answer_elsewhere: Callable[[str, bytes, bytes], Answer | Awaitable[Answer] | None] = field(
        default=lambda path, query, body: None
    )
    """Answers the body of a POST at a path other than /mcp, with its query; None: nothing is there."""
    fill_in: Callable[[bytes, bytes], bytes] = field(default=lambda body, query: body)
    """Returns the body of a `POST /mcp?...` with what its query adds to it."""
    show: Callable[[PageRequest], PageAnswer | None] = field(default=lambda request: None)
    """Answers a GET for people, before `find_page` is asked; None: it has nothing there.

    If nobody has anything there it is asked once more, with the path `MISSING`.
    """
    find_site: "Callable[[str], Place | None]" = field(default=lambda path: None)
    """Returns the site that is at a path other than /mcp, such as that of a guest or of a league."""


Place: TypeAlias = tuple[Site, str]
"""A site within another one, and the path in it."""


Responder: TypeAlias = Callable[[bytes], PageAnswer | None]
"""Answers the body of a request; None if the request is for the streams of a site."""


def ask(respond: Responder, body: bytes) -> Answer | StreamedAnswer | asyncio.Future[Answer] | None:
    """Return what *respond* answers, or a task that works on it (see `has_failed`).

    If it raises, return the answer that says so: a bug in one answer must not end the agent.
    """
    try:
        answer = respond(body)
        if isinstance(answer, Answer):  # as nearly always
            return answer
        if answer is None or isinstance(answer, StreamedAnswer):
            return answer
        return asyncio.ensure_future(answer)
    except Exception:  # noqa: BLE001 - the one boundary
        _log.exception("an answer failed")
        return make_server_error()


def has_failed(task: asyncio.Future[Any]) -> bool:
    """Whether a finished *task* has no result; the reason is logged."""
    if task.cancelled():
        return True
    error = task.exception()
    if error is not None:
        # An error that was raised on purpose explains itself; only a bug needs its traceback.
        logged_error = None if isinstance(error, LeagueError) else error
        _log.error("an answer failed: %s", error, exc_info=logged_error)
    return error is not None


def make_server_error() -> Answer:
    return Answer(500, encode_error(None, RpcCode.INTERNAL_ERROR, "internal error"))
