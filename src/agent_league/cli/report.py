"""A finished season as one document, and as a table."""

from collections.abc import Iterable
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from agent_league.league.season import Season
from agent_league.protocol.rounds import StandingRow
from agent_league.store.events import MatchEnded

SCHEMA_VERSION = 1


def season_document(season: Season, seconds: float) -> dict[str, Any]:
    """Return everything that `league play --json` tells; *season* has all its results at hand."""
    rows = season.standings()
    results = [season.results[match] for match in season.matches if match in season.results]
    return {
        "schema_version": SCHEMA_VERSION,
        "league_id": season.settings.league_id,
        "seed": season.settings.seed,
        "champion": msgspec.to_builtins(rows[0]) if rows else None,
        "standings": msgspec.to_builtins(rows),
        "matches": [_match(ended) for ended in results],
        "totals": {
            "matches": season.played,
            "draws": season.tally["DRAW"],
            "technical_losses": season.tally["TECHNICAL_LOSS"],
            "seconds_playing": round(seconds, 3),
        },
    }


def _match(ended: MatchEnded) -> dict[str, Any]:
    return {
        "match_id": ended.match_id,
        "round_id": ended.round_id,
        "players": ended.players,
        "winner": ended.winner,
        "termination": ended.termination,
        "drawn_number": ended.details.get("drawn_number"),
        "choices": ended.details.get("choices", {}),
    }


def table(rows: Iterable[StandingRow | dict[str, Any]]) -> Table:
    """Return the standings as people read them; names are shown as they are, never as markup."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    shown.add_column("#", justify="right")
    shown.add_column("Agent")
    shown.add_column("Id")
    for heading in ("P", "W", "D", "L", "Pts"):
        shown.add_column(heading, justify="right")
    for row in rows:
        values = msgspec.to_builtins(row)
        numbers = [values[key] for key in ("played", "wins", "draws", "losses", "points")]
        name = Text(str(values["display_name"]))
        shown.add_row(str(values["rank"]), name, values["player_id"], *map(str, numbers))
    return shown
