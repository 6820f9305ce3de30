"""What an answer says, read as a tolerant league reads it. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agent_league.dialects.v2.repairs import CHOICE_FIELDS
from agent_league.dialects.v2.replies import iter_places
from agent_league.protocol import RpcCode
from agent_league.protocol.requirements import Requirement
from agent_league.vocabulary import Json

ACK, MOVE = "GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"
ACCEPT_FIELDS = ("accept", "accepted")
REPLY_FIELDS: Mapping[str, tuple[str, ...]] = {
    ACK: ACCEPT_FIELDS,
    MOVE: ("parity_choice", *CHOICE_FIELDS),
}
"""The fields, with their synonyms, by which a reply without its message_type is recognised."""
TYPE_FIELDS = ("message_type", "type")
_NO_WORDS = frozenset({"ERROR", "FAILED", "FAILURE", "FAIL", "INVALID", "UNKNOWN"})
_TEXT_FIELDS = ("message", "error_description", "error", "reason", "detail", "details")
_CALL = r"(method|message[ _]type|message|tool|action|function|command)"
_UNKNOWN = re.compile(
    rf"(unknown|unsupported|unrecogni[sz]ed|no such) (mcp )?{_CALL}\b"
    rf"|\b{_CALL}\b[^.]{{0,60}}?(not found|unknown|not supported|not implemented|not recogni[sz]ed)",
    re.IGNORECASE,
)


class Found(NamedTuple):
    """A message in an answer, and the rule of play that its place in the answer breaks."""

    message: Json
    rule: Requirement | None


def find_message(frame: Json) -> Found | None:
    """Return the message in an answer without an error, wherever it is; None if there is none."""
    places = [Found(*place) for place in iter_places(frame) if isinstance(place[0], dict)]
    typed = (found for found in places if "message_type" in found.message)
    texts = places[1:] if places and isinstance(places[0].message.get("content"), list) else []
    return next(typed, next(iter([*texts, *places]), None))


def is_reply_of(message: Json, *kinds: str) -> bool:
    """Whether *message* is a reply of one of *kinds*, or has at least a field that only it has."""
    if not isinstance(message, dict):
        return False
    names = {str(message.get(key)).upper() for key in TYPE_FIELDS}
    fields = {key for kind in kinds for key in REPLY_FIELDS.get(kind, ())}
    return bool(names & set(kinds) or fields & message.keys())


def find_choice(message: Json) -> Json:
    """Return the choice in a reply, whichever field holds it; None if there is none."""
    fields = message if isinstance(message, dict) else {}
    return next((fields[key] for key in REPLY_FIELDS[MOVE] if fields.get(key) is not None), None)


def says_no(message: Json) -> bool:
    """Whether *message* says that something went wrong, in whatever words.

    An acknowledgement that repeats the message_type of an error says nothing of the kind.
    """
    if not isinstance(message, dict):
        return False
    status = str(message.get("status")).upper()
    is_error = str(message.get("message_type")).upper().endswith("ERROR")
    if is_error and ("error_code" in message or "status" not in message):
        return True
    return status in _NO_WORDS or (bool(message.get("error")) and "success" not in message)


def iter_texts(value: Json) -> Iterator[str]:
    """Yield what an error says in words."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        for key in _TEXT_FIELDS:
            yield from iter_texts(value.get(key))
        yield from iter_texts(value.get("data")) if isinstance(value.get("data"), str) else ()


def says_unknown(code: Json, text: str) -> bool:
    """Whether an error with *code* and *text* means that the call itself is not known."""
    return code == RpcCode.METHOD_NOT_FOUND or bool(_UNKNOWN.search(text))
