"""A head that was read once need not be read again.

Whoever keeps a connection says the same lines each time; only the length of the body changes.
What begins with the very bytes that a parser took before, and is whole, needs no parser. All else
goes to the parser, so nothing is taken that it would refuse.
"""

_LENGTH = b"content-length: "
_END = b"\r\n\r\n"


class FamiliarHead:
    """The head of the last message on a connection, up to the length that it ends with."""

    def __init__(self) -> None:
        self._before: bytes | None = None

    def learn(self, message: bytes) -> None:
        """Remember the head of *message*, which a parser has taken as one whole message."""
        last_line = message.rfind(b"\n", 0, message.find(_END)) + 1
        length_at = last_line + len(_LENGTH)
        same = message[last_line:length_at].lower() == _LENGTH
        self._before = message[:length_at] if same else None
        if self.body(message) is None:
            self._before = None

    def body(self, message: bytes) -> bytes | None:
        """Return the body of *message* if its head is familiar and all of it is there."""
        before = self._before
        if before is None or not message.startswith(before):
            return None
        end = message.find(_END, len(before))
        body = message[end + len(_END) :]
        # Compared as it is written: no number is read, however long a stranger makes it.
        return body if end > 0 and message[len(before) : end] == b"%d" % len(body) else None
