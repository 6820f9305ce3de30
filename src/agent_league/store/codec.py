"""Encodes events as rows, and decodes rows of every version."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, Union

import msgspec

from agent_league.protocol.message import name
from agent_league.store import schema
from agent_league.store.chain import Line, hash_text, make_link, publish_event
from agent_league.store.errors import StoreError
from agent_league.store.events import Event
from agent_league.store.log import StoredEvent
from agent_league.vocabulary import Json

Statement: TypeAlias = tuple[str, Sequence[Any]]
"""SQL and its parameters."""
Rows: TypeAlias = Mapping[str, Sequence[Sequence[Any]]]
"""The content of one transaction: the rows for each SQL statement."""

KINDS: Mapping[str, type[Event]] = MappingProxyType(
    {name(kind): kind for kind in Event.__subclasses__()}
)
"""The class of every event, by the name under which it is stored."""
_NAMES: Mapping[type[Event], str] = {kind: stored_as for stored_as, kind in KINDS.items()}

Upgrade: TypeAlias = Callable[[dict[str, Json]], dict[str, Json]]
UPGRADES: Mapping[tuple[str, int], Upgrade] = MappingProxyType({})
"""For each kind and version, the function that turns a body into that of the next version."""

_encode = msgspec.json.Encoder().encode
_any_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(
    Union[tuple(KINDS.values())]  # noqa: UP007 - built at run time
)


def make_statements(
    league_id: str, records: Iterable[StoredEvent], link: str
) -> tuple[list[Statement], str]:
    """Return the statements that write events after *link*, and the link of the last event.

    Raise `StoreError` if one cannot be written.
    """
    statements: list[Statement] = []
    for record in records:
        try:
            seq, at, kind, version, match_id, once, body = encode_row(record)
            messages = record.transcript or None
            if messages is not None:
                statements.append((schema.INSERT_TRANSCRIPT, (league_id, match_id, messages)))
            link = make_link(link, make_line(seq, kind, version, body, messages))
            row = league_id, seq, at, kind, version, match_id, once, link, body
            statements.append((schema.INSERT_EVENT, row))
        except (TypeError, ValueError) as error:  # a value that JSON lacks, or half a character
            raise StoreError(f"event {record.seq} cannot be written down: {error}") from error
    return statements, link


def make_line(
    seq: int, kind: str, version: int, body: str, messages: str | None, link: str | None = None
) -> Line:
    """Return the line of the record for an event as it is stored."""
    transcript = hash_text(messages) if messages is not None else None
    return Line(seq, kind, version, publish_event(body), transcript, link)


def group_rows(groups: Iterable[Sequence[Statement]]) -> Rows:
    """Return the rows for each SQL statement in any of the *groups*, in order."""
    rows: dict[str, list[Sequence[Any]]] = defaultdict(list)
    for statements in groups:
        for sql, parameters in statements:
            rows[sql].append(parameters)
    return rows


def encode_row(stored: StoredEvent) -> Sequence[Any]:
    """Return an event as a row of its table, in the order of the columns after the league's id."""
    event = stored.event
    return (
        stored.seq,
        event.at,
        _NAMES[type(event)],
        event.schema,
        getattr(event, "match_id", None),
        event.once,
        _encode(event).decode(),
    )


def decode_row(seq: int, kind: str, version: int, body: str) -> StoredEvent:
    """Return the event of a row, or raise `StoreError` if this program cannot read it."""
    event_class = KINDS.get(kind)
    if event_class is None or version > event_class.schema:
        raise StoreError(f"event {seq} ({kind}, version {version}) is from a newer agent-league")
    try:
        if version == event_class.schema:
            return StoredEvent(seq, _any_event.decode(body))
        fields = msgspec.json.decode(body)
        for older in range(version, event_class.schema):
            fields = UPGRADES[kind, older](fields)
        return StoredEvent(seq, msgspec.convert({**fields, "event": kind}, event_class))
    except (msgspec.DecodeError, KeyError) as error:
        raise StoreError(f"event {seq} ({kind}, version {version}) is damaged: {error}") from error
