"""Which dialect is spoken at an address: found out once, by asking what harms nobody.

The league's dialect is tried first. An agent of ours says at once that it speaks it, and is not
made to load what it needs for MCP; an MCP server refuses, and does nothing.
"""

from typing import Protocol

from msgspec import UnsetType

from agent_league.mcp.client import McpClient
from agent_league.mcp.client_http import HttpCarrier
from agent_league.mcp.client_speech import MCP
from agent_league.protocol.fields import VERSION
from agent_league.protocol.jsonrpc import METHOD_NOT_FOUND, FrameError, Problem, read_returned
from agent_league.transport import LateError, NoAnswerError
from agent_league.transport.exchange import Answer, Exchange, Post

_QUESTION = b'{"jsonrpc":"2.0","method":"league_probe","params":{},"id":1}'
_OK = 200


class _Wire(Protocol):
    @property
    def post(self) -> Post: ...

    @property
    def exchange(self) -> Exchange: ...


async def dialect_at(url: str, wire: _Wire, within: float) -> str:
    """Return the dialect of the agent at *url*, or raise a `NoAnswerError` if none answers."""
    answer = await wire.post(url, _QUESTION, within)
    problem = _problem(answer)
    if answer.status == _OK and (problem is None or _ours(problem)):
        return VERSION
    client = McpClient(HttpCarrier(url, wire.exchange))
    # An unknown method is what a plain league agent says, and an MCP server without sessions.
    plain = answer.status == _OK and problem is not None and problem.code == METHOD_NOT_FOUND
    try:
        await (client.shake_hands(within) if plain else client.connect(within))
    except LateError:
        raise
    except NoAnswerError:
        return VERSION
    return MCP


def _problem(answer: Answer) -> Problem | None:
    try:
        frame = read_returned(answer.body)
    except FrameError:
        return None
    if frame.error is None or isinstance(frame.error, UnsetType):
        return None
    return frame.error


def _ours(problem: Problem) -> bool:
    """Whether an error is told as this protocol tells it."""
    return isinstance(problem.data, dict) and problem.data.get("message_type") == "LEAGUE_ERROR"
