"""Reads requests from the bytes of one connection, whose sender is not trusted."""

import logging
from collections import deque
from typing import TypeAlias
from urllib.parse import unquote

import httptools

from agent_league.http.known_heads import KnownHeads
from agent_league.http.routing import Head, RefusalError, Route, find_route, make_error_answer
from agent_league.http.site import MCP, Site, make_server_error

_MCP = MCP.encode()
_HEAD_LIMIT = 1 << 16
_FRAMING = 8
"""How many bytes a byte of a body may take: it may arrive in chunks of one byte each."""

_log = logging.getLogger("agent_league")
_NOT_HTTP = make_error_answer(400, "this is not an HTTP request")
_HEAD_TOO_LONG = make_error_answer(431, "the headers are too long")


Request: TypeAlias = tuple[Route, bytes, bool]
"""A request that has arrived whole: who answers it, its body, whether it expects `100 Continue`."""


class RequestReader:
    """Turns bytes into requests for *site*; *known_heads* are those of all its connections."""

    def __init__(self, site: Site, known_heads: KnownHeads[Route]) -> None:
        self.requests: deque[Request] = deque()
        """What has arrived and nobody has taken yet."""
        self.is_reading = False
        """Whether a part of a request has arrived."""
        self.expects_continue = False
        """Whether the sender waits for `100 Continue` before it sends a body."""
        self._site = site
        self._parser = httptools.HttpRequestParser(self)
        self._known_heads = known_heads
        self._route: Route | None = None
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = bytearray()
        self._bytes_read = 0

    def feed(self, data: bytes) -> None:
        """Read *data*, or raise `RefusalError`."""
        starts_request = not self.is_reading
        self._bytes_read += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._parse_without_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            raise _find_refusal(error) from error
        route = self._route
        if route is None and self._bytes_read > _HEAD_LIMIT:
            raise RefusalError(_HEAD_TOO_LONG)
        if route is not None and self._bytes_read > _HEAD_LIMIT + _FRAMING * route.body_limit:
            raise RefusalError(route.site.too_large())
        if starts_request and not self.is_reading and len(self.requests) == 1:
            route, _, expects_continue = self.requests[0]
            is_endpoint = route.head.path == MCP and not route.head.query
            if route.head.keep and not expects_continue and is_endpoint:
                self._known_heads.learn(data, route)

    def _parse_without_upgrade(self, rest: bytes) -> None:
        # After an upgrade the parser reads no body. Some clients (Java's) offer one with every
        # POST and do not insist, so the request is read again without the offer.
        first = b"%b %b HTTP/1.1" % (self._parser.get_method(), self._target)
        lines = [b"%b: %b" % header for header in self._headers if header[0] != b"upgrade"]
        self._parser = httptools.HttpRequestParser(self)
        try:
            self._parser.feed_data(b"\r\n".join([first, *lines, b"", rest]))
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise _find_refusal(error) from error

    # Called by the parser.

    def on_message_begin(self) -> None:
        self.is_reading, self.expects_continue = True, False
        self._route, self._target, self._headers = None, b"", []
        self._body.clear()

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name, value = name.lower(), value.strip(b" \t")
        self._headers.append((name, value))
        if name == b"expect" and value.lower() == b"100-continue":
            self.expects_continue = True

    def on_headers_complete(self) -> None:
        parser = self._parser
        if parser.should_upgrade():
            return
        path, query = (MCP, b"") if self._target == _MCP else _split_target(self._target)
        version = parser.get_http_version()
        keep = parser.should_keep_alive() and version == "1.1"
        method = parser.get_method().decode("ascii")
        head = Head(method, path, query, tuple(self._headers), version, keep)
        self._route = find_route(self._site, head)

    def on_body(self, body: bytes) -> None:
        self._body += body
        if self._route is not None and len(self._body) > self._route.body_limit:
            raise RefusalError(self._route.site.too_large())

    def on_message_complete(self) -> None:
        if self._route is not None:
            self.requests.append((self._route, bytes(self._body), self.expects_continue))
            self.is_reading, self.expects_continue, self._bytes_read = False, False, 0
            self._route = None  # an idle connection must not hold the site that answered it last


def _split_target(target: bytes) -> tuple[str, bytes]:
    """Return the path and the query of *target*, or raise `RefusalError`."""
    try:
        url = httptools.parse_url(target)
        return unquote(url.path.decode("ascii")), url.query or b""
    except (httptools.HttpParserInvalidURLError, UnicodeDecodeError):
        raise RefusalError(_NOT_HTTP) from None


def _find_refusal(error: Exception) -> RefusalError:
    cause = error.__context__
    if isinstance(cause, RefusalError):
        return cause
    if isinstance(error, httptools.HttpParserCallbackError):
        _log.error("a request could not be read", exc_info=error)
        return RefusalError(make_server_error())
    return RefusalError(_NOT_HTTP)
