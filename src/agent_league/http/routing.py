"""Decides by the head of a request who answers it, and refuses it before its body is read."""

import dataclasses
import re
import socket
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from agent_league.http.allowances import PAGE_COST, REQUEST_COST
from agent_league.http.exchange import (
    JSON_TYPE,
    MISSING,
    Answer,
    PageAnswer,
    PageRequest,
    StreamedAnswer,
)
from agent_league.http.site import MCP, Headers, Responder, Site

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_JSON_TYPE = JSON_TYPE.encode()


class Head(NamedTuple):
    """A request without its body."""

    method: str
    path: str
    query: bytes
    headers: Headers
    version: str
    keep: bool
    """Whether the connection stays open after the answer."""


class Route(NamedTuple):
    """Who answers a request."""

    head: Head
    site: Site
    respond: Responder
    body_limit: int
    cost: int = REQUEST_COST


class RefusalError(Exception):
    """A request is answered before it is read to its end, and its connection is closed."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def make_error_answer(status: int, text: str) -> Answer:
    return Answer(status, msgspec.json.encode({"error": text}), is_refusal=True)


def find_route(site: Site, head: Head) -> Route:
    """Return who answers a request with *head*, or raise `RefusalError`."""
    place = None if head.path == MCP else site.find_site(head.path)
    if place is not None:
        inner = dataclasses.replace(place[0], local=site.local, names=site.names)
        return find_route(inner, head._replace(path=place[1]))
    headers = dict(head.headers)
    _check_headers(headers, site)
    kind = headers.get(b"content-type", _JSON_TYPE).partition(b";")[0].strip().lower()
    if head.method == "POST" and kind != _JSON_TYPE:
        # Without asking first (CORS), a web page can post every type but this one.
        raise RefusalError(make_error_answer(415, f"the content-type must be {JSON_TYPE}"))
    limit = site.streams.body_limit if site.streams and _may_stream(site, head) else site.body_limit
    if int(headers.get(b"content-length", 0)) > limit:
        raise RefusalError(site.too_large())
    cost = REQUEST_COST if head.path == MCP else PAGE_COST
    return Route(head, site, _find_responder(site, head), limit, cost)


def _may_stream(site: Site, head: Head) -> bool:
    return head.path == MCP and site.streams is not None and site.streams.matches(head.headers)


def _find_responder(site: Site, head: Head) -> Responder:
    if head.path != MCP and head.method == "POST":
        return lambda body: (
            site.answer_elsewhere(head.path, head.query, body) or _refuse_post(site, head)
        )
    if head.path != MCP:
        return lambda body: _show_page(site, head)
    if head.method == "POST":
        answer, headers, query = site.answer, head.headers, head.query
        if query:
            return lambda body: answer(site.fill_in(body, query), headers)
        return lambda body: answer(body, headers)
    return lambda body: None if _may_stream(site, head) else _make_not_allowed("POST")


def _refuse_post(site: Site, head: Head) -> Answer:
    return _not_found(head) if site.find_page(head.path) is None else _make_not_allowed("GET")


def _not_found(head: Head) -> Answer:
    return make_error_answer(404, f"there is nothing at {head.path}")


def _show_page(site: Site, head: Head) -> PageAnswer:
    if head.method != "GET":
        return _make_not_allowed("GET")
    shown = site.show(PageRequest(head.path, head.query, head.headers))
    if shown is not None:
        return shown
    page = site.find_page(head.path)
    if page is None:
        return site.show(PageRequest(MISSING, b"", head.headers)) or _not_found(head)
    if isinstance(page, (Answer, StreamedAnswer)):
        return page
    return Answer(200, msgspec.json.encode(page))


def _make_not_allowed(method: str) -> Answer:
    refusal = make_error_answer(405, f"only {method} is allowed here")
    return replace(refusal, headers=(("allow", method),))


def _check_headers(headers: Mapping[bytes, bytes], site: Site) -> None:
    """Refuse a request that a web page of somebody else makes in a browser of this machine."""
    # The owner of a web page can make its host name lead to this machine, and then call us by it.
    name = strip_port(headers.get(b"host", b"localhost").decode("ascii", "replace"))
    if site.local and name not in LOOPBACK_NAMES and name not in site.names:
        raise RefusalError(make_error_answer(421, f"no agent here is called {name[:100]}"))
    origin, host = headers.get(b"origin"), headers.get(b"host", b"")
    if origin is not None and origin.partition(b"://")[2].lower() != host.lower():
        refusal = make_error_answer(403, "pages of another origin may not call this agent")
        raise RefusalError(refusal)
    if origin is not None and not site.local and name not in site.names and not _is_own_name(name):
        raise RefusalError(make_error_answer(421, f"no agent here is called {name[:100]}"))


@lru_cache(maxsize=256)
def _is_own_name(name: str) -> bool:
    """Whether a page under *name* can be ours: an address, or what this machine is called.

    Any other name may belong to somebody who made it lead to this machine.
    """
    machine = socket.gethostname().lower()
    short = machine.partition(".")[0]
    if name in LOOPBACK_NAMES or name in {machine, short, f"{short}.local"}:
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


@lru_cache(maxsize=256)
def strip_port(host: str) -> str:
    """Return the name in a `Host` header."""
    return re.sub(r":[0-9]*$", "", host.strip().lower())
