"""The record of a league as lines of JSON: what anybody may have, to verify the league.

The first line is the league itself, every other one an event with its link of the hash chain.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import NamedTuple, TypeVar

import msgspec

from agent_league.store.chain import Line
from agent_league.store.errors import StoreError
from agent_league.store.store import Store

T = TypeVar("T")

CONTENT_TYPE = "application/x-ndjson"


class Opening(NamedTuple):
    """The league of a record."""

    league_id: str
    opened_at: str
    settings: str
    """As JSON, without what is private."""


async def write_record(store: Store, league_id: str) -> AsyncIterator[bytes]:
    """Yield the record of a league, line by line."""
    yield _encode(Opening(league_id, *await store.opening(league_id)))
    async for recorded in store.record(league_id):
        yield _encode(recorded.line)


def _encode(fields: tuple[object, ...]) -> bytes:
    """Return one line; it is plain ASCII, so that a terminal can show what a stranger wrote."""
    return json.dumps(fields).encode() + b"\n"


def read_record(lines: Iterable[bytes]) -> tuple[Opening, Iterator[Line]]:
    """Return the league of a record, and its events, or raise `StoreError`."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    for number, line in numbered:
        return _decode(line, number, Opening), (_decode(one, n, Line) for n, one in numbered)
    raise StoreError("the record is empty")


def _decode(line: bytes, number: int, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"line {number} of the record is damaged: {error}") from error
