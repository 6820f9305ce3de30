"""`league resume` and `league leagues`: what the folder holds, and how it goes on."""

import json as json_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent_league.cli.agents import manage
from agent_league.cli.folder import SHARED, Durability, Folder, StoreAddress, unfinished
from agent_league.cli.play import Display, play_out
from agent_league.cli.report import SCHEMA_VERSION
from agent_league.cli.terms import Switch
from agent_league.hosting import LOOPBACK, MANAGER_PORT
from agent_league.league import LeagueSettings
from agent_league.store.log import LeagueRow


def resume(
    league: str | None = None,
    /,
    *,
    shared: Path = SHARED,
    store: StoreAddress = None,
    durability: Durability = "power",
    display: Display | None = None,
    json: Switch = False,
    port: int = MANAGER_PORT,
) -> None:
    """Go on with a league where it stopped: same ids, same tokens, finished matches stay.

    Parameters
    ----------
    league
        Which league; the latest that has not ended, if not given.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    durability
        What an acknowledgement survives: the loss of power, or the death of the process.
    display
        What to show meanwhile.
    json
        Print one JSON document instead of a table.
    port
        The manager's port, for a league whose agents were started elsewhere.
    """
    folder = Folder(shared, store, durability)
    row = unfinished(folder.leagues(), league)
    plan = folder.plan(row.league_id)
    if plan is not None:
        play_out(plan, folder, display, json=json)
    else:
        manage(LeagueSettings.read(row.settings), folder, LOOPBACK, port)


def leagues(*, shared: Path = SHARED, store: StoreAddress = None, json: Switch = False) -> None:
    """Show the leagues that a folder holds.

    Parameters
    ----------
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    json
        Print one JSON document.
    """
    rows = Folder(shared, store).leagues()
    if json:
        shown = [_shown(row) for row in rows]
        print(json_module.dumps({"schema_version": SCHEMA_VERSION, "leagues": shown}, indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("League", "Opened", "Matches", "State"):
        table.add_column(heading)
    for row in rows:
        state = "ended" if row.ended else "unfinished"
        table.add_row(Text(row.league_id), row.opened_at, str(row.matches), state)
    Console(highlight=False).print(table)


def _shown(row: LeagueRow) -> dict[str, Any]:
    return {
        "league_id": row.league_id,
        "opened_at": row.opened_at,
        "matches": row.matches,
        "ended": bool(row.ended),
    }
