"""Other ways to write the same message, for peers that do not read it as the protocol writes it."""

import re
from collections.abc import Callable, Mapping

import msgspec

from agent_league.dialects.dialect import Outgoing
from agent_league.protocol import Message, Role, name
from agent_league.protocol.error_messages import GameErrorMessage, LeagueErrorMessage
from agent_league.protocol.play import GameOver, Invitation, ParityCall, ResultReport
from agent_league.protocol.rounds import LeagueCompleted, RoundCompleted
from agent_league.vocabulary import Json

_encode = msgspec.json.Encoder().encode
_EXTENSION_FIELDS: Mapping[type[Message], frozenset[str]] = {
    LeagueErrorMessage: frozenset({"error_name", "detail", "retryable"}),
    GameErrorMessage: frozenset({"error_name", "detail", "retryable", "context"}),
    Invitation: frozenset({"commitment"}),
    LeagueCompleted: frozenset({"record_link"}),
    ResultReport: frozenset({"ticket", "transcript", "violations"}),
}
"""The fields that we add to those of the specification."""


def write_plain(outgoing: Outgoing) -> bytes:
    """Return a message like the examples: `league_manager:LM01`, no field of ours."""
    return _encode(_make_plain(outgoing))


def _make_plain(outgoing: Outgoing) -> Json:
    fields = msgspec.json.decode(outgoing.body)
    if fields.get("sender") == Role.LEAGUE:
        fields["sender"] = f"{Role.LEAGUE}:LM01"
    for key in _EXTENSION_FIELDS.get(outgoing.kind, ()):
        fields.pop(key, None)
    if outgoing.kind is GameOver:
        _drop_secret(fields["game_result"])
    return fields


def _drop_secret(result: Json) -> None:
    """Leave out the secret of a match, and the details if there are no others."""
    details = result.get("details") or {}
    details.pop("draw_secret", None)
    if not details:
        result.pop("details", None)


def write_rounds_as_text(outgoing: Outgoing) -> bytes:
    """Return a plain message whose rounds are "R1", with more fields that such peers ask for."""
    fields = _make_plain(outgoing)
    for place in (fields, fields.get("context")):
        for key in ("round_id", "next_round_id") if isinstance(place, dict) else ():
            if isinstance(place.get(key), int):
                place[key] = f"R{place[key]}"
    complete = _COMPLETIONS.get(outgoing.kind)
    if complete is not None:
        complete(fields, outgoing.get_extras() if outgoing.get_extras else {})
    return _encode(fields)


def _complete_round(fields: Json, extras: Mapping[str, Json]) -> None:
    fields["completed_matches"] = list(extras.get("completed_matches", ()))


def _complete_league(fields: Json, extras: Mapping[str, Json]) -> None:
    rows = {row["player_id"]: row for row in extras.get("standings", ())}

    def complete_row(row: Json) -> Json:
        known = rows.get(row["player_id"])
        draws = known["played"] - known["wins"] - known["losses"] if known else 0
        return {**known, "draws": draws, **row} if known else row

    fields["final_standings"] = [complete_row(row) for row in fields["final_standings"]]
    fields["champion"] = complete_row(fields["champion"])


def _complete_game(fields: Json, extras: Mapping[str, Json]) -> None:
    _drop_null_choices(fields["game_result"])


def _complete_report(fields: Json, extras: Mapping[str, Json]) -> None:
    """Write the result as GAME_OVER does, too, and the score beside it."""
    result = fields["result"]
    details = result.get("details") or {}
    number, winner = details.get("drawn_number"), result.get("winner")
    fields["score"] = result.get("score")
    fields["result"] = {
        **result,
        "status": "WIN" if winner else "DRAW",
        "winner_player_id": winner,
        "drawn_number": number,
        "number_parity": None if number is None else ("even", "odd")[number % 2],
        "choices": dict(details.get("choices") or {}),
        "reason": details.get("reason") or "completed",
    }
    _drop_null_choices(fields["result"])


def _drop_null_choices(result: Json) -> None:
    result["choices"] = {who: one for who, one in (result.get("choices") or {}).items() if one}


_COMPLETIONS: Mapping[type[Message], Callable[[Json, Mapping[str, Json]], None]] = {
    RoundCompleted: _complete_round,
    LeagueCompleted: _complete_league,
    GameOver: _complete_game,
    ResultReport: _complete_report,
}
_OBJECT_NAMES: Mapping[type[Message], tuple[str, ...]] = {
    Invitation: ("invitation",),
    ParityCall: ("parity_call", "parity_context"),
    GameOver: ("match_result",),
}
"""What third parties call the object that is the message, beside its message type."""


def write_nested(outgoing: Outgoing) -> bytes:
    """Return a plain message that is also in objects inside: `message`, and one of its own name."""
    fields = _make_plain(outgoing)
    kind = outgoing.kind
    names = ("message", name(kind).lower(), *_OBJECT_NAMES.get(kind, ()))
    return _encode({**dict.fromkeys(names, fields), **fields})


def swap_ids(one: str, other: str, body: bytes) -> bytes:
    """Return *body* with two ids exchanged, for a peer that uses another id than we gave it."""
    names = {one: other, other: one}

    def swap(text: str) -> str:
        head, colon, tail = text.partition(":")
        if colon and head in {Role.PLAYER, "players"} and tail in names:
            return f"{head}:{names[tail]}"
        return names.get(text, text)

    message = _map_texts(msgspec.json.decode(body), swap)
    result = message.get("game_result")
    if isinstance(result, dict) and isinstance(result.get("reason"), str):
        words = re.compile(rf"\b({re.escape(one)}|{re.escape(other)})\b")
        result["reason"] = words.sub(lambda found: names[found[0]], result["reason"])
    return _encode(message)


def _map_texts(node: Json, change: Callable[[str], str]) -> Json:
    """Return *node* with every text in it changed, also in keys."""
    if isinstance(node, str):
        return change(node)
    if isinstance(node, dict):
        return {change(key): _map_texts(value, change) for key, value in node.items()}
    return [_map_texts(item, change) for item in node] if isinstance(node, list) else node
