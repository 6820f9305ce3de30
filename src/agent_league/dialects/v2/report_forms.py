"""Results as third-party referees tell them: in a report, or in the answer to an order."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from agent_league.dialects.v2.order_forms import ECHO
from agent_league.dialects.v2.words import Body, guess_round, read_acceptance, read_round
from agent_league.protocol import RpcCode
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.failures import RefusedError
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.requirements import rules
from agent_league.protocol.results import Termination
from agent_league.vocabulary import Json

START_STATUSES: Mapping[str, bool] = {
    **dict.fromkeys(("ACCEPTED", "STARTED", "ASSIGNED", "RUNNING", "IN_PROGRESS"), True),
    **dict.fromkeys(("MATCH_STARTED", "MATCH_ACCEPTED", "STARTING", "SCHEDULED", "QUEUED"), True),
    **dict.fromkeys(("COMPLETED", "FINISHED", "PLAYED"), True),
    **dict.fromkeys(("REJECTED", "REFUSED", "BUSY", "ERROR", "FAILED"), False),
}
"""The answers of referees to an order, and whether they accept; no other answer says anything."""


def read_start_status(body: Mapping[str, Json]) -> bool | None:
    """Return whether a referee takes a match, or has played it; None if its answer does not say."""
    status, started = body.get("status"), body.get("matches_started")
    if isinstance(started, int):
        return started > 0
    if holds_result(body):
        return True
    words = RefusedError(RpcCode.INVALID_REQUEST, str(body.get("message") or body.get("error")))
    if words.says_unknown:
        return None
    if isinstance(status, str) and status.upper() in START_STATUSES:
        return START_STATUSES[status.upper()]
    return read_acceptance(body) if "status" not in body else None


def repair_order_answer(body: Body) -> Iterator[Deviation]:
    """Read the answer to START_MATCH, an addition of ours: other words are no deviation."""
    if holds_result(body):
        result = body.get("result")
        body["result"] = _build_result(body, result if isinstance(result, dict) else {})
        body["status"] = "ACCEPTED"
        yield Deviation(rules.RESULT_IN_ANSWER, "the answer to the order is the result")
    elif body.get("status") not in ("ACCEPTED", "REJECTED"):
        body["status"] = "ACCEPTED" if read_start_status(body) else "REJECTED"


_WINNER_FIELDS = ("winner", "winner_id", "winner_player_id")
_NUMBER_FIELDS = ("drawn_number", "number", "dice_roll", "random_number", "number_drawn", "roll")
_CHOICES_FIELDS = ("choices", "player_choices", "moves")
_STATUS_FIELDS = ("status", "match_status", "outcome")
_SEATS = ("1", "2", "_a", "_b", "_A", "_B")
_DRAW_WORDS = {"", "DRAW", "TIE", "NONE", "NULL"}
_NO_CHOICE_WORDS = {"", "NONE", "NULL", "ERROR", "TIMEOUT", "N/A"}
_WIN_WORDS, _TECHNICAL = {"WIN", "WON", "WINNER"}, "TECHNICAL_LOSS"
_NOT_PLAYED_WORDS = {"CANCELLED", "CANCELED", "ABORTED", "NOT_PLAYED", "VOID", "FAILED"}
_WIN_POINTS: Final = 3


def holds_result(body: Mapping[str, Json]) -> bool:
    """Whether an answer tells how a match ended: who won, and what was played."""
    result = body.get("result")
    places = (result, body) if isinstance(result, dict) else (body,)
    facts = {*_NUMBER_FIELDS, *_CHOICES_FIELDS, "score", "is_draw", "player1_choice", "details"}
    return any({*_WINNER_FIELDS} & place.keys() and facts & place.keys() for place in places)


def repair_report(body: Body) -> Iterator[Deviation]:
    """Write the result of a third-party referee as the protocol does.

    Without a winner it stays as it is.
    """
    _read_echo(body)
    raw_result = body.get("result")
    result: Body = dict(raw_result) if isinstance(raw_result, dict) else {}
    winner = _find_winner(result) or _find_winner(body)
    if winner is None:
        return
    is_whole = {"winner", "score", "details"} <= result.keys() and not _is_cancelled(result)
    has_context = {"league_id", "round_id", "game_type"} <= body.keys()
    if not is_whole or not has_context or result["winner"] != winner[0]:
        body["result"] = _build_result(body, result)
        keys = [key for key in (*_WINNER_FIELDS, "players") if key in body]
        form = f"result with {', '.join(sorted(result))}"
        outside = f"{', '.join(keys)} beside the envelope"
        got = form if isinstance(raw_result, dict) else outside
        yield Deviation(rules.REPORT_FORM, got[:80])
    body.setdefault("round_id", guess_round(str(body.get("match_id"))))
    body.setdefault("league_id", UNSTATED)
    body.setdefault("game_type", UNSTATED)


def _read_echo(body: Body) -> None:
    """Take the ticket out of a round that our order wrote as `R1~TICKET`."""
    head, echo, ticket = str(body.get("round_id")).partition(ECHO)
    if echo:
        body["round_id"] = read_round(head) or guess_round(str(body.get("match_id")))
        body.setdefault("ticket", ticket)


def _find_winner(body: Mapping[str, Json]) -> tuple[str | None] | None:
    """Return who won, in a tuple, (None,) if nobody did; None if *body* does not say."""
    for key in _WINNER_FIELDS:
        if key in body:
            winner = body[key]
            is_draw = winner is None or str(winner).upper() in _DRAW_WORDS
            return (None,) if is_draw else (str(winner),)
    players = body.get("players")
    if isinstance(players, dict) and players:
        winners = [who for who, outcome in players.items() if _has_won(outcome)]
        return (winners[0] if len(winners) == 1 else None,)
    return None


def _has_won(outcome: Json) -> bool:
    facts = [outcome]
    if isinstance(outcome, dict):
        facts = [outcome.get(key) for key in ("outcome", "result", "status", "score", "points")]
    return any(
        fact == _WIN_POINTS or (isinstance(fact, str) and fact.upper() in _WIN_WORDS)
        for fact in facts
    )


def _build_result(body: Mapping[str, Json], result: Mapping[str, Json]) -> Body:
    """Return a result with the fields of the protocol, each from wherever it is."""
    places = [result.get("details"), result, body]
    score = _find_first(places, ("score",))
    counts = score.items() if isinstance(score, dict) else ()
    found = _find_winner(result) or _find_winner(body)
    winner = found[0] if found else None
    details = result.get("details")
    return {
        "winner": winner,
        "score": {who: n for who, n in counts if type(n) is int and n >= 0},
        "details": {**(details if isinstance(details, dict) else {}), **_find_details(places)},
        **_describe_ending(places, winner),
    }


def _describe_ending(places: Iterable[Json], winner: str | None) -> Body:
    """Return the fields that say why a match was not played to its end; none if it was."""
    known = [place for place in places if isinstance(place, dict)]
    if any(map(_is_cancelled, known)) and winner is None:
        return {"termination": Termination.NOT_PLAYED}
    choices = _find_details(known).get("choices") or {}
    silent = [who for who, choice in choices.items() if choice is None]
    if winner is None and len(silent) == 1 and len(choices) > 1:
        other = next(who for who in choices if who not in silent)
        return {"winner": other, "status": _TECHNICAL, "technical_losses": silent}
    is_technical = any(place.get(key) == _TECHNICAL for place in known for key in _STATUS_FIELDS)
    return {"status": _TECHNICAL} if is_technical else {}


def _is_cancelled(place: Mapping[str, Json]) -> bool:
    return any(str(place.get(key)).upper() in _NOT_PLAYED_WORDS for key in _STATUS_FIELDS)


def _find_details(places: Iterable[Json]) -> Body:
    """Return the number, the choices and the reason of a match, each if it is in any of *places*."""
    known = [place for place in places if isinstance(place, dict)]
    number, reason = _find_first(known, _NUMBER_FIELDS), _find_first(known, ("reason",))
    choices = next(filter(None, map(_find_choices, known)), None)
    is_given = any({*_CHOICES_FIELDS} & place.keys() for place in known)
    found = {
        "drawn_number": number if type(number) is int else None,
        "choices": {} if choices is None and is_given else choices,
        "reason": reason if isinstance(reason, str) else None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _find_choices(place: Mapping[str, Json]) -> Body | None:
    by_player = _find_first([place], _CHOICES_FIELDS)
    if isinstance(by_player, dict):
        return {who: _read_choice(choice) for who, choice in by_player.items()}
    by_seat = {
        str(who): _read_choice(place.get(f"player{seat}_choice"))
        for seat in _SEATS
        if f"player{seat}_choice" in place
        and (who := place.get(f"player{seat}_id") or place.get(f"player{seat}"))
    }
    return by_seat or None


def _read_choice(choice: Json) -> Json:
    return None if choice is None or str(choice).upper() in _NO_CHOICE_WORDS else choice


def _find_first(places: Iterable[Json], keys: Iterable[str]) -> Json:
    """Return the first value of one of *keys* in *places*; None if there is none."""
    known = [place for place in places if isinstance(place, dict)]
    return next((place[key] for place in known for key in keys if key in place), None)
