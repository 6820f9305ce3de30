"""Avoids parsing the same head again and again.

A client sends the same headers with every request, and a server with every answer; only the
length of the body changes. A message with a head that the parser has accepted, but for the length
at its end, and with a body of just that length, needs no parser. All else goes to the parser, so
nothing is accepted that it would refuse.
"""

from typing import Generic, TypeVar

_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length"
MAX_HEADS = 1024
LONGEST_HEAD = 2048

Meaning = TypeVar("Meaning")


class KnownHeads(Generic[Meaning]):
    """The heads of whole messages that the parser has accepted, for all connections of an agent."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[Meaning, int]] = {}
        """What each head means, and the length of the body after it."""
        self._meanings: dict[bytes, Meaning] = {}
        """What each head means, without the length at its end."""

    def learn(self, message: bytes, meaning: Meaning) -> None:
        """Remember the head of *message*, which the parser has accepted as one whole message."""
        head, _, body = message.partition(_END)
        start, _, length = head.rpartition(b": ")
        if not start.lower().endswith(_LENGTH) or length != b"%d" % len(body):
            return
        if len(head) <= LONGEST_HEAD:
            _make_room(self._meanings)
            self._meanings[start] = meaning

    def clear(self) -> None:
        """Forget all heads, because some mean something else from now on."""
        self._known.clear()
        self._meanings.clear()

    def find(self, message: bytes) -> tuple[Meaning, bytes] | None:
        """Return the meaning and the body of *message* if its head is known and it is whole."""
        head, _, body = message.partition(_END)
        known = self._known.get(head)
        if known is not None and known[1] == len(body):
            return known[0], body
        return self._find_other_length(head, body)

    def _find_other_length(self, head: bytes, body: bytes) -> tuple[Meaning, bytes] | None:
        start, _, length = head.rpartition(b": ")
        meaning = self._meanings.get(start)
        # Compared as text: a number of any length in *head* costs nothing.
        if meaning is None or length != b"%d" % len(body):
            return None
        _make_room(self._known)
        self._known[head] = meaning, len(body)
        return meaning, body


def _make_room(heads: dict[bytes, Meaning]) -> None:
    """Forget all *heads* if strangers have sent too many different ones."""
    if len(heads) >= MAX_HEADS:
        heads.clear()
