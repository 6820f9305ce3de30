"""`league mcp`: the tools of every agent of a running league. `league mcp-bridge`: MCP without HTTP."""

import asyncio
import sys
from contextlib import suppress
from typing import Any

import msgspec
from cyclopts import App

from agent_league.cli import league_options as flags
from agent_league.cli.commands import format_examples
from agent_league.cli.console import make_table, print_document, print_json, show
from agent_league.cli.exit_codes import Exit
from agent_league.cli.headers import explain_refusal, parse_headers
from agent_league.cli.queries import fetch_page
from agent_league.cli.which_league import find_address
from agent_league.dialects.mcp.client import McpClient
from agent_league.dialects.mcp.sessions import AgentSession, AgentSessions, NoSuchToolError
from agent_league.dialects.mcp.tools import Tool, ToolResult
from agent_league.dialects.mcp.transports import HttpTransport
from agent_league.printable import make_printable
from agent_league.protocol.failures import NoAnswerError, UnreachableError
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import Folder
from agent_league.running.serve import open_client
from agent_league.serving.tools import ENVELOPE

PATIENCE = 10.0
CALL_PATIENCE = 60.0
"""Seconds for a call: the tools that wait answer within 50."""
MANAGER = "LM"

app = App(
    name="mcp",
    help="List or call the tools of every agent of a running league.",
    help_epilogue=format_examples("mcp"),
)


@app.command
def ls(
    league: flags.League = None,
    *,
    watch: flags.Seconds | None = None,
    token: flags.Token = None,
    json: flags.Json = False,
) -> None:
    """Show the tools of every agent, each under a name of its own, such as P01.choose_parity.

    Parameters
    ----------
    watch
        Look at every agent again after this many seconds, and say who is lost or back.
    """
    run(_list_tools(_list_agents(league), watch, token, json=json))


@app.command
def call(
    tool: str,
    arguments: str = "{}",
    league: flags.League = None,
    *,
    token: flags.Token = None,
    timeout: flags.Seconds = CALL_PATIENCE,
) -> None:
    """Call one tool of one agent, and print what it says.

    Parameters
    ----------
    tool
        The full name of the tool, such as LM.get_standings.
    arguments
        Its arguments: a JSON object.
    timeout
        How many seconds to wait for the answer; wait_for_turn may take 50.
    """
    try:
        parsed = msgspec.json.decode(arguments, type=dict[str, Any])
    except msgspec.DecodeError as error:
        hint = """write them as in '{"match_id": "R1M1"}'"""
        raise UsageError(f"the arguments are no JSON object: {error}", hint) from None
    tokens = {tool.partition(".")[0]: token} if token else {}
    result = run(_call_tool(_list_agents(league), tool, parsed, tokens, timeout))
    print_json(result.answer)
    if result.isError:
        sys.exit(Exit.NO)


def _list_agents(league: str | None) -> dict[str, str]:
    """Return where each agent of the league is, the manager first.

    Where many leagues are run at one address, it is the server of them all that has tools there.
    """
    url, found = find_address(league, Folder()), []
    with suppress(UsageError):
        found = fetch_page(url, "status")["agents"]
    return {MANAGER: url} | {one["agent_id"]: one["endpoint"] for one in found}


async def _list_tools(
    agents: dict[str, str], watch: float | None, token: str | None, *, json: bool
) -> None:
    async with open_client() as wire:
        tokens = {MANAGER: token} if token else {}
        sessions = AgentSessions(agents, wire.exchange, PATIENCE, tokens)
        await sessions.refresh()
        if json:
            print_document(agents=[_describe_session(one) for one in sessions.by_agent.values()])
        else:
            _print(sessions)
        while watch is not None:
            await asyncio.sleep(watch)
            for session in await sessions.refresh():
                status = "is back" if session.problem is None else f"is lost: {session.problem}"
                print(f"{session.agent_id} {make_printable(status)}", flush=True)


async def _call_tool(
    agents: dict[str, str],
    tool: str,
    arguments: dict[str, Any],
    tokens: dict[str, str],
    within: float,
) -> ToolResult:
    async with open_client() as wire:
        try:
            sessions = AgentSessions(agents, wire.exchange, within, tokens)
            return await sessions.call(tool, arguments)
        except NoSuchToolError as error:
            raise UsageError(str(error), "league mcp ls shows every tool") from error


def _print(sessions: AgentSessions) -> None:
    rows = []
    for name, tool in sessions.tools().items():
        arguments = ", ".join(one for one in _list_arguments(tool) if one not in ENVELOPE)
        rows.append((make_printable(name), make_printable(arguments or "-")))
    show(make_table(("tool", "arguments"), rows))
    for session in sessions.by_agent.values():
        if session.problem is not None:
            problem = make_printable(session.problem)[:500]
            print(f"{session.agent_id} offers no tools: {problem}", file=sys.stderr)


def _describe_session(session: AgentSession) -> dict[str, Any]:
    return {
        "agent_id": session.agent_id,
        "endpoint": session.url,
        "revision": session.client.version,
        "problem": session.problem,
        "tools": [
            {"name": f"{session.agent_id}.{name}", "arguments": _list_arguments(tool)}
            for name, tool in sorted(session.tool_list.tools.items())
        ],
    }


def _list_arguments(tool: Tool) -> list[str]:
    return list(tool.inputSchema.properties or ())


def mcp_bridge(league: flags.League = None, *, header: flags.Header = ()) -> None:
    """Speak MCP on stdin and stdout, and hand everything on to a running league.

    For clients that start their servers and cannot reach one by its address, such as Claude Desktop:
    {"mcpServers": {"league": {"command": "league", "args": ["mcp-bridge"]}}}
    """
    from agent_league.serving.bridge import bridge  # noqa: PLC0415 - it takes the SDK a second to come

    url, headers = find_address(league, Folder()), parse_headers(header)

    async def main() -> None:
        async with open_client() as wire:
            try:
                await McpClient(HttpTransport(url, wire.exchange, headers)).connect(CALL_PATIENCE)
            except NoAnswerError as error:
                nobody = UnreachableError(f"no league answers at {url}: {error}")
                raise explain_refusal(error) or nobody from error
        await bridge(url, headers)

    asyncio.run(main())
