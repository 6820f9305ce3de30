"""`league status | standings | schedule | stats`: questions to a running or a stored league."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from agent_league.cli import league_options as flags
from agent_league.cli.console import SCHEMA_VERSION, make_table, show
from agent_league.cli.report import make_standings_table, show_standings
from agent_league.cli.which_league import find_address, find_stored, is_address
from agent_league.http.exchange import Answer
from agent_league.printable import format_count, make_printable
from agent_league.protocol import ProtocolError
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED, Folder
from agent_league.running.serve import open_client
from agent_league.season import answers
from agent_league.season.season import Season

PATIENCE = 10.0
OK = 200


def status(
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Show where a league stands, running or stored."""
    where = _find_season(league, shared, store)
    if isinstance(where, Season):
        found = msgspec.to_builtins(answers.status(where))
    else:
        found = fetch_page(where, "status")
    if json:
        return _print_json(found)
    agents = _make_table(found["agents"], "agent_id", "display_name", "role", "state")
    show(*map(Text, _summarise(found)), agents)
    return None


def _summarise(found: dict[str, Any]) -> list[str]:
    """Return the lines above the agents: the stage, what was announced, what is void."""
    stage = "PAUSED" if found["paused"] and found["stage"] != "COMPLETED" else found["stage"]
    rounds = f"round {found['round_id']}/{found['total_rounds']}"
    matches = format_count(found["matches_played"], "match")
    lines = [f"{found['league_id']}  {stage}  {rounds}  {matches}"]
    if found.get("announcement"):
        lines.append(f"announced: {found['announcement']}")
    voided = found.get("voided") or {}
    lines += [f"void: {match} ({why})" for match, why in voided.items()]
    return lines


def standings(
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Show the table of a league, running or stored."""
    where = _find_season(league, shared, store)
    if isinstance(where, Season) and not json:
        return show_standings(where)
    if isinstance(where, Season):
        return _print_json(answers.standings(where, {}))
    found = fetch_page(where, "standings")
    return _print_json(found) if json else show(make_standings_table(found["standings"]))


def schedule(
    league: flags.League = None,
    *,
    round: int | None = None,  # noqa: A002 - the flag's name
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Show who meets whom in a league, running or stored.

    Parameters
    ----------
    round
        Only this round.
    """
    rounds: Iterable[dict[str, Any]]
    season = _find_season(league, shared, store)
    if isinstance(season, Season):  # one by one: a million matches are too many to hold at once
        numbers = range(1, season.total_rounds + 1)
        rounds = (answers.describe_round(season, n) for n in numbers if round in (None, n))
    else:
        found = fetch_page(season, "schedule")["rounds"]
        rounds = (one for one in found if round in (None, one["round_id"]))
    if json:
        return _print_json({"rounds": [msgspec.Raw(msgspec.json.encode(one)) for one in rounds]})
    # A table that measures a million matches first takes minutes.
    print(f"{'match':<10} {'player A':<8} {'player B':<8} {'status':<15} winner")
    for one in rounds:
        for match in one["matches"]:
            who = f"{match['player_A_id']:<8} {match['player_B_id']:<8}"
            print(f"{match['match_id']:<10} {who} {match['status']:<15} {match['winner'] or '-'}")
    return None


def stats(
    player: str,
    league: flags.League = None,
    *,
    shared: flags.Shared = SHARED,
    store: flags.KeptStore = None,
    json: flags.Json = False,
) -> None:
    """Show one player's record in a league, running or stored.

    Parameters
    ----------
    player
        The player's id, such as P01.
    """
    where = _find_season(league, shared, store, whole=True)
    found = _describe_player(where, player)
    if json:
        return _print_json(found)
    keys = ("rank", "played", "wins", "draws", "losses", "technical_losses", "points")
    record = "  ".join(f"{key} {found.get(key)}" for key in keys)
    head = Text(f"{found['player_id']} {found['display_name']} ({found['state']})  {record}")
    matches = _make_table(found["matches"], "match_id", "winner", "status", "termination")
    counts = [f"{rule} x{times}" for rule, times in found.get("violations", {}).items()]
    if counts:
        head.append(f"\nviolations: {', '.join(counts)} (league check explains each rule)")
    return show(head, matches)


def _describe_player(where: Season | str, player: str) -> dict[str, Any]:
    if not isinstance(where, Season):
        return fetch_page(where, f"players/{player}")
    try:
        return dict(msgspec.to_builtins(answers.player_stats(where, {"player_id": player})))
    except ProtocolError:
        problem = f"{where.settings.league_id} has no player {player!r}"
        raise UsageError(problem, "league status shows who takes part") from None


def _find_season(
    league: str | None, shared: Path, store: str | None, *, whole: bool = False
) -> Season | str:
    """Return the season of a league that is kept, or the address of one that runs elsewhere.

    What a folder keeps is always up to date: an event counts only when it is stored.
    """
    folder = Folder(shared, store)
    if is_address(league) or (league is None and not folder.list_leagues()):
        return find_address(league, folder)
    home, row = find_stored(league, folder)
    return home.load_season(row.league_id, whole=whole)


def fetch_page(url: str, page: str) -> dict[str, Any]:
    """Return a page of the manager at *url*."""
    base = url.removesuffix("/").removesuffix("/mcp")

    async def get() -> Answer:
        async with open_client(max_answer=64 << 20) as wire:
            return await wire.get(f"{base}/{page}", PATIENCE)

    answer = run(get())
    if answer.status != OK:
        hint = f"of many leagues at one address, name one: {base}/leagues/ID"
        raise UsageError(f"{base} has no {page}", hint)
    return msgspec.json.decode(answer.body, type=dict[str, Any])


def _print_json(found: dict[str, Any]) -> None:
    # A schedule may have a million matches: ten times as fast as the json of the library.
    document = msgspec.json.encode({"schema_version": SCHEMA_VERSION, **found})
    print(make_printable(msgspec.json.format(document, indent=2).decode(), keep="\n"))


def _make_table(rows: list[Mapping[str, Any]], *keys: str) -> Table:
    headings = [key.removesuffix("_id").replace("_", " ") for key in keys]
    return make_table(headings, ([row.get(key) or "-" for key in keys] for row in rows))
