"""Reads from the headers of a request whether it is MCP, and whether it is a plain call."""

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from agent_league.http.site import Headers

MODERN = "2026-07-28"
STRUCTURED = frozenset({"2025-06-18", "2025-11-25", MODERN})
"""The revisions in which the result of a tool is an object as well as text."""

_SESSION_HEADERS = {b"mcp-session-id", b"last-event-id"}
_MCP_HEADERS = {b"mcp-protocol-version", b"mcp-method", b"mcp-name", *_SESSION_HEADERS}
_SINGLE_HEADERS = {*_MCP_HEADERS, b"accept", b"authorization", b"content-type", b"host"}


class HeaderHints(NamedTuple):
    """What the headers tell about a request; read once for all requests with the same headers."""

    mcp: bool
    """Whether only a client of MCP sends such headers."""
    plain: bool
    """Whether they ask for nothing more than a plain answer."""
    version: str | None
    method: str | None
    name: str | None
    token: str | None


@lru_cache(maxsize=256)
def read_hints(headers: Headers) -> HeaderHints:
    """Return what *headers* tell."""
    values = {name: value.decode("latin-1").strip(" \t") for name, value in headers}
    version = values.get(b"mcp-protocol-version")
    return HeaderHints(
        mcp=not _MCP_HEADERS.isdisjoint(values) or "text/event-stream" in values.get(b"accept", ""),
        plain=_is_plain(headers, values, version),
        version=version,
        method=values.get(b"mcp-method"),
        name=values.get(b"mcp-name"),
        token=read_bearer(values.get(b"authorization")),
    )


def _is_plain(headers: Headers, values: dict[bytes, str], version: str | None) -> bool:
    accept = values.get(b"accept", "*/*")
    counts = Counter(name for name, _ in headers)
    return (
        (version is None or version in STRUCTURED)
        and ("application/json" in accept or "text/event-stream" not in accept)
        and not {b"origin", *_SESSION_HEADERS} & values.keys()
        and not any(name.startswith(b"mcp-param-") for name in values)
        and all(counts[name] <= 1 for name in _SINGLE_HEADERS)
    )


def read_bearer(authorization: str | None) -> str | None:
    """Return the token in the value of an `Authorization: Bearer` header."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
