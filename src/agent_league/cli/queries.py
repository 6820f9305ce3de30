"""`league status | standings | schedule | stats`: questions to a running league."""

import json as json_module
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent_league.cli.agents import LEAGUE
from agent_league.cli.endings import UsageError
from agent_league.cli.folder import SHARED, Folder, StoreAddress
from agent_league.cli.report import SCHEMA_VERSION, table
from agent_league.cli.terms import Switch
from agent_league.hosting import run
from agent_league.league import LeagueSettings
from agent_league.league.season import Season
from agent_league.league.snapshots import season_of
from agent_league.transport.exchange import Answer
from agent_league.transport.http_client import HttpClient

PATIENCE = 10.0
OK = 200


def status(*, league: str = LEAGUE, json: Switch = False) -> None:
    """Show where a running league stands.

    Parameters
    ----------
    league
        The league manager's address.
    json
        Print one JSON document.
    """
    found = _asked(league, "status")
    if json:
        return _print_json(found)
    rounds = f"round {found['round_id']}/{found['total_rounds']}"
    said = f"{found['league_id']}  {found['stage']}  {rounds}  {found['matches_played']} matches"
    _print(Text(said), _columns(found["agents"], "agent_id", "display_name", "role", "state"))
    return None


def standings(
    *,
    league: str = LEAGUE,
    stored: str | None = None,
    shared: Path = SHARED,
    store: StoreAddress = None,
    json: Switch = False,
) -> None:
    """Show the table of a league that is running, or of one that is kept.

    Parameters
    ----------
    league
        The league manager's address.
    stored
        The id of a league in the folder, to read instead.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    json
        Print one JSON document.
    """
    found = _read(Folder(shared, store), stored) if stored else _asked(league, "standings")
    return _print_json(found) if json else _print(table(found["standings"]))


def schedule(
    *,
    league: str = LEAGUE,
    round: int | None = None,  # noqa: A002 - the flag's name
    json: Switch = False,
) -> None:
    """Show who meets whom in a running league.

    Parameters
    ----------
    league
        The league manager's address.
    round
        Only this round.
    json
        Print one JSON document.
    """
    found = _asked(league, "schedule")
    if round is not None:
        found["rounds"] = [one for one in found["rounds"] if one["round_id"] == round]
    if json:
        return _print_json(found)
    matches = [match for one in found["rounds"] for match in one["matches"]]
    return _print(_columns(matches, "match_id", "player_A_id", "player_B_id", "status", "winner"))


def stats(player: str, /, *, league: str = LEAGUE, json: Switch = False) -> None:
    """Show one player's record in a running league.

    Parameters
    ----------
    player
        The player's id, such as P01.
    league
        The league manager's address.
    json
        Print one JSON document.
    """
    found = _asked(league, f"players/{player}")
    if json:
        return _print_json(found)
    keys = ("rank", "played", "wins", "draws", "losses", "technical_losses", "points")
    record = "  ".join(f"{key} {found.get(key)}" for key in keys)
    head = Text(f"{found['player_id']} {found['display_name']} ({found['state']})  {record}")
    return _print(head, _columns(found["matches"], "match_id", "winner", "status", "termination"))


def _read(folder: Folder, league_id: str) -> dict[str, Any]:
    async def season() -> Season:
        async with folder.store() as kept:
            if kept is None:
                raise UsageError("nothing is kept in memory", "give a --store")
            settings = LeagueSettings.read(await kept.settings(league_id))
            return await season_of(kept, settings)

    read = run(season())
    return {"round_id": read.round_id, "standings": msgspec.to_builtins(read.standings())}


def _asked(league: str, page: str) -> dict[str, Any]:
    base = league.removesuffix("/").removesuffix("/mcp")
    answer = run(_got(f"{base}/{page}"))
    if answer.status != OK:
        raise UsageError(f"{base} has no {page}", "league status shows who takes part")
    found: dict[str, Any] = json_module.loads(answer.body)
    return found


async def _got(url: str) -> Answer:
    wire = HttpClient(max_answer=64 << 20)
    try:
        return await wire.get(url, PATIENCE)
    finally:
        await wire.close()


def _print_json(found: dict[str, Any]) -> None:
    print(json_module.dumps({"schema_version": SCHEMA_VERSION, **found}, indent=2))


def _print(*parts: Text | Table) -> None:
    Console(highlight=False).print(*parts, sep="\n")


def _columns(rows: list[dict[str, Any]], *keys: str) -> Table:
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for key in keys:
        shown.add_column(key.removesuffix("_id").replace("_", " "))
    for row in rows:
        shown.add_row(*(Text(str(row.get(key) or "-")) for key in keys))
    return shown
