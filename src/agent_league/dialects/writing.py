"""How a right message is written for a peer that does not take every right message."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from agent_league.protocol import Message, Role
from agent_league.protocol.complaints import GameComplaint, LeagueComplaint
from agent_league.protocol.play import ResultReport
from agent_league.vocabulary import Json

_encode = msgspec.json.Encoder().encode
_FRACTION = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+(Z|\+00:00)")
_ADDED: Mapping[type[Message], frozenset[str]] = MappingProxyType(
    {
        LeagueComplaint: frozenset({"error_name", "detail", "retryable"}),
        GameComplaint: frozenset({"error_name", "detail", "retryable", "context"}),
        ResultReport: frozenset({"ticket", "transcript", "violations"}),
    }
)
"""The fields that we add to those of the documents."""


def as_it_is(kind: type[Message], body: bytes) -> bytes:
    return body


def plainly(kind: type[Message], body: bytes) -> bytes:
    """Write a message as the examples do: whole seconds, `league_manager:LM01`, no field of ours."""
    said = msgspec.json.decode(body)
    if said.get("sender") == Role.LEAGUE:
        said["sender"] = f"{Role.LEAGUE}:LM01"
    kept = {key: value for key, value in said.items() if key not in _ADDED.get(kind, ())}
    return _encode(_each(kept, lambda text: _FRACTION.sub(r"\1Z", text)))


def renamed(one: str, other: str, body: bytes) -> bytes:
    """Write *body* with two ids exchanged, so that a peer that insists on the other is called so."""
    names = {one: other, other: one}

    def name(text: str) -> str:
        head, colon, tail = text.partition(":")
        if colon and head in {Role.PLAYER, "players"} and tail in names:
            return f"{head}:{names[tail]}"
        return names.get(text, text)

    return _encode(_each(msgspec.json.decode(body), name))


def _each(said: Json, change: Callable[[str], str]) -> Json:
    """Return *said* with every text in it changed, those that are keys too."""
    if isinstance(said, str):
        return change(said)
    if isinstance(said, dict):
        return {change(key): _each(value, change) for key, value in said.items()}
    return [_each(one, change) for one in said] if isinstance(said, list) else said
