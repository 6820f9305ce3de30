"""Two dialects at one address: finds out whose is a body that arrives at `/mcp`.

The names of league tools win. All methods of MCP have a slash in them, but two; so neither
dialect can be mistaken for the other.
"""

from collections.abc import Awaitable

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from agent_league.mcp.short_way import ShortWay
from agent_league.mcp.signs import Signs, signs
from agent_league.protocol import TOOLS
from agent_league.protocol.reading import read_call_at_once
from agent_league.transport.endpoint import Endpoint
from agent_league.transport.exchange import Answer
from agent_league.transport.site import Headers

_WITHOUT_SLASH = frozenset({"initialize", "ping"})


class _Peek(Struct):
    method: str | UnsetType = UNSET
    message_type: Raw | UnsetType = UNSET


_peek = msgspec.json.Decoder(_Peek)


class Switch:
    """Answers in the dialect in which it is asked; what only the SDK can answer is left to it."""

    def __init__(self, league: Endpoint, short_way: ShortWay, body_limit: int) -> None:
        self._league, self._short_way, self._limit = league, short_way, body_limit

    def answer(self, body: bytes, headers: Headers) -> Answer | Awaitable[Answer] | None:
        """Return the answer to *body*, or None if it is for the SDK."""
        told = signs(headers)
        if not told.mcp:
            call = read_call_at_once(body)
            if call is not None:
                return self._league.answer_call(call)
        plain = told.plain and len(body) <= self._limit
        answer = self._short_way.answer(body, told) if plain else None
        if answer is not None:
            return answer
        if is_mcp(body, told, self._league.tools):
            return None
        return self._league.answer(body) if len(body) <= self._limit else self._league.too_large()


def is_mcp(body: bytes, told: Signs, own: frozenset[str]) -> bool:
    """Whether *body* is for the SDK; *own* are the tools of the agent that are no messages."""
    try:
        frame = _peek.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return told.mcp  # each dialect has its own words for what is broken
    method = frame.method
    if isinstance(method, UnsetType):
        return told.mcp and frame.message_type is UNSET
    if method in TOOLS or method in own:
        return False
    return told.mcp or "/" in method or method in _WITHOUT_SLASH
