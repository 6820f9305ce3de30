"""A season as one document, as a table, and in a sentence."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from agent_league.cli.console import SCHEMA_VERSION, make_table, show
from agent_league.printable import format_count, make_printable
from agent_league.protocol.rounds import StandingRow
from agent_league.season import answers
from agent_league.season.endings import VOIDED
from agent_league.season.season import Season


def build_season_document(season: Season, seconds: float) -> dict[str, Any]:
    """Return everything that `league play --json` tells; *season* has all its results at hand."""
    rows = msgspec.to_builtins(season.standings())
    results = [season.results[match] for match in season.matches if match in season.results]
    return {
        "schema_version": SCHEMA_VERSION,
        "league_id": season.settings.league_id,
        "seed": season.settings.seed,
        "champion": rows[0] if rows else None,
        "standings": rows,
        "matches": [
            {
                "match_id": ended.match_id,
                "round_id": ended.round_id,
                "players": ended.players,
                "winner": ended.winner,
                "status": VOIDED if ended.match_id in season.voided else ended.status,
                "termination": ended.termination,
                **answers.describe_void(season, ended.match_id),
                "drawn_number": ended.details.get("drawn_number"),
                "choices": ended.details.get("choices", {}),
            }
            for ended in results
        ],
        "totals": {
            "matches": season.played,
            "draws": season.tally["DRAW"],
            "technical_losses": season.tally["TECHNICAL_LOSS"],
            "seconds_playing": round(seconds, 3),
        },
    }


def format_champion(season: Season) -> str:
    best = season.standings()[0]
    points = format_count(best.points, "point")
    return f"Champion: {make_printable(best.display_name)} ({best.player_id}) {points}"


def print_final_standings(season: Season) -> None:
    show_standings(season)
    print(f"\n{format_champion(season)}")


def show_standings(season: Season) -> None:
    """Print the table, and who is level in it: ids separate whom no rule does."""
    notes = [*_explain_ranking(season), *_list_ties(season)]
    show(make_standings_table(season.standings()), *map(Text, notes))


def _explain_ranking(season: Season) -> Iterator[str]:
    if season.format.rank is not None and season.played:
        yield f"Ranked by {season.format.ranked_by}."


def _list_ties(season: Season) -> Iterator[str]:
    for level in season.levels() if season.played else ():
        if len(level) > 1:
            *others, last = [row.player for row in level]
            yield f"{', '.join(others)} and {last} are level in everything; their order is that of their ids."


def make_standings_table(
    rows: Iterable[StandingRow | dict[str, Any]], notes: Sequence[str] | None = None
) -> Table:
    """Return the table, with *notes* beside its rows if there are some."""
    counts = ("P", "W", "D", "L", "Pts")
    keys = ("rank", "display_name", "player_id", "played", "wins", "draws", "losses", "points")
    cells = ([row[key] for key in keys] for row in map(msgspec.to_builtins, rows))
    headings = ("#", "Agent", "Id", *counts)
    if notes is None:
        return make_table(headings, cells, ("#", *counts))
    noted = ([*row, note] for row, note in zip(cells, notes, strict=True))
    return make_table((*headings, ""), noted, ("#", *counts))
