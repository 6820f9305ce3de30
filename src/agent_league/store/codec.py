"""Events as rows, and rows as events, whatever version wrote them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, Union

import msgspec

from agent_league.store import events, schema
from agent_league.store.events import Event
from agent_league.store.log import Stored, StoreError
from agent_league.vocabulary import Json

Statement: TypeAlias = tuple[str, Sequence[Any]]
"""SQL, and its parameters."""
Rows: TypeAlias = Mapping[str, Sequence[Sequence[Any]]]
"""What goes into one transaction: the rows for each statement."""


def _declared() -> Iterator[type[Event]]:
    for kind in vars(events).values():
        if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event:
            yield kind


KINDS: Mapping[str, type[Event]] = MappingProxyType(
    {str(kind.__struct_config__.tag): kind for kind in _declared()}
)
"""Every kind of event, by the name it is stored under."""

UPGRADES: Mapping[tuple[str, int], Callable[[dict[str, Json]], dict[str, Json]]] = MappingProxyType(
    {}
)
"""How the body of an event, as a version wrote it, becomes that of the next version."""

_encode = msgspec.json.Encoder().encode
_any_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(
    Union[tuple(KINDS.values())]  # noqa: UP007 - built at run time
)


class EventRow(NamedTuple):
    """An event as it stands in the table, after the league's id."""

    seq: int
    at: str
    kind: str
    version: int
    match_id: str | None
    once: str | None
    body: str


def statements(league_id: str, kept: Iterable[Stored]) -> list[Statement]:
    """Return what writes events down, or raise `StoreError` if one cannot be written."""
    return [statement for stored in kept for statement in _statements(league_id, stored)]


def _statements(league_id: str, kept: Stored) -> list[Statement]:
    try:
        said: list[Statement] = [(schema.INSERT_EVENT, (league_id, *row(kept)))]
        match_id = getattr(kept.event, "match_id", None)
        if kept.transcript and match_id:
            told = (league_id, match_id, _encode(kept.transcript).decode())
            said.append((schema.INSERT_TRANSCRIPT, told))
    except (TypeError, ValueError) as error:  # an object, or half a character
        raise StoreError(f"event {kept.seq} cannot be written down: {error}") from error
    return said


def grouped(statements: Iterable[Statement]) -> Rows:
    """Return the rows for each statement, in their order."""
    rows: dict[str, list[Sequence[Any]]] = {}
    for sql, parameters in statements:
        rows.setdefault(sql, []).append(parameters)
    return rows


def row(stored: Stored) -> EventRow:
    event = stored.event
    return EventRow(
        stored.seq,
        event.at,
        str(type(event).__struct_config__.tag),
        event.schema,
        getattr(event, "match_id", None),
        event.once,
        _encode(event).decode(),
    )


def stored(seq: int, kind: str, version: int, body: str) -> Stored:
    """Return what a row holds, or raise `StoreError` if this program cannot read it."""
    declared = KINDS.get(kind)
    if declared is None or version > declared.schema:
        raise StoreError(f"event {seq} ({kind}, version {version}) is from a newer agent-league")
    try:
        return Stored(seq, _read(kind, version, body))
    except (msgspec.DecodeError, KeyError) as error:
        raise StoreError(f"event {seq} ({kind}, version {version}) is damaged: {error}") from error


def _read(kind: str, version: int, body: str) -> Event:
    if version == KINDS[kind].schema:
        return _any_event.decode(body)
    return _upgraded(kind, version, msgspec.json.decode(body))


def _upgraded(kind: str, version: int, body: dict[str, Any]) -> Event:
    for older in range(version, KINDS[kind].schema):
        body = UPGRADES[kind, older](body)
    return msgspec.convert({**body, "event": kind}, KINDS[kind])
