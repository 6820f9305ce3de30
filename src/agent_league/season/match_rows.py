"""A match as a row of a table, for spreadsheets and other programs."""

from collections.abc import Mapping
from typing import Any

from agent_league.season.endings import VOIDED
from agent_league.season.season import Season
from agent_league.store.events import MatchEnded

MATCH_COLUMNS = (
    *("match_id", "round_id", "player_A_id", "player_A", "player_B_id", "player_B"),
    *("choice_A", "choice_B", "drawn_number", "winner_id", "winner", "status", "termination"),
    *("void_reason", "referee_id", "started_at", "ended_at"),
)


def make_match_row(
    season: Season, ended: MatchEnded, names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a match as one row of plain cells; *names* are shown instead of the players' own."""
    first, second = ended.players
    choices, assigned = ended.details.get("choices"), season.assignments.get(ended.match_id)
    moves = choices if isinstance(choices, dict) else {}
    shown = names or {one: season.roster[one].display_name for one in ended.players}
    cells = (
        *(ended.match_id, ended.round_id, first, shown[first], second, shown[second]),
        *(moves.get(first), moves.get(second), ended.details.get("drawn_number")),
        *(ended.winner, shown[ended.winner] if ended.winner else None),
        VOIDED if ended.match_id in season.voided else ended.status,
        *(ended.termination, season.voided.get(ended.match_id)),
        *(ended.referee_id, assigned.at if assigned else None, ended.at),
    )
    return dict(zip(MATCH_COLUMNS, cells, strict=True))
