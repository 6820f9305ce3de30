"""A wire that says with each message to which trace it belongs (`traceparent`).

It is put around another wire where somebody wants traces. Without it a call costs nothing more:
heads that do not change need no parser (`known_heads.py`), and this header always changes.
"""

from collections import Counter
from collections.abc import Awaitable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from agent_league.http.exchange import Answer, Wire
from agent_league.protocol.tracing import make_span_id, make_trace_id, make_traceparent

MOST_TRACES = 1024
"""How many matches at once have their messages counted."""


class TraceableWire(Wire, Protocol):
    """A wire that can send a `traceparent` with a body."""

    def post_traced(
        self, url: str, body: bytes, within: float, traceparent: str
    ) -> Awaitable[Answer]: ...


class _Message(Struct, frozen=True):
    message_type: str = ""
    league_id: str | None = None
    match_id: str | None = None
    conversation_id: str | None = None


class _Call(Struct):
    params: _Message = _Message()


_calls = msgspec.json.Decoder(_Call)


class TracedWire:
    """Sends what *wire* sends, with a `traceparent`."""

    def __init__(self, wire: TraceableWire) -> None:
        self._wire = wire
        self.get, self.reaches, self.listens = wire.get, wire.reaches, wire.listens
        self.exchange = wire.exchange
        self._league_id = ""
        """The league of messages that do not name theirs: the last that was named."""
        self._counts: dict[str, Counter[tuple[str, str]]] = {}

    def post(self, url: str, body: bytes, within: float) -> Awaitable[Answer]:
        """Return the answer to *body*, as the wire does."""
        try:
            traceparent = self._trace(url, _calls.decode(body).params)
        except msgspec.DecodeError:  # a form of third parties
            traceparent = None
        if traceparent is None:
            return self._wire.post(url, body, within)
        return self._wire.post_traced(url, body, within, traceparent)

    def trace(self, url: str, message: Any) -> str | None:
        """Return the `traceparent` of *message*, which goes to *url* in other words; None if it has none."""
        try:
            return self._trace(url, msgspec.convert(message, _Message))
        except msgspec.ValidationError:
            return None

    def _trace(self, url: str, message: _Message) -> str | None:
        self._league_id = message.league_id or self._league_id
        subject = message.match_id or message.conversation_id
        if subject is None:
            return None
        trace_id = make_trace_id(self._league_id, subject)
        counts = self._counts.setdefault(trace_id, Counter())
        if len(self._counts) > MOST_TRACES:
            del self._counts[next(iter(self._counts))]
        kind = message.message_type
        counts[url, kind] += 1
        return make_traceparent(trace_id, make_span_id(trace_id, url, kind, counts[url, kind]))
