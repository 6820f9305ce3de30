"""`league player --mcp URL`, `--mcp-command CMD`: players that are MCP servers of somebody else."""

import sys
from collections.abc import Sequence

from agent_league.cli.endings import UsageError
from agent_league.game import GAMES
from agent_league.hosting import PlayerPlan, run
from agent_league.mcp.client import Carrier, McpClient
from agent_league.mcp.client_http import HttpCarrier
from agent_league.mcp.stdio import StdioCarrier
from agent_league.protocol.play import GameMoveCall, ParityCall
from agent_league.referee.seated import PARITY_GAME
from agent_league.transport import NoAnswerError
from agent_league.transport.http_client import HttpClient

PATIENCE = 60.0
"""Seconds that a server has to show its tools; one that is being started may be slow."""


def games_of(url: str | None, command: str | None) -> Sequence[str]:
    """Return the games that the server has tools for; a command is tried once for that."""
    if url and command:
        raise UsageError("a player is either at an address or behind a command", "give one")
    return run(_games_at(str(url)) if url else _games_behind(str(command)))


def enlist(plan: PlayerPlan) -> None:
    """Register the server at the plan's endpoint, which plays from then on by itself."""
    run(_enlisted(plan))


async def _enlisted(plan: PlayerPlan) -> None:
    wire = HttpClient()
    try:
        member = plan.member(wire)
        await member.register(plan.retry)
    finally:
        await wire.close()
    print(f"{member.name} is in {member.league_id}, played by {plan.endpoint}", file=sys.stderr)


async def _games_at(url: str) -> Sequence[str]:
    wire = HttpClient()
    try:
        return await _games(HttpCarrier(url, wire.exchange))
    finally:
        await wire.close()


async def _games_behind(command: str) -> Sequence[str]:
    carrier = StdioCarrier(command)
    try:
        return await _games(carrier)
    finally:
        await carrier.close()


async def _games(carrier: Carrier) -> Sequence[str]:
    try:
        box = await McpClient(carrier).list_tools(PATIENCE)
    except NoAnswerError as error:
        raise UsageError(f"there is no MCP server: {error}", "see docs/mcp.md") from error
    other_games = [game for game in GAMES if game != PARITY_GAME]
    tools = {ParityCall.route.tool: [PARITY_GAME], GameMoveCall.route.tool: other_games}
    games = [game for tool, played in tools.items() if tool in box.tools for game in played]
    if not games:
        offered = ", ".join(sorted(box.tools)[:10]) or "nothing"
        wanted = " or ".join(tools)
        raise UsageError(f"{carrier.name} offers {offered}", f"it needs a tool {wanted}")
    return games
