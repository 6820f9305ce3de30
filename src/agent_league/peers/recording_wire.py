"""A wire that also tells what is sent over it."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from agent_league.http.exchange import Answer, HttpRequest, Response, Wire

OnSent: TypeAlias = Callable[[str, bytes], None]
"""Called with an address and a body."""


class RecordingWire:
    """A wire that reports everything that is sent."""

    def __init__(self, wire: Wire, on_sent: OnSent) -> None:
        self._wire, self._on_sent = wire, on_sent
        self.get, self.reaches, self.listens = wire.get, wire.reaches, wire.listens
        self.trace = getattr(wire, "trace", None)

    def post(self, url: str, body: bytes, within: float) -> Awaitable[Answer]:
        self._on_sent(url, body)
        return self._wire.post(url, body, within)

    def exchange(self, url: str, http_request: HttpRequest, within: float) -> Awaitable[Response]:
        self._on_sent(url, http_request.body)
        return self._wire.exchange(url, http_request, within)
