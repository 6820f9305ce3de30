"""The transcript of a match: every message, with its time, so that it can be replayed."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache

import msgspec
from msgspec import Raw

from agent_league.clock import Clock, format_exact_time
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.strict_json import HIDDEN

MAX_PART_BYTES = 8_000
"""Bytes of transcript in one message, which may be 10 KB long as a whole."""

_SECRET = re.compile(rb'("(?:auth_token|ticket)"\s*:\s*)"(?:[^"\\]|\\.)*"')
_HIDDEN_TOKEN = b'"auth_token":' + HIDDEN
MAX_ENTRY_BYTES, EXCERPT_BYTES = 7_800, 500
"""A message up to this length is kept whole; of a longer one, an excerpt."""
MAX_WHOLE_BYTES = 400_000
"""From so many bytes of transcript on, excerpts of all longer messages: every call shows the whole game."""


class Transcript:
    """The entries of one match, in the order in which they happened."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: list[bytes] = []
        self._length = 0
        self._limit = MAX_ENTRY_BYTES

    def add(self, route: bytes, key: bytes, body: bytes) -> bytes:
        """Write down what happened now, and return the entry."""
        if len(body) > self._limit:  # a long message must not keep a match from being reported
            shown = body[:EXCERPT_BYTES].decode(errors="replace")
            key, body = b"cut", msgspec.json.encode(f"{shown}... ({len(body)} bytes)")
        entry = b'{"at":"%b",%b,"%b":%b}' % (_encode_time(self._clock()), route, key, body)
        self._entries.append(entry)
        self._length += len(entry)
        if self._length >= MAX_WHOLE_BYTES:
            self._limit = EXCERPT_BYTES
        return entry

    def remove(self, entry: bytes) -> None:
        """Remove an *entry* about something that did not happen."""
        self._entries.remove(entry)
        self._length -= len(entry)

    def parts(self, reserved: int = 0) -> Sequence[list[Raw]]:
        """Return the entries in parts that fit in a message each; at least one, maybe empty.

        The last part leaves room for *reserved* bytes of something else.
        """
        if self._length + reserved <= MAX_PART_BYTES:  # as of nearly every match
            return [list(map(Raw, self._entries))]
        parts: list[list[Raw]] = [[]]
        length = 0
        for entry in self._entries:
            if length + len(entry) > MAX_PART_BYTES and parts[-1]:
                parts.append([])
                length = 0
            parts[-1].append(Raw(entry))
            length += len(entry)
        return [*parts, []] if length + reserved > MAX_PART_BYTES and parts[-1] else parts

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._entries)


@lru_cache(maxsize=16)  # several messages are written in one millisecond
def _encode_time(moment: datetime) -> bytes:
    return format_exact_time(moment).encode()


class TranscriptWriter:
    """Records the messages between the referee and one player."""

    def __init__(self, transcript: Transcript, referee: str, player: str, ticket: str) -> None:
        self._transcript = transcript
        self._ticket = msgspec.json.encode(ticket)
        one, other = msgspec.json.encode(referee), msgspec.json.encode(player)
        self._out = b'"from":%b,"to":%b' % (one, other)
        self._back = b'"from":%b,"to":%b' % (other, one)

    def record_sent(self, body: bytes) -> bytes:
        return self._transcript.add(self._out, b"message", body.replace(self._ticket, HIDDEN))

    def forget_sent(self, entry: bytes) -> None:
        self._transcript.remove(entry)

    def record_received(self, body: bytes | Raw) -> None:
        text = bytes(body).replace(self._ticket, HIDDEN)
        secrets = text.count(b'"auth_token"') + text.count(b'"ticket"')
        if secrets != text.count(_HIDDEN_TOKEN):  # a player may send even its own token
            text = _SECRET.sub(rb"\1" + HIDDEN, text)
        self._transcript.add(self._back, b"message", text)

    def record_error(self, error: NoAnswerError) -> None:
        text = msgspec.json.encode(f"{error.code} {str(error)[:300]}")
        self._transcript.add(self._back, b"error", text)
