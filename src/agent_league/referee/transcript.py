"""What was said in a match, word for word, with the time: enough to see it all again."""

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw

from agent_league.clock import Clock, written
from agent_league.transport import NoAnswerError

ROOM = 8_000
"""How many bytes of it fit in one message, which may be 10 KB long with everything."""


_SECRET = re.compile(rb'("(?:auth_token|ticket)"\s*:\s*)"(?:[^"\\]|\\.)*"')
HIDDEN = b'"***"'
LONGEST, SHOWN = 7_800, 500
"""How long a message is kept whole, and how much is shown of a longer one."""


class Transcript:
    """The entries of one match, in the order in which they happened."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: list[bytes] = []

    def add(self, route: bytes, key: bytes, body: bytes) -> None:
        if len(body) > LONGEST:  # nobody keeps a match from being reported by talking too much
            shown = body[:SHOWN].decode(errors="replace")
            key, body = b"cut", msgspec.json.encode(f"{shown}... ({len(body)} bytes)")
        at = written(self._clock()).encode()
        self._entries.append(b'{"at":"%b",%b,"%b":%b}' % (at, route, key, body))

    def parts(self) -> Sequence[list[Raw]]:
        """Return the entries in parts that each fit in a message; at least one, perhaps empty."""
        parts: list[list[Raw]] = [[]]
        length = 0
        for entry in self._entries:
            if length + len(entry) > ROOM and parts[-1]:
                parts.append([])
                length = 0
            parts[-1].append(Raw(entry))
            length += len(entry)
        return parts

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._entries)


def _without_secrets(body: bytes) -> bytes:
    """Hide what a stranger may send: even its own token."""
    if b'"auth_token"' in body or b'"ticket"' in body:
        return _SECRET.sub(rb"\1" + HIDDEN, body)
    return body


class Stenographer:
    """Writes down what goes to and fro between the referee and one player."""

    def __init__(self, transcript: Transcript, referee: str, player: str, ticket: str) -> None:
        self._transcript = transcript
        self._ticket = msgspec.json.encode(ticket)
        one, other = msgspec.json.encode(referee), msgspec.json.encode(player)
        self._out = b'"from":%b,"to":%b' % (one, other)
        self._back = b'"from":%b,"to":%b' % (other, one)

    def sent(self, body: bytes) -> None:
        self._transcript.add(self._out, b"message", body.replace(self._ticket, HIDDEN))

    def heard(self, body: bytes | Raw) -> None:
        self._transcript.add(self._back, b"message", _without_secrets(bytes(body)))

    def missed(self, error: NoAnswerError) -> None:
        said = msgspec.json.encode(f"{error.code} {str(error)[:300]}")
        self._transcript.add(self._back, b"error", said)
