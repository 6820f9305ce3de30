"""`league status | standings | schedule | stats`: questions to a league, running or kept."""

import json as json_module
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from agent_league.cli.endings import UsageError
from agent_league.cli.folder import SHARED, Folder, StoreAddress
from agent_league.cli.lineup import Files
from agent_league.cli.paper import show
from agent_league.cli.report import SCHEMA_VERSION, table
from agent_league.cli.terms import Switch
from agent_league.hosting import run
from agent_league.league import LeagueSettings, answers
from agent_league.league.season import Season
from agent_league.league.snapshots import season_of
from agent_league.transport.exchange import Answer
from agent_league.transport.http_client import HttpClient
from agent_league.vocabulary import Json

PATIENCE = 10.0
OK = 200


def status(
    *,
    league: str | None = None,
    stored: str | None = None,
    shared: Path = SHARED,
    store: StoreAddress = None,
    json: Switch = False,
) -> None:
    """Show where a league stands that is running, or one that is kept.

    Parameters
    ----------
    league
        The league manager's address, if the files do not say it.
    stored
        The id of a league in the folder, to read instead.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    json
        Print one JSON document.
    """
    found = _found(league, "status", Folder(shared, store), stored)
    if json:
        return _print_json(found)
    rounds = f"round {found['round_id']}/{found['total_rounds']}"
    said = f"{found['league_id']}  {found['stage']}  {rounds}  {found['matches_played']} matches"
    show(Text(said), _columns(found["agents"], "agent_id", "display_name", "role", "state"))
    return None


def standings(
    *,
    league: str | None = None,
    stored: str | None = None,
    shared: Path = SHARED,
    store: StoreAddress = None,
    json: Switch = False,
) -> None:
    """Show the table of a league that is running, or of one that is kept.

    Parameters
    ----------
    league
        The league manager's address, if the files do not say it.
    stored
        The id of a league in the folder, to read instead.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    json
        Print one JSON document.
    """
    found = _found(league, "standings", Folder(shared, store), stored)
    return _print_json(found) if json else show(table(found["standings"]))


def schedule(
    *,
    league: str | None = None,
    round: int | None = None,  # noqa: A002 - the flag's name
    stored: str | None = None,
    shared: Path = SHARED,
    store: StoreAddress = None,
    json: Switch = False,
) -> None:
    """Show who meets whom in a league that is running, or in one that is kept.

    Parameters
    ----------
    league
        The league manager's address, if the files do not say it.
    round
        Only this round.
    stored
        The id of a league in the folder, to read instead.
    shared
        The folder in which leagues are kept.
    store
        Another store than the one in that folder.
    json
        Print one JSON document.
    """
    if stored:
        rounds = _rounds(run(_season(Folder(shared, store), stored)), round)
    else:
        rounds = iter(asked(league, "schedule", shared)["rounds"])
    wanted = (one for one in rounds if round in (None, one["round_id"]))
    if json:
        return _print_json({"rounds": [msgspec.Raw(msgspec.json.encode(one)) for one in wanted]})
    return _print_schedule(wanted)


def stats(player: str, /, *, league: str | None = None, json: Switch = False) -> None:
    """Show one player's record in a running league.

    Parameters
    ----------
    player
        The player's id, such as P01.
    league
        The league manager's address, if the files do not say it.
    json
        Print one JSON document.
    """
    found = asked(league, f"players/{player}")
    if json:
        return _print_json(found)
    keys = ("rank", "played", "wins", "draws", "losses", "technical_losses", "points")
    record = "  ".join(f"{key} {found.get(key)}" for key in keys)
    head = Text(f"{found['player_id']} {found['display_name']} ({found['state']})  {record}")
    matches = _columns(found["matches"], "match_id", "winner", "status", "termination")
    broken = [f"{rule} x{times}" for rule, times in found.get("violations", {}).items()]
    said = [Text(f"violations: {', '.join(broken)} (docs/strangers.md)")] if broken else []
    return show(head, *said, matches)


_PAGES: Mapping[str, Callable[[Season], dict[str, Json]]] = MappingProxyType(
    {"status": answers.status, "standings": lambda season: answers.standings(season, {})}
)
"""What the pages of a running league show, of a season that was read from a store."""


def _found(league: str | None, page: str, folder: Folder, stored: str | None) -> dict[str, Any]:
    if not stored:
        return asked(league, page, folder.shared)
    found: dict[str, Any] = msgspec.to_builtins(_PAGES[page](run(_season(folder, stored))))
    return found


def _rounds(season: Season, only: int | None) -> Iterator[dict[str, Any]]:
    """Yield the rounds one by one: a million matches are too many to hold at once."""
    numbers = range(1, season.total_rounds + 1)
    return (answers.round_of(season, n) for n in numbers if only in (None, n))


async def _season(folder: Folder, league_id: str) -> Season:
    async with folder.store() as kept:
        if kept is None:
            raise UsageError("nothing is kept in memory", "give a --store")
        settings = LeagueSettings.read(await kept.settings(league_id))
        return await season_of(kept, settings)


def asked(league: str | None, page: str, shared: Path = SHARED) -> dict[str, Any]:
    base = (league or Files.read(shared).league_url).removesuffix("/").removesuffix("/mcp")
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
    # A schedule may have a million matches: ten times as fast as the json of the library.
    document = msgspec.json.encode({"schema_version": SCHEMA_VERSION, **found})
    print(msgspec.json.format(document, indent=2).decode())


def _print_schedule(rounds: Iterable[dict[str, Any]]) -> None:
    """Print a line for each match; a table that measures a million of them first takes minutes."""
    print(f"{'match':<10} {'player A':<8} {'player B':<8} {'status':<15} winner")
    for one in rounds:
        print("\n".join(map(_match_line, one["matches"])))


def _match_line(match: dict[str, Any]) -> str:
    who = f"{match['player_A_id']:<8} {match['player_B_id']:<8}"
    return f"{match['match_id']:<10} {who} {match['status']:<15} {match['winner'] or '-'}"


def _columns(rows: list[dict[str, Any]], *keys: str) -> Table:
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for key in keys:
        shown.add_column(key.removesuffix("_id").replace("_", " "))
    for row in rows:
        shown.add_row(*(Text(str(row.get(key) or "-")) for key in keys))
    return shown
