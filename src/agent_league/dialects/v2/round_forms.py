"""Notices about rounds and standings as third-party leagues write them."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import msgspec

from agent_league.dialects.v2.field_names import Synonyms, find_problem, rename_fields
from agent_league.dialects.v2.words import Body, read_round
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.requirements import rules
from agent_league.protocol.rounds import AnnouncedMatch, FinalStanding, StandingRow
from agent_league.vocabulary import Json

ROW_FIELDS: Synonyms = {
    "player_id": ("id", "player", "agent_id"),
    "display_name": ("name", "player_name"),
    "rank": ("position", "place"),
    "played": ("games_played", "matches_played", "matches", "games"),
    "points": ("total_points", "score"),
    "wins": ("total_wins", "won"),
    "draws": ("total_draws", "drawn"),
    "losses": ("total_losses", "lost"),
}
MATCH_FIELDS: Synonyms = {
    "match_id": ("game_id", "id"),
    "game_type": ("game",),
    "player_A_id": ("player_a_id", "player1_id", "player_1_id", "player_a", "player1", "player_1"),
    "player_B_id": ("player_b_id", "player2_id", "player_2_id", "player_b", "player2", "player_2"),
    "player_A_endpoint": ("player_a_endpoint", "player1_endpoint"),
    "player_B_endpoint": ("player_b_endpoint", "player2_endpoint"),
    "referee_endpoint": ("referee_url", "referee"),
}


def repair_rounds(body: Body) -> Iterator[Deviation]:
    """Read rounds that are written as text, such as `R1` or `ROUND_1`."""
    for key in ("round_id", "next_round_id"):
        text = body.get(key)
        found = read_round(text) if isinstance(text, str) else None
        if found:
            body[key] = found
            yield Deviation(rules.FIELD_INVALID, f"{key}: {text!r}"[:80])


def repair_announcement(body: Body) -> Iterator[Deviation]:
    """Fill in what the matches of a round leave out; a match without players is left out."""

    def complete(match: Body, place: int) -> Body:
        list(rename_fields(match, MATCH_FIELDS))
        return {"game_type": "even_odd", "referee_endpoint": UNSTATED, **match}

    yield from _repair_rows(body, "matches", AnnouncedMatch, complete)


def repair_standings(body: Body) -> Iterator[Deviation]:
    yield from rename_fields(body, {"standings": ("table", "rankings", "rows")})
    yield from _repair_rows(body, "standings", StandingRow, _complete_row)


def _complete_row(row: Body, place: int) -> Body:
    list(rename_fields(row, ROW_FIELDS))
    counts = {key: row[key] for key in ("wins", "draws", "losses") if type(row.get(key)) is int}
    defaults = {
        "rank": place,
        "display_name": str(row.get("player_id")),
        "played": sum(counts.values()),
        "points": 0,
        **dict.fromkeys(("wins", "draws", "losses"), 0),
    }
    return {**row, **{key: value for key, value in defaults.items() if not _is_right(row, key)}}


def _is_right(row: Body, key: str) -> bool:
    value = row.get(key)
    lowest = 1 if key == "rank" else 0
    is_count = type(value) is int and value >= lowest
    return isinstance(value, str) if key == "display_name" else is_count


_Row = TypeVar("_Row", bound=msgspec.Struct)


def _repair_rows(
    body: Body, key: str, kind: type[_Row], complete: Callable[[Body, int], Body]
) -> Iterator[Deviation]:
    """Complete the rows under *key*; rows that are then no *kind* are left out."""
    given = body.get(key)
    listed = _list_rows(given)
    rows = [
        row for place, one in enumerate(listed, 1) if (row := _read_row(one, place, kind, complete))
    ]
    kept = [row for row in listed if isinstance(row, dict) and find_problem(row, kind) is None]
    if rows != kept or not isinstance(given, list):
        body[key] = rows
        problem = next((found for row in listed if (found := find_problem(row, kind))), "no list")
        yield Deviation(rules.FIELD_INVALID, f"{key}: {problem}"[:80])


def _list_rows(given: Json) -> list[Json]:
    """Return the rows, which may be given by the id of a player."""
    if isinstance(given, dict):
        by_id = given.items()
        return [{"player_id": who, **row} for who, row in by_id if isinstance(row, dict)]
    return given if isinstance(given, list) else []


def _read_row(
    row: Json, place: int, kind: type[_Row], complete: Callable[[Body, int], Body]
) -> Body | None:
    """Return *row*, completed if it is not whole; None if it cannot be."""
    if not isinstance(row, dict) or find_problem(row, kind) is None:
        return row if isinstance(row, dict) else None
    whole = complete(dict(row), place)
    return whole if find_problem(whole, kind) is None else None


def repair_round_completed(body: Body) -> Iterator[Deviation]:
    """Count the matches, if the notice names them instead."""
    named = body.get("completed_matches")
    if "matches_completed" not in body and isinstance(named, list):
        body["matches_completed"] = len(named)
        yield Deviation(rules.FIELD_MISSING, "completed_matches instead of matches_completed")
    given = body.get("summary")
    summary = given if isinstance(given, dict) else {}
    counts = ("total_matches", "wins", "draws", "technical_losses")
    missing = [key for key in counts if type(summary.get(key)) is not int or summary[key] < 0]
    if missing:
        body["summary"] = {**summary, **dict.fromkeys(missing, 0)}
        yield Deviation(rules.FIELD_MISSING, f"summary without {', '.join(missing)}"[:80])


def repair_league_completed(body: Body) -> Iterator[Deviation]:
    """Complete the final table, and find the champion in it if the notice names none."""
    yield from rename_fields(body, _END_FIELDS)
    yield from _repair_rows(body, "final_standings", FinalStanding, _complete_row)
    given, rows = body.get("champion"), body["final_standings"]
    champion = {"player_id": given} if isinstance(given, str) else given
    if not isinstance(champion, dict):
        champion = rows[0] if rows else {"player_id": UNSTATED}
    whole = _complete_row(dict(champion), 1)
    fields = {key: whole[key] for key in ("player_id", "display_name", "points") if key in whole}
    if not isinstance(given, dict) or fields != {key: given.get(key) for key in fields}:
        body["champion"] = fields
        yield Deviation(rules.FIELD_INVALID, f"champion: {_describe(given)}"[:80])


_END_FIELDS: Synonyms = {
    "final_standings": ("standings", "rankings", "final_rankings", "table"),
    "champion": ("winner", "champion_id", "winner_id"),
}


def _describe(value: Json) -> str:
    names: Mapping[str, Json] = value if isinstance(value, dict) else {}
    return f"an object with {', '.join(sorted(names))}" if names else repr(value)
