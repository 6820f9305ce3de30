"""Results as third-party referees tell them: in a report, or in the answer to an order."""

from collections.abc import Iterator, Mapping

from agent_league.dialects.v2.words import Body, guess_round, read_acceptance
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

START_STATUSES: Mapping[str, bool] = {
    **dict.fromkeys(("ACCEPTED", "STARTED", "ASSIGNED", "RUNNING", "IN_PROGRESS"), True),
    **dict.fromkeys(("REJECTED", "REFUSED", "BUSY", "ERROR", "FAILED"), False),
}
"""The answers of referees to an order, and whether they accept; no other answer says anything."""


def read_start_status(body: Mapping[str, Json]) -> bool | None:
    """Return whether a referee takes a match; None if its answer does not say."""
    status = body.get("status")
    if isinstance(status, str) and status.upper() in START_STATUSES:
        return START_STATUSES[status.upper()]
    return read_acceptance(body) if "status" not in body else None


def repair_order_answer(body: Body) -> Iterator[Deviation]:
    """Read the answer to START_MATCH, an addition of ours: other words are no deviation."""
    if body.get("status") not in ("ACCEPTED", "REJECTED"):
        body["status"] = "ACCEPTED" if read_start_status(body) else "REJECTED"
    yield from ()


_WINNER_FIELDS = ("winner", "winner_id", "winner_player_id")
_DRAW_WORDS = {"", "DRAW", "TIE", "NONE", "NULL"}
_WIN_WORDS, _TECHNICAL = {"WIN", "WON", "WINNER"}, "TECHNICAL_LOSS"
_WIN_POINTS = 3


def repair_report(body: Body) -> Iterator[Deviation]:
    """Write the result of a third-party referee as the protocol does: only the winner counts.

    Without a winner it stays as it is.
    """
    raw_result = body.get("result")
    result: Body = dict(raw_result) if isinstance(raw_result, dict) else {}
    winner = _find_winner(result) or _find_winner(body)
    if winner is None:
        return
    is_whole = {"winner", "score", "details"} <= result.keys()
    has_context = {"league_id", "round_id", "game_type"} <= body.keys()
    if not is_whole or not has_context or result["winner"] != winner[0]:
        body["result"] = {**_build_result(body, result), "winner": winner[0]}
        keys = [key for key in (*_WINNER_FIELDS, "players") if key in body]
        form = f"result with {', '.join(sorted(result))}"
        outside = f"{', '.join(keys)} beside the envelope"
        got = form if isinstance(raw_result, dict) else outside
        yield Deviation(rules.REPORT_FORM, got[:80])
    body.setdefault("round_id", guess_round(str(body.get("match_id"))))
    body.setdefault("league_id", UNSTATED)
    body.setdefault("game_type", UNSTATED)


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
    score, details = result.get("score"), result.get("details")
    status = result.get("status", body.get("status"))
    extra = {key: body[key] for key in ("drawn_number", "choices", "reason") if key in body}
    counts = score.items() if isinstance(score, dict) else ()
    return {
        "score": {who: n for who, n in counts if type(n) is int and n >= 0},
        "details": details if isinstance(details, dict) else extra,
        **({"status": _TECHNICAL} if status == _TECHNICAL else {}),
    }
