"""Small cures: a message with a habit goes in, the message that was meant comes out."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

import msgspec
from msgspec import inspect

from agent_league.dialects import reports, rules
from agent_league.dialects.rules import Deviation
from agent_league.protocol import MESSAGES, Message, Role, name
from agent_league.protocol.fields import UTC_PATTERN
from agent_league.protocol.play import JoinAck, ParityReply, ResultReport
from agent_league.protocol.queries import Query
from agent_league.protocol.reading import SECRETS
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.vocabulary import Json

Body: TypeAlias = dict[str, Json]
Cure: TypeAlias = Callable[[Body], Iterator[Deviation]]
"""Mends a body in place, and says what it mended."""

SHOWN = 80


def shown(said: Json) -> str:
    """Show what came, short and without secrets."""
    try:
        text = msgspec.json.encode(_masked(said)).decode()
    except RecursionError:
        return "something too deep to be shown"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _masked(said: Json) -> Json:
    if isinstance(said, dict):
        return {key: "***" if key in SECRETS else _masked(one) for key, one in said.items()}
    return [_masked(one) for one in said] if isinstance(said, list) else said


def mended(kind: type[Message], body: Body, now: str) -> tuple[Body, list[Deviation]]:
    """Return *body*, which means a *kind*, without its habits, and what those were."""
    cured = dict(body)
    found = [
        *_type_case(kind, cured),
        *_sender(kind, cured),
        *_times(kind, cured, now),
        *CURES.get(kind, _healthy)(cured),
        *_nulls(kind, cured),
    ]
    return cured, found


def _healthy(body: Body) -> Iterator[Deviation]:
    yield from ()


def kind_of(said: Json) -> type[Message] | None:
    """Return the kind of message that *said* names, in whatever case."""
    return MESSAGES.get(said.upper()) if isinstance(said, str) else None


def _type_case(kind: type[Message], body: Body) -> Iterator[Deviation]:
    said = body.get("message_type")
    if isinstance(said, str) and said != name(kind):
        yield Deviation(rules.MESSAGE_TYPE_CASE, shown(said))
    body["message_type"] = name(kind)


_SENDER = re.compile(r"(league_manager(:.+)?|(referee|player):.+)", re.DOTALL)
_ROLES: Mapping[str, Role] = {
    "player": Role.PLAYER,
    "players": Role.PLAYER,
    "referee": Role.REFEREE,
    "referees": Role.REFEREE,
    "league_manager": Role.LEAGUE,
    "league": Role.LEAGUE,
    "manager": Role.LEAGUE,
}
_APPLICATIONS: Mapping[type[Message], str] = {
    RegisterPlayer: "player_meta",
    RegisterReferee: "referee_meta",
}


def _sender(kind: type[Message], body: Body) -> Iterator[Deviation]:
    said = body.get("sender")
    if said is None and kind in _APPLICATIONS:
        meta = body.get(_APPLICATIONS[kind])
        called = meta.get("display_name") if isinstance(meta, dict) else None
        body["sender"] = _as_sender(kind, str(called or "unnamed")[:60])
        yield Deviation(rules.SENDER_MISSING, "no sender")
    elif isinstance(said, str) and said and not _SENDER.fullmatch(said):
        body["sender"] = _as_sender(kind, said)
        yield Deviation(rules.SENDER_FORM, shown(said))


def _as_sender(kind: type[Message], said: str) -> str:
    """Return the sender that *said* means; one without a role has that of who says a *kind*."""
    head, colon, tail = said.partition(":")
    role = _ROLES.get(head.strip().lower()) if colon else None
    if role is None:
        role, tail = kind.route.sender[0], said
    return str(Role.LEAGUE) if role is Role.LEAGUE else f"{role}:{tail.strip() or 'unnamed'}"


_TIMES = ("timestamp", "arrival_timestamp", "deadline")
_UTC = re.compile(UTC_PATTERN)
_TWO_ZONES = re.compile(r"\+00:00Z$")
_COMPACT = re.compile(r"^(\d{4})-?(\d\d)-?(\d\d)T(\d\d)(\d\d)(\d\d)(?=[.Z+])")


def _times(kind: type[Message], body: Body, now: str) -> Iterator[Deviation]:
    if body.get("timestamp") is None and kind in _APPLICATIONS:
        body["timestamp"] = now
        yield Deviation(rules.TIMESTAMP_MISSING, "no timestamp")
    for key in _TIMES:
        said = body.get(key)
        if isinstance(said, str) and not _UTC.match(said):
            meant = _COMPACT.sub(r"\1-\2-\3T\4:\5:\6", _TWO_ZONES.sub("Z", said))
            if _UTC.match(meant):
                body[key] = meant
                yield Deviation(rules.TIMESTAMP_FORM, shown(said))


def _nulls(kind: type[Message], body: Body) -> Iterator[Deviation]:
    """Leave out what is null although it may only be left out."""
    struct = inspect.type_info(kind)
    if isinstance(struct, inspect.StructType):
        yield from _nulls_in(struct, body)


def _nulls_in(struct: inspect.StructType, body: Body) -> Iterator[Deviation]:
    for field in struct.fields:
        if field.encode_name not in body:
            continue
        said, inner = body[field.encode_name], _below(field.type)
        if said is None and not field.required and not _nullable(field.type):
            del body[field.encode_name]
            yield Deviation(rules.NULL_FIELD, f"{field.encode_name}: null")
        elif isinstance(said, dict) and isinstance(inner, inspect.StructType):
            body[field.encode_name] = copied = dict(said)
            yield from _nulls_in(inner, copied)


def _below(kind: inspect.Type) -> inspect.Type:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    return kind


def _nullable(kind: inspect.Type) -> bool:
    inner = _below(kind)
    if isinstance(inner, inspect.UnionType):
        return any(isinstance(_below(one), inspect.NoneType) for one in inner.types)
    return isinstance(inner, (inspect.NoneType, inspect.AnyType))


_YES = {"ACCEPTED", "ACCEPT", "JOINED", "READY", "CONFIRMED"}
_NO = {"REJECTED", "REJECT", "DECLINED", "DECLINE", "REFUSED"}


def accepts(body: Mapping[str, Json]) -> bool | None:
    """Return what *body* says in other words than `accept`, None if it says neither."""
    for key in ("accepted", "success", "joined"):
        if isinstance(body.get(key), bool):
            return bool(body[key])
    status = body.get("status")
    word = status.upper() if isinstance(status, str) else ""
    return True if word in _YES else False if word in _NO else None


def _accept(body: Body) -> Iterator[Deviation]:
    if "accept" not in body and (meant := accepts(body)) is not None:
        body["accept"] = meant
        words = ("accepted", "success", "joined", "status")
        yield Deviation(rules.ACCEPT_FIELD, shown({k: body[k] for k in words if k in body}))


CHOICES = ("choice", "parity", "move")


def _choice(body: Body) -> Iterator[Deviation]:
    other = [key for key in CHOICES if isinstance(body.get(key), str)]
    if "parity_choice" not in body and other:
        body["parity_choice"] = body[other[0]]
        yield Deviation(rules.CHOICE_FIELD, shown({other[0]: body[other[0]]}))


_QUESTIONS = ("GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS")


def _question(body: Body) -> Iterator[Deviation]:
    """Read what a referee that asks for its matches may call that."""
    said = body.get("query_type")
    got = {key: body.get(key) for key in ("query_type", "query_params")}
    wrong = [
        *(["query_type"] if isinstance(said, str) and said not in _QUESTIONS else []),
        *(["query_params"] if body.get("query_params") is None else []),
    ]
    asks_for_matches = isinstance(said, str) and re.search("MATCH|ASSIGN", said.upper())
    if "query_type" in wrong and not asks_for_matches:
        return
    if wrong:
        body["query_type"] = "GET_NEXT_MATCH" if "query_type" in wrong else said
        body["query_params"] = body.get("query_params") or {}
        yield Deviation(rules.QUERY_FORM, shown(got))
    body.setdefault("league_id", "unstated")


CURES: Mapping[type[Message], Cure] = MappingProxyType(
    {JoinAck: _accept, ParityReply: _choice, Query: _question, ResultReport: reports.cure}
)
"""What is mended in one kind of message only."""
