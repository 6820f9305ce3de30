"""`league mcp-bridge`: the league for MCP clients that have no HTTP."""

import asyncio

from agent_league.cli.agents import endpoint_of
from agent_league.cli.folder import SHARED
from agent_league.cli.lineup import Files
from agent_league.transport import UnreachableError
from agent_league.transport.http_client import HttpClient

PATIENCE = 5.0


def mcp_bridge(league: str | None = None, /) -> None:
    """Speak MCP on stdin and stdout, and hand everything on to a running league.

    For clients that start their servers and cannot reach one by its address, such as Claude Desktop:
    {"mcpServers": {"league": {"command": "league", "args": ["mcp-bridge"]}}}

    Parameters
    ----------
    league
        The league manager's address, if the files do not say it.
    """
    from agent_league.mcp.bridge import bridge  # noqa: PLC0415 - it takes the SDK a second to come

    url = endpoint_of(league or Files.read(SHARED).league_url)
    asyncio.run(_reached(url))
    asyncio.run(bridge(url))


async def _reached(url: str) -> None:
    """Raise what a person can read if no league is at *url*."""
    wire = HttpClient()
    try:
        if not await wire.reaches(url, PATIENCE):
            raise UnreachableError(f"nobody answers at {url}")
    finally:
        await wire.close()
