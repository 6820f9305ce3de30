"""`league mcp ls`, `league mcp call`: the tools of every agent of a running league."""

import asyncio
import json as json_module
import sys
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter
from cyclopts.validators import Number
from msgspec import UnsetType
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent_league.cli.agents import endpoint_of
from agent_league.cli.endings import Exit, UsageError
from agent_league.cli.folder import SHARED
from agent_league.cli.lineup import Files
from agent_league.cli.queries import asked
from agent_league.cli.report import SCHEMA_VERSION
from agent_league.cli.terms import Switch
from agent_league.hosting import run
from agent_league.mcp.client_tools import Called, Tool
from agent_league.mcp.sessions import NoSuchToolError, Session, Sessions
from agent_league.mcp.tools import ENVELOPE
from agent_league.transport.http_client import HttpClient

PATIENCE = 10.0
MANAGER = "LM"

app = App(name="mcp", help="The tools of every agent of a running league.")


@app.command
def ls(
    *,
    league: str | None = None,
    watch: Annotated[float | None, Parameter(validator=Number(gt=0))] = None,
    json: Switch = False,
) -> None:
    """Show the tools of every agent, each under a name of its own, such as P01.choose_parity.

    Parameters
    ----------
    league
        The league manager's address, if the files do not say it.
    watch
        Go on, look after everybody each so many seconds, and say who is lost or back.
    json
        Print one JSON document.
    """
    agents = _agents(league)
    run(_listed(agents, watch, json=json))


@app.command
def call(tool: str, arguments: str = "{}", /, *, league: str | None = None) -> None:
    """Call one tool of one agent, and print what it says.

    Parameters
    ----------
    tool
        The full name of the tool, such as LM.get_standings.
    arguments
        Its arguments: a JSON object.
    league
        The league manager's address, if the files do not say it.
    """
    called = run(_called(_agents(league), tool, _read(arguments)))
    print(json_module.dumps(called.said, indent=2))
    if called.isError:
        sys.exit(Exit.NO)


def _agents(league: str | None) -> dict[str, str]:
    """Return where each agent of the league is, the manager first."""
    url = league or Files.read(SHARED).league_url
    found = asked(url, "status")["agents"]
    return {MANAGER: endpoint_of(url)} | {one["agent_id"]: one["endpoint"] for one in found}


def _read(arguments: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(arguments, type=dict[str, Any])
    except msgspec.DecodeError as error:
        hint = """write them as in '{"match_id": "R1M1"}'"""
        raise UsageError(f"the arguments are no JSON object: {error}", hint) from None


async def _listed(agents: dict[str, str], watch: float | None, *, json: bool) -> None:
    wire = HttpClient()
    try:
        sessions = Sessions(agents, wire.exchange, PATIENCE)
        await sessions.open()
        (_print_json if json else _print)(sessions)
        while watch is not None:
            await asyncio.sleep(watch)
            for session in await sessions.beat():
                print(_change(session), flush=True)
    finally:
        await wire.close()


async def _called(agents: dict[str, str], tool: str, arguments: dict[str, Any]) -> Called:
    wire = HttpClient()
    try:
        return await Sessions(agents, wire.exchange, PATIENCE).call(tool, arguments)
    except NoSuchToolError as error:
        raise UsageError(str(error), "league mcp ls shows every tool") from error
    finally:
        await wire.close()


def _change(session: Session) -> str:
    how = "is back" if session.problem is None else f"is lost: {session.problem}"
    return f"{session.agent_id} {_plain(how)}"


def _print(sessions: Sessions) -> None:
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("tool", "arguments"):
        shown.add_column(title)
    for name, tool in sessions.tools().items():
        told = [one for one in _declared(tool) if one not in ENVELOPE]  # which may be left out
        shown.add_row(Text(_plain(name)), Text(_plain(", ".join(told) or "-")))
    console = Console(highlight=False)
    console.print(shown)
    for session in sessions.by_agent.values():
        if session.problem is not None:
            said = _plain(session.problem)
            print(f"{session.agent_id} offers no tools: {said}", file=sys.stderr)


def _print_json(sessions: Sessions) -> None:
    agents = [_document(session) for session in sessions.by_agent.values()]
    print(json_module.dumps({"schema_version": SCHEMA_VERSION, "agents": agents}, indent=2))


def _document(session: Session) -> dict[str, Any]:
    return {
        "agent_id": session.agent_id,
        "endpoint": session.url,
        "revision": session.client.version,
        "problem": session.problem,
        "tools": [
            {"name": f"{session.agent_id}.{name}", "arguments": _declared(tool)}
            for name, tool in sorted(session.box.tools.items())
        ],
    }


def _declared(tool: Tool) -> list[str]:
    declared = tool.inputSchema.properties
    return [] if isinstance(declared, UnsetType) else list(declared)


def _plain(text: str) -> str:
    """Return what a stranger wrote without what could move the cursor of a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:500]
