"""An answer that comes as a stream of events, as MCP servers may give it.

Every byte is looked at once, however finely a peer cuts what it sends.
"""

from collections.abc import Iterator

EVENT_STREAM = "text/event-stream"


class EventStream:
    """Takes the body of a `text/event-stream` in pieces, and yields the data of whole events."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of each event that ends in *piece*."""
        self._rest += piece
        if b"\n" not in piece and b"\r" not in piece:
            return
        *lines, self._rest = _lines(self._rest)
        for line in lines:
            content = line.rstrip(b"\r\n")
            if content.startswith(b"data:"):
                self._data.append(bytes(content[5:].removeprefix(b" ")))
            elif not content and self._data:
                data, self._data = self._data, []
                yield b"\n".join(data)


def _lines(text: bytearray) -> list[bytearray]:
    """Return the whole lines of *text*, and last what may still go on."""
    lines = text.splitlines(keepends=True)
    # A carriage return alone ends a line too, unless a line feed is about to follow it.
    if lines[-1].endswith(b"\n"):
        lines.append(bytearray())
    return lines
