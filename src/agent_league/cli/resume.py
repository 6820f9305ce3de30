"""`league resume` and `league leagues`: what the folder holds, and how it goes on."""

import json as json_module
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from agent_league.cli.agents import manage
from agent_league.cli.folder import SHARED, Durability, Folder, StoreAddress, to_resume
from agent_league.cli.paper import show
from agent_league.cli.play import Display, play_out
from agent_league.cli.report import SCHEMA_VERSION, season_document
from agent_league.cli.report import table as standings_table
from agent_league.cli.terms import Ports, Switch
from agent_league.league import LeagueSettings
from agent_league.local import LocalPlan
from agent_league.store.log import LeagueRow


def resume(
    league: str | None = None,
    /,
    *,
    shared: Path = SHARED,
    store: StoreAddress = None,
    durability: Durability | None = None,
    display: Display | None = None,
    json: Switch = False,
    port: Ports | None = None,
) -> None:
    """Go on with a league where it stopped: same ids, same tokens, finished matches stay.

    It goes on as it was begun: with its store, its ports and its durability, where no flag says
    otherwise.

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
        The manager's port; referees and players that run here follow.
    """
    folder, row = to_resume(Folder(shared, store, durability or "power"), league)
    settings = LeagueSettings.read(row.settings)
    if row.ended:
        return _say_how_it_ended(settings, folder, json=json)
    plan = folder.plan(row.league_id) or LocalPlan(settings, (), (), referees=0)
    folder = replace(folder, durability=durability or plan.durability)
    plan = plan if port is None else plan.moved(port)
    if plan.lonely:
        return manage(settings, folder, plan.host, plan.port_base)
    return play_out(plan, folder, display, json=json)


def _say_how_it_ended(settings: LeagueSettings, folder: Folder, *, json: bool) -> None:
    season, league_id = folder.season(settings, whole=json), settings.league_id
    if json:
        return print(json_module.dumps(season_document(season, 0.0), indent=2))
    print(f"{league_id} is over: there is nothing to resume.", file=sys.stderr)
    rows = season.standings()
    show(standings_table(rows))
    print(f"\nChampion: {rows[0].display_name} ({rows[0].player_id}) {rows[0].points} points")
    print(
        "",
        "Next:",
        f"  league export {league_id}{folder.flags}",
        f"  league replay R1M1 --league {league_id}{folder.flags}",
        sep="\n",
        file=sys.stderr,
    )
    return None


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
    show(table)


def _shown(row: LeagueRow) -> dict[str, Any]:
    return {
        "league_id": row.league_id,
        "opened_at": row.opened_at,
        "matches": row.matches,
        "ended": bool(row.ended),
    }
