"""Avoids parsing the same head again and again.

A client sends the same headers with every request on a connection; only the length of the body
changes. A message that begins with the very bytes that the parser accepted before, and is whole,
needs no parser. All else goes to the parser, so nothing is accepted that it would refuse.
"""

_LENGTH = b"content-length: "
_END = b"\r\n\r\n"
_END_LENGTH = len(_END)


class HeadCache:
    """The head of the last message on a connection, if it ends with the content-length."""

    def __init__(self) -> None:
        self._prefix: bytes | None = None

    def learn(self, message: bytes) -> None:
        """Remember the head of *message*, which the parser has accepted as one whole message."""
        last_line = message.rfind(b"\n", 0, message.find(_END)) + 1
        length_at = last_line + len(_LENGTH)
        has_length = message[last_line:length_at].lower() == _LENGTH
        self._prefix = message[:length_at] if has_length else None
        if self.find_body(message) is None:
            self._prefix = None

    def find_body(self, message: bytes) -> bytes | None:
        """Return the body of *message* if its head is known and all of it is there."""
        prefix = self._prefix
        if prefix is None or not message.startswith(prefix):
            return None
        start = len(prefix)
        end = message.find(_END, start)
        body = message[end + _END_LENGTH :]
        # Compared as text: a number of any length in *message* costs nothing.
        return body if end > 0 and message[start:end] == b"%d" % len(body) else None
