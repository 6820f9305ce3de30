"""Repairs of single messages: each turns one known deviation into what the protocol asks for."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, TypeAlias

import msgspec
from msgspec import inspect

from agent_league.dialects.v2 import report_forms
from agent_league.dialects.v2.words import Body, read_acceptance
from agent_league.protocol import MESSAGES, Message, Role, name, registration
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.explain import describe_type, mask_secrets
from agent_league.protocol.fields import UNSTATED, UTC_PATTERN
from agent_league.protocol.play import JoinAck, MatchAccepted, ParityReply, ResultReport
from agent_league.protocol.queries import Query
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

Repair: TypeAlias = Callable[[Body], Iterator[Deviation]]
"""Repairs a body in place, and yields the deviations that it repaired."""

PREVIEW_LENGTH = 80
UNREADABLE: Final = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What msgspec raises for bytes that are not JSON."""


def preview(value: Json) -> str:
    """Return *value* as JSON, short and without secrets."""
    try:
        text = msgspec.json.encode(mask_secrets(value)).decode()
    except RecursionError:
        return "a value that is nested too deeply"
    return text if len(text) <= PREVIEW_LENGTH else f"{text[: PREVIEW_LENGTH - 3]}..."


def parse_object(body: bytes) -> Body | None:
    """Return the JSON object in *body*; None if there is none."""
    try:
        content = msgspec.json.decode(body)
    except UNREADABLE:
        return None
    return content if isinstance(content, dict) else None


def repair(kind: type[Message], body: Body, now: str) -> tuple[Body, list[Deviation]]:
    """Return *body*, which means a *kind*, without its deviations, and these deviations."""
    result = {**body, "message_type": name(kind)}
    message_type, deviations = body.get("message_type"), list[Deviation]()
    if isinstance(message_type, str) and message_type != name(kind):
        deviations.append(Deviation(rules.MESSAGE_TYPE_CASE, preview(message_type)))
    deviations += _repair_sender(kind, result)
    deviations += _repair_times(kind, result, now)
    deviations += _repair_player(kind, result)
    if kind in REPAIRS:
        deviations += REPAIRS[kind](result)
    deviations += _remove_nulls(describe_type(kind), result)
    return result, deviations


def find_kind(message_type: Json) -> type[Message] | None:
    """Return the kind of message that *message_type* names, in upper or lower case."""
    return MESSAGES.get(message_type.upper()) if isinstance(message_type, str) else None


_SENDER = re.compile(r"(league_manager(:.+)?|(referee|player):.+)", re.DOTALL)
_ROLES: Mapping[str, Role] = {
    **{str(role): role for role in Role},
    "players": Role.PLAYER,
    "referees": Role.REFEREE,
    "league": Role.LEAGUE,
    "manager": Role.LEAGUE,
}
_META_FIELDS: Mapping[type[Message], str] = {
    registration.RegisterPlayer: "player_meta",
    registration.RegisterReferee: "referee_meta",
}


def _repair_sender(kind: type[Message], body: Body) -> Iterator[Deviation]:
    sender = body.get("sender")
    if sender is None and kind in _META_FIELDS:
        meta = body.get(_META_FIELDS[kind])
        display_name = meta.get("display_name") if isinstance(meta, dict) else None
        body["sender"] = _format_sender(kind, str(display_name or "unnamed")[:60])
        yield Deviation(rules.SENDER_MISSING, "no sender")
    elif isinstance(sender, str) and sender and not _SENDER.fullmatch(sender):
        body["sender"] = _format_sender(kind, sender)
        yield Deviation(rules.SENDER_FORM, preview(sender))


def _format_sender(kind: type[Message], sender: str) -> str:
    """Return *sender* as the protocol writes it; without a role, it has that of a *kind*'s sender."""
    head, colon, tail = sender.partition(":")
    role = _ROLES.get(head.strip().lower()) if colon else None
    if role is None:
        role, tail = kind.route.sender[0], sender
    return str(Role.LEAGUE) if role is Role.LEAGUE else f"{role}:{tail.strip() or 'unnamed'}"


def _repair_player(kind: type[Message], body: Body) -> Iterator[Deviation]:
    """Read from its sender whose reply it is that a player posts."""
    if kind in (JoinAck, ParityReply) and "player_id" not in body and "sender" in body:
        body["player_id"] = str(body["sender"]).rpartition(":")[2]
        yield Deviation(rules.FIELD_MISSING, "no player_id")


_TIME_FIELDS = ("timestamp", "arrival_timestamp", "deadline")
_UTC = re.compile(UTC_PATTERN)
_TWO_ZONES = re.compile(r"\+00:00Z$")
_COMPACT = re.compile(r"^(\d{4})-?(\d\d)-?(\d\d)T(\d\d)(\d\d)(\d\d)(?=[.Z+])")


def _repair_times(kind: type[Message], body: Body, now: str) -> Iterator[Deviation]:
    if body.get("timestamp") is None and kind in _META_FIELDS:
        body["timestamp"] = now
        yield Deviation(rules.TIMESTAMP_MISSING, "no timestamp")
    for key in _TIME_FIELDS:
        text = body.get(key)
        if isinstance(text, str) and not _UTC.match(text):
            candidate = _COMPACT.sub(r"\1-\2-\3T\4:\5:\6", _TWO_ZONES.sub("Z", text))
            if _UTC.match(candidate):
                body[key] = candidate
                yield Deviation(rules.TIMESTAMP_FORM, preview(text))


def read_as_utc(body: Body) -> Iterator[Deviation]:
    """Read times without a zone as UTC, which the documents demand everywhere."""
    for key in _TIME_FIELDS:
        text = body.get(key)
        if isinstance(text, str) and _UTC.match(f"{text}Z"):
            body[key] = f"{text}Z"
            yield Deviation(rules.TIMESTAMP_FORM, preview(text))


def _remove_nulls(struct: inspect.Type, body: Body) -> Iterator[Deviation]:
    """Remove fields that are null and may only be left out."""
    for field in struct.fields if isinstance(struct, inspect.StructType) else ():
        key, inner = field.encode_name, _strip_metadata(field.type)
        value = body.get(key)
        if value is None and key in body and not field.required and not _is_nullable(inner):
            del body[key]
            yield Deviation(rules.NULL_FIELD, f"{key}: null")
        elif isinstance(value, dict) and isinstance(inner, inspect.StructType):
            body[key] = copy = dict(value)
            yield from _remove_nulls(inner, copy)


def _strip_metadata(kind: inspect.Type) -> inspect.Type:
    return _strip_metadata(kind.type) if isinstance(kind, inspect.Metadata) else kind


def _is_nullable(kind: inspect.Type) -> bool:
    parts = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return any(isinstance(_strip_metadata(part), _NULLABLE_TYPES) for part in parts)


_NULLABLE_TYPES = (inspect.NoneType, inspect.AnyType)


def _repair_accept(body: Body) -> Iterator[Deviation]:
    if "accept" not in body and (accept := read_acceptance(body)) is not None:
        body["accept"] = accept
        keys = ("accepted", "success", "joined", "status")
        yield Deviation(rules.ACCEPT_FIELD, preview({k: body[k] for k in keys if k in body}))


CHOICE_FIELDS = ("choice", "parity", "move")


def _repair_choice(body: Body) -> Iterator[Deviation]:
    other_keys = [key for key in CHOICE_FIELDS if isinstance(body.get(key), str)]
    if "parity_choice" not in body and other_keys:
        body["parity_choice"] = body[other_keys[0]]
        yield Deviation(rules.CHOICE_FIELD, preview({other_keys[0]: body[other_keys[0]]}))


_QUERY_TYPES = ("GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS")


def _repair_query(body: Body) -> Iterator[Deviation]:
    """Read the query of a referee that asks for its matches, whatever it is called."""
    query_type, params = body.get("query_type"), body.get("query_params")
    has_other_name = isinstance(query_type, str) and query_type not in _QUERY_TYPES
    if has_other_name and not re.search("MATCH|ASSIGN", str(query_type).upper()):
        return
    if has_other_name or params is None:
        body["query_type"] = "GET_NEXT_MATCH" if has_other_name else query_type
        body["query_params"] = params or {}
        got = {"query_type": query_type, "query_params": params}
        yield Deviation(rules.QUERY_FORM, preview(got))
    body.setdefault("league_id", UNSTATED)


_ADMISSION_STATUSES = {"ACCEPTED", "REGISTERED", "OK", "SUCCESS", "CONFIRMED"}


def _repair_admission(key: str, body: Body) -> Iterator[Deviation]:
    """Read the status with which a third-party league admits an agent, and the id it gives."""
    status = body.get("status")
    body.setdefault(key, body.get("agent_id"))
    if status not in ("ACCEPTED", "REJECTED"):
        is_admitted = isinstance(status, str) and status.upper() in _ADMISSION_STATUSES
        body["status"] = "ACCEPTED" if is_admitted else "REJECTED"
        yield Deviation(rules.REGISTER_STATUS, preview({"status": status}))


REPAIRS: Mapping[type[Message], Repair] = {
    JoinAck: _repair_accept,
    ParityReply: _repair_choice,
    Query: _repair_query,
    ResultReport: report_forms.repair_report,
    MatchAccepted: report_forms.repair_order_answer,
    registration.PlayerRegistered: partial(_repair_admission, "player_id"),
    registration.RefereeRegistered: partial(_repair_admission, "referee_id"),
}
"""The repairs of one kind of message only."""
