"""Details of a result that are too long for a message: compressed, as one text.

A message may be 10 KB long. The moves of a long match take more, and much less when compressed.
"""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping

import msgspec

from agent_league.vocabulary import Json

PACKED = "packed"
"""The field with what was packed: the base64 text of a zlib stream of a JSON object."""
LONGEST = 6_000
"""Bytes of details that go into a message as they are, and characters of a packed text."""
MAX_UNPACKED = 1 << 20
"""Bytes that a packed text may become: what somebody else packed cannot fill the memory."""


def pack_details(details: Mapping[str, Json], shown: Collection[str]) -> dict[str, Json] | None:
    """Return *details* with all but those *shown* packed, if they are long; None if they do not fit."""
    if len(msgspec.json.encode(details)) <= LONGEST:
        return dict(details)
    hidden = {name: value for name, value in details.items() if name not in shown}
    text = b64encode(zlib.compress(msgspec.json.encode(hidden))).decode()
    if len(text) > LONGEST:
        return None
    return {**{name: details[name] for name in shown if name in details}, PACKED: text}


def unpack_details(details: dict[str, Json]) -> dict[str, Json]:
    """Return *details* with what was packed, or raise `ValueError` if that cannot be read."""
    if PACKED not in details:
        return details
    shown = {name: value for name, value in details.items() if name != PACKED}
    return {**_unpack(details[PACKED]), **shown}


def _unpack(text: Json) -> dict[str, Json]:
    expected = f"details.{PACKED}: expected the base64 text of a zlib stream of a JSON object"
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(b64decode(text, validate=True), MAX_UNPACKED)
        found = msgspec.json.decode(data, type=dict[str, Json])
    except (ValueError, TypeError, zlib.error, RecursionError) as error:
        raise ValueError(f"{expected}: {error}") from None
    if not stream.eof:
        raise ValueError(f"{expected}, whole and not longer than {MAX_UNPACKED} bytes")
    return found
