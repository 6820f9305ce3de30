"""Messages about a match as third-party referees write them, for a player."""

from collections.abc import Iterator, Mapping
from typing import Final

from agent_league.dialects.v2.field_names import (
    Synonyms,
    find_problem,
    is_empty,
    rename_fields,
)
from agent_league.dialects.v2.words import Body
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.requirements import rules
from agent_league.protocol.results import GameResult
from agent_league.vocabulary import Json

_SEATS: Mapping[str, str] = {"A": "PLAYER_A", "1": "PLAYER_A", "B": "PLAYER_B", "2": "PLAYER_B"}


def repair_invitation(body: Body) -> Iterator[Deviation]:
    """Read the seat by the last letter or digit of its name."""
    role = body.get("role_in_match")
    if isinstance(role, str) and role not in _SEATS.values():
        seat = _SEATS.get(role.strip().upper()[-1:])
        if seat is not None:
            body["role_in_match"] = seat
            yield Deviation(rules.FIELD_INVALID, f"role_in_match: {role!r}"[:80])


_RESULT_PLACES: Final = ("game_result", "result", "details")
_RESULT_FIELDS: Synonyms = {
    "winner_player_id": ("winner", "winner_id"),
    "drawn_number": ("number", "dice_roll", "random_number", "drawn"),
    "number_parity": ("parity", "dice_parity"),
    "choices": ("player_choices", "moves"),
    "status": ("outcome",),
    "reason": ("explanation", "message"),
}
_DRAW_WORDS = frozenset({"", "DRAW", "TIE", "NONE", "NULL"})
_STATUS_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("DRAW", "TIE", "CANCELLED", "CANCELED", "VOID"), "DRAW"),
    **dict.fromkeys(("TECHNICAL", "TECHNICAL_LOSS", "FORFEIT", "TIMEOUT"), "TECHNICAL_LOSS"),
}
"""The words of referees for the end of a match; with any other word, the winner decides."""


def repair_game_over(body: Body) -> Iterator[Deviation]:
    """Gather the result of a match from wherever it stands in the message."""
    problem = find_problem(body.get("game_result"), GameResult)
    if problem is not None:
        result = _gather_result(body)
        list(rename_fields(result, _RESULT_FIELDS))
        body["game_result"] = _write_result(result)
        yield Deviation(rules.FIELD_INVALID, f"game_result: {problem}"[:80])


def _gather_result(body: Body) -> Body:
    """Return what the places of a result hold, and the winner beside them."""
    places = [body.get(key) for key in _RESULT_PLACES]
    given = [dict(place) for place in places if isinstance(place, dict)]
    inner = [one["details"] for one in given if isinstance(one.get("details"), dict)]
    beside = {key: body[key] for key in ("winner", "winner_id", "choices") if key in body}
    gathered: Body = {}
    for place in (*given, *inner, beside):
        gathered = {**place, **gathered}
    return gathered


def _write_result(result: Body) -> Body:
    """Return *result* in the words of the protocol."""
    winner, number = result.get("winner_player_id"), result.get("drawn_number")
    is_draw = not isinstance(winner, str) or winner.upper() in _DRAW_WORDS
    word = str(result.get("status")).upper()
    status = _STATUS_WORDS.get(word) or ("DRAW" if is_draw else "WIN")
    is_drawn = type(number) is int and (number > 0 or result.get("number_parity") == "even")
    drawn = number if is_drawn else None
    choices, details = result.get("choices"), result.get("details")
    reason = result.get("reason")
    return {
        "status": status,
        "winner_player_id": None if is_draw else winner,
        "drawn_number": drawn,
        "number_parity": None if drawn is None else ("odd" if drawn % 2 else "even"),
        "choices": choices if isinstance(choices, dict) else _read_seat_choices(result),
        "reason": reason[:2000] if isinstance(reason, str) else "",
        **({"details": details} if isinstance(details, dict) and details else {}),
    }


def _read_seat_choices(result: Body) -> dict[str, Json]:
    """Return the choices of a result that names them by seat: player1, player1_choice."""
    seats = ("player1", "player2", "player_1", "player_2", "player_a", "player_b")
    return {
        result[seat]: result.get(f"{seat}_choice")
        for seat in seats
        if isinstance(result.get(seat), str)
    }


def repair_question(body: Body) -> Iterator[Deviation]:
    """Leave out a context that says nothing: a player needs the match and the question only."""
    context = body.get("context")
    if "context" in body and (
        not isinstance(context, dict) or is_empty(context.get("opponent_id"))
    ):
        body.pop("context")
        yield Deviation(rules.FIELD_INVALID, "context without opponent_id")
