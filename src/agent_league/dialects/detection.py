"""Which dialect an agent speaks: found out once, with calls that have no effect.

The league's own dialect is tried first. An agent of ours confirms it at once, and need not load
the MCP SDK for it; an MCP server refuses the call and does nothing.
"""

from agent_league.dialects.mcp.client import McpClient, time_limit
from agent_league.dialects.mcp.session import MCP
from agent_league.dialects.mcp.transports import HttpTransport
from agent_league.http.exchange import Wire
from agent_league.protocol import RpcCode
from agent_league.protocol.failures import (
    BusyError,
    CrashedError,
    LateError,
    NoAnswerError,
    NonsenseError,
)
from agent_league.protocol.fields import VERSION
from agent_league.protocol.jsonrpc import FrameError, RpcError, read_response

_PROBE = b'{"jsonrpc":"2.0","method":"league_probe","params":{},"id":1}'
_OK = 200


async def is_answering(url: str, wire: Wire, within: float) -> bool:
    """Whether the agent at *url* answers a message, whatever it answers.

    That its port is open, or that it shows a page, is not enough: an agent that hangs does both.
    """
    try:
        await wire.post(url, _PROBE, within)
    except (BusyError, CrashedError, NonsenseError):
        return True
    except NoAnswerError:
        return False
    return True


async def detect_dialect(url: str, wire: Wire, within: float) -> str:
    """Return the dialect of the agent at *url*, or raise a `NoAnswerError` if none answers."""
    async with time_limit(within, url):
        answer = await wire.post(url, _PROBE, within)
        try:
            error = read_response(answer.body).error
        except FrameError:
            error = None
        problem = error if isinstance(error, RpcError) else None
        data = problem.data if problem else None
        is_league_error = isinstance(data, dict) and data.get("message_type") == "LEAGUE_ERROR"
        if answer.status == _OK and (problem is None or is_league_error):
            return VERSION
        # A league agent says of an unknown method that it is unknown; so does an MCP server
        # without sessions.
        is_unknown = problem is not None and problem.code == RpcCode.METHOD_NOT_FOUND
        client = McpClient(HttpTransport(url, wire.exchange))
        try:
            await client.connect(within, handshake_only=answer.status == _OK and is_unknown)
        except LateError:
            raise
        except NoAnswerError:
            return VERSION
        return MCP
