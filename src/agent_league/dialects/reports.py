"""The ways in which strangers report a result: what counts is who won."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_league.dialects import rules
from agent_league.dialects.rules import Deviation
from agent_league.vocabulary import Json

_WINNERS = ("winner", "winner_id", "winner_player_id")
_NOBODY = {"", "DRAW", "TIE", "NONE", "NULL"}
_WINS, _TECHNICAL = {"WIN", "WON", "WINNER"}, "TECHNICAL_LOSS"
_WIN = 3


def cure(body: dict[str, Json]) -> Iterator[Deviation]:
    """Write the result in *body* as the protocol does; a body that tells no winner is left alone."""
    given = body.get("result")
    result: dict[str, Json] = dict(given) if isinstance(given, dict) else {}
    told = _winner(result) or _winner(body)
    if told is None:
        return
    if not _right(body, result):
        body["result"] = {**_written(body, result), "winner": told[0]}
        yield Deviation(rules.REPORT_FORM, _form(body, given))
    found = re.match(r"R([1-9]\d{0,8})M", str(body.get("match_id")))
    body.setdefault("round_id", int(found[1]) if found else 1)
    body.setdefault("league_id", "unstated")
    body.setdefault("game_type", "unstated")


def _right(body: Mapping[str, Json], result: Mapping[str, Json]) -> bool:
    whole = {"winner", "score", "details"} <= result.keys()
    named = result.get("winner") is None or isinstance(result.get("winner"), str)
    stated = {"league_id", "round_id", "game_type"} <= body.keys()
    drawn = isinstance(result.get("winner"), str) and result["winner"].upper() in _NOBODY
    return whole and named and stated and not drawn


def _winner(said: Mapping[str, Json]) -> tuple[str | None] | None:
    """Return who won, in a tuple, (None,) if nobody did; None if *said* does not tell."""
    for key in _WINNERS:
        if key in said:
            won = said[key]
            nobody = won is None or str(won).upper() in _NOBODY
            return (None,) if nobody else (str(won),)
    players = said.get("players")
    if isinstance(players, dict) and players:
        winners = [who for who, how in players.items() if _won(how)]
        return (winners[0] if len(winners) == 1 else None,)
    return None


def _won(how: Json) -> bool:
    if isinstance(how, dict):
        words = [how.get(key) for key in ("outcome", "result", "status")]
        points = [how.get(key) for key in ("score", "points")]
        return any(_is_win(word) for word in words) or _WIN in points
    return _is_win(how) or how == _WIN


def _is_win(word: Any) -> bool:
    return isinstance(word, str) and word.upper() in _WINS


def _written(body: Mapping[str, Json], result: Mapping[str, Json]) -> dict[str, Json]:
    score, details = result.get("score"), result.get("details")
    status = result.get("status", body.get("status"))
    kept = {key: body[key] for key in ("drawn_number", "choices", "reason") if key in body}
    return {
        "score": _counts(score) if isinstance(score, dict) else {},
        "details": details if isinstance(details, dict) else kept,
        **({"status": _TECHNICAL} if status == _TECHNICAL else {}),
    }


def _counts(score: Mapping[str, Json]) -> dict[str, int]:
    return {who: n for who, n in score.items() if type(n) is int and n >= 0}


def contradiction(winner: str | None, score: Mapping[str, Json]) -> Iterator[Deviation]:
    """Say when the points do not follow from the winner; nobody counts them."""
    if not score:
        return
    most = max(map(_number, score.values()))
    best = [who for who, points in score.items() if _number(points) == most]
    follows = len(best) == len(score) if winner is None else best == [winner]
    if not follows:
        yield Deviation(rules.REPORT_SCORE, f"winner {winner}, score {dict(score)}"[:80])


def _number(said: Json) -> float:
    return said if isinstance(said, (int, float)) else -1.0


def _form(body: Mapping[str, Json], given: Json) -> str:
    if isinstance(given, dict):
        return f"result with {', '.join(sorted(given))}"[:80]
    found = [key for key in (*_WINNERS, "players") if key in body]
    return f"{', '.join(found)} beside the envelope"[:80]
