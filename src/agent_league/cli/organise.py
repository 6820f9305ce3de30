"""`league begin | pause | go-on | void | ...`: what the organiser of a running league may order."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from agent_league.cli import league_options as flags
from agent_league.cli.commands import format_examples
from agent_league.cli.console import print_document
from agent_league.cli.queries import fetch_page
from agent_league.cli.which_league import find_address
from agent_league.dialects.mcp.client import McpClient
from agent_league.dialects.mcp.tools import Tool
from agent_league.dialects.mcp.transports import HttpTransport
from agent_league.printable import make_printable
from agent_league.running.errors import OrderRefusedError, UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.running.serve import open_client
from agent_league.store.agent_files import Identity, load_identity, save_identity

PATIENCE = 10.0
LONG_PATIENCE = 600.0
"""Seconds for a step of a match: players may think, and are asked again."""
TOKEN_VARIABLE = "LEAGUE_ORGANISER_TOKEN"
Reason = Annotated[
    str, Parameter(help="Why; it is kept in the record, and told to whom it concerns.")
]
NO_REASON = "the organiser's decision"


def begin(
    league: flags.League = None, *, shared: flags.Shared = SHARED, json: flags.Json = False
) -> None:
    """Begin a league with the players that have registered."""
    _order(league, shared, "start_league", "the league begins", json=json)


def pause(
    league: flags.League = None, *, shared: flags.Shared = SHARED, json: flags.Json = False
) -> None:
    """Let no further match begin; those that are being played are played to the end."""
    _order(league, shared, "pause_league", "no further match begins", json=json)


def go_on(
    league: flags.League = None, *, shared: flags.Shared = SHARED, json: flags.Json = False
) -> None:
    """Let matches begin again after a pause."""
    _order(league, shared, "resume_league", "matches begin again", json=json)


def end(
    league: flags.League = None,
    *,
    reason: Reason = NO_REASON,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """End a league now; matches that are being played are played to the end, no other begins."""
    done = "the league ends when the matches that are being played have ended"
    _order(league, shared, "end_league", done, {"reason": reason}, json=json)


def open_registration(
    league: flags.League = None, *, shared: flags.Shared = SHARED, json: flags.Json = False
) -> None:
    """Let players register again."""
    _order(league, shared, "open_registration", "players may register", json=json)


def close_registration(
    league: flags.League = None, *, shared: flags.Shared = SHARED, json: flags.Json = False
) -> None:
    """Let no further player register; the league begins later, with league begin."""
    _order(league, shared, "close_registration", "no further player may register", json=json)


def void(
    match: flags.Match,
    league: flags.League = None,
    *,
    reason: Reason = NO_REASON,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Take the result of a match out of the standings; it stays in the record, marked."""
    done = f"{match} is void, and no longer counts"
    arguments = {"match_id": match, "reason": reason}
    _order(league, shared, "void_match", done, arguments, json=json)


def replay_match(
    match: flags.Match,
    league: flags.League = None,
    *,
    reason: Reason = NO_REASON,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Void a match, and have the same players play a new one instead."""
    arguments = {"match_id": match, "reason": reason}
    _order(league, shared, "replay_match", f"{match} is played again", arguments, json=json)


def disqualify(
    agent: flags.Agent,
    league: flags.League = None,
    *,
    reason: Reason = NO_REASON,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Exclude a player or a referee, and tell it why; a player's other matches are lost."""
    arguments = {"agent_id": agent, "reason": reason}
    _order(league, shared, "disqualify_agent", f"{agent} is out", arguments, json=json)


def reinstate(
    agent: flags.Agent,
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Let a disqualified agent take part again; what it lost meanwhile stays lost."""
    done = f"{agent} takes part again"
    _order(league, shared, "reinstate_agent", done, {"agent_id": agent}, json=json)


def announce(
    text: str,
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Show a text in the status of the league, on its terminal and in its log.

    Parameters
    ----------
    text
        What to say, in quotes.
    """
    _order(league, shared, "announce", "announced", {"text": text}, json=json)


def by_hand(
    match: flags.Match,
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Play a match step by step: it waits for `league step`. Pause the league before its round."""
    done = f"{match} waits for its steps: league step {match}"
    _order(league, shared, "play_by_hand", done, {"match_id": match}, json=json)


def step(
    match: flags.Match,
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Take the next step of a match that is played by hand, and print what came of it."""
    _, answer = _give_order(league, shared, "step_match", {"match_id": match}, LONG_PATIENCE)
    if json:
        print_document(**answer)
        return
    print(f"{match}: {answer['step']}, now {answer.get('state') or 'reported'}")
    if result := answer.get("game_result"):
        print(f"{match}: {result['reason']}")


token_app = App(
    name="token",
    help="Replace the token of an agent of a running league.",
    help_epilogue=format_examples("token"),
)


@token_app.command
def rotate(
    agent: flags.Agent,
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Replace the token of an agent: print a new one, and make all earlier ones invalid.

    An agent that this folder keeps finds the new token when it is started again.
    """
    league_id, answer = _give_order(league, shared, "rotate_token", {"agent_id": agent})
    token = str(answer["auth_token"])
    known = shared / "state" / league_id / f"{agent}.json"
    where = "hand it to its owner"
    if load_identity(known) is not None:
        save_identity(known, Identity(agent, token, league_id))
        where = f"it is in {known}"
    if json:
        print_document(**answer)
    else:
        print(token)
    print(f"{agent} needs this token from now on: {where}, and start it again.", file=sys.stderr)


def _order(
    league: str | None,
    shared: Path,
    tool: str,
    done: str,
    arguments: dict[str, Any] | None = None,
    *,
    json: bool,
) -> None:
    """Give an order, and say what was *done*."""
    league_id, answer = _give_order(league, shared, tool, arguments or {})
    if json:
        print_document(league_id=league_id, **answer)
    else:
        note = make_printable(str(answer.get("note") or done))
        print(f"{league_id}: {note}", file=sys.stderr)


def _give_order(
    league: str | None,
    shared: Path,
    tool: str,
    arguments: dict[str, Any],
    patience: float = PATIENCE,
) -> tuple[str, dict[str, Any]]:
    """Return the id of the league, and its answer to the order."""
    url = find_address(league, Folder(shared))
    league_id = str(fetch_page(url, "status")["league_id"])
    token = _find_token(shared, league_id)
    answer = run(call_tool(url, tool, {**arguments, "auth_token": token}, patience))
    return league_id, answer


def _find_token(shared: Path, league_id: str) -> str:
    file = shared / "state" / league_id / "organiser.json"
    identity = load_identity(file)
    token = os.environ.get(TOKEN_VARIABLE) or (identity.token if identity else None)
    if token is None:
        hint = f"set {TOKEN_VARIABLE}, or go to the folder from which the league was started"
        raise UsageError(f"only its organiser may do this, and there is no {file}", hint)
    return token


async def call_tool(
    url: str, tool: str, arguments: dict[str, Any], patience: float, who: str = "the league"
) -> dict[str, Any]:
    """Return the answer of *who* is at *url*, or raise `OrderRefusedError`."""
    async with open_client() as wire:
        client = McpClient(HttpTransport(url, wire.exchange))
        # It is called unseen: a manager lists the organiser's tools to the organiser alone.
        result = await client.call_tool(Tool(name=tool), arguments, patience)
    answer: Any = result.answer
    if result.isError or not isinstance(answer, dict):
        detail = answer.get("detail") if isinstance(answer, dict) else answer
        code = answer.get("error_code", "") if isinstance(answer, dict) else ""
        raise OrderRefusedError(f"{who} refuses: {detail} {f'({code})' if code else ''}".strip())
    return answer
