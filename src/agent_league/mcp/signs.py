"""What the headers of a request tell about how to answer it."""

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from agent_league.transport.site import Headers

MODERN = "2026-07-28"
HANDSHAKE = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
STRUCTURED = frozenset({"2025-06-18", "2025-11-25", MODERN})
"""The revisions in which a tool's result is an object, and not only text."""

_OURS = {b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"mcp-session-id", b"last-event-id"}
_MEANT_ONCE = {*_OURS, b"accept", b"authorization", b"content-type", b"host"}


class Signs(NamedTuple):
    """Read once from a head, however many requests come with it."""

    mcp: bool
    """Whether only a client of MCP sends such headers."""
    plain: bool
    """Whether nothing in them asks for more than a plain answer."""
    version: str | None
    method: str | None
    name: str | None
    token: str | None


@lru_cache(maxsize=256)
def signs(headers: Headers) -> Signs:
    """Return what *headers* tell; those of a learned head are the same object each time."""
    said = {name: value.decode("latin-1").strip(" \t") for name, value in headers}
    version = said.get(b"mcp-protocol-version")
    return Signs(
        mcp=not _OURS.isdisjoint(said) or "text/event-stream" in said.get(b"accept", ""),
        plain=_plain(headers, said, version),
        version=version,
        method=said.get(b"mcp-method"),
        name=said.get(b"mcp-name"),
        token=bearer(said.get(b"authorization")),
    )


def _plain(headers: Headers, said: dict[bytes, str], version: str | None) -> bool:
    accept = said.get(b"accept", "*/*")
    times = Counter(name for name, _ in headers)
    return (
        (version is None or version in STRUCTURED)
        and ("application/json" in accept or "*/*" in accept)
        and not {b"origin", b"mcp-session-id", b"last-event-id"} & said.keys()
        and not any(name.startswith(b"mcp-param-") for name in said)
        and all(times[name] <= 1 for name in _MEANT_ONCE)
    )


def bearer(authorization: str | None) -> str | None:
    """Return the token of an `Authorization: Bearer` header."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
