"""Events as rows, and rows as events, whatever version wrote them."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Union

import msgspec

from agent_league.store import events
from agent_league.store.events import Event
from agent_league.store.log import Stored, StoreError
from agent_league.vocabulary import Json


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
    """Return what a row holds, or raise `StoreError` if a newer program wrote it."""
    declared = KINDS.get(kind)
    if declared is None or version > declared.schema:
        raise StoreError(f"event {seq} ({kind}, version {version}) is from a newer agent-league")
    if version == declared.schema:
        return Stored(seq, _any_event.decode(body))
    return Stored(seq, _upgraded(kind, version, msgspec.json.decode(body)))


def _upgraded(kind: str, version: int, body: dict[str, Any]) -> Event:
    for older in range(version, KINDS[kind].schema):
        body = UPGRADES[kind, older](body)
    return msgspec.convert({**body, "event": kind}, KINDS[kind])


def transcript(stored: Stored) -> str:
    return _encode(stored.transcript).decode()
