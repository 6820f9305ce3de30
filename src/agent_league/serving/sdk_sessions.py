"""The sessions that MCP clients of the older revisions open, within a limit.

The SDK keeps a session for half an hour after its last request, and refuses new ones at its limit:
a thousand requests would lock everybody out. Here a new session takes the place of an idle one.
"""

from dataclasses import dataclass
from itertools import count

from agent_league.http.site import MCP, AsgiApp, Event, Receive, Scope, Send
from agent_league.serving.header_hints import MODERN

_SESSION = b"mcp-session-id"
_VERSION = b"mcp-protocol-version"
_LAST_EVENT = b"last-event-id"
_FIRST_ERROR, _NOT_FOUND = 400, 404


@dataclass(eq=False)
class _Session:
    last_used: int
    """The number of the request that used it last."""
    requests: int = 0
    in_progress: int = 0

    @property
    def worth(self) -> tuple[bool, int]:
        """What to keep: sessions in which more was asked than to open it, then the latest."""
        return self.requests > 1, self.last_used


class Sessions:
    """Passes requests to *app*, and keeps at most *limit* of the sessions that it opens."""

    def __init__(self, app: AsgiApp, limit: int) -> None:
        self._app, self._limit = app, limit
        self._numbers = count()
        self._sessions: dict[bytes, _Session] = {}
        self._opening = 0

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        # No events are kept, so a lost stream begins anew; the SDK would give no answer at all.
        headers = [pair for pair in scope["headers"] if pair[0] != _LAST_EVENT]
        scope = {**scope, "headers": headers}
        values = dict(headers)
        session_id = values.get(_SESSION)
        if values.get(_VERSION) == MODERN.encode():  # this revision has no sessions
            await self._app(scope, receive, send)
        elif session_id is None:
            await self._open(scope, receive, send)
        else:
            await self._use(session_id, scope, receive, send)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_and_learn(event: Event) -> None:
            session_id = dict(event.get("headers", ())).get(_SESSION)
            if session_id is not None and event["status"] < _FIRST_ERROR:
                self._sessions[session_id] = _Session(next(self._numbers))
            await send(event)

        self._opening += 1
        try:
            await self._make_room()
            await self._app(scope, receive, send_and_learn)
        finally:
            self._opening -= 1

    async def _use(self, session_id: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        session = self._sessions.get(session_id, _Session(next(self._numbers)))
        session.requests += 1
        session.in_progress += 1

        async def send_and_learn(event: Event) -> None:
            is_gone = scope["method"] == "DELETE" or event.get("status") == _NOT_FOUND
            if is_gone:
                self._sessions.pop(session_id, None)
            await send(event)

        try:
            await self._app(scope, receive, send_and_learn)
        finally:
            session.in_progress -= 1
            session.last_used = next(self._numbers)

    async def _make_room(self) -> None:
        while len(self._sessions) + self._opening > self._limit:
            idle = [key for key, session in self._sessions.items() if not session.in_progress]
            if not idle:
                return
            oldest = min(idle, key=lambda key: self._sessions[key].worth)
            del self._sessions[oldest]
            await self._end(oldest)

    async def _end(self, session_id: bytes) -> None:
        """End a session as its client would."""

        async def receive() -> Event:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(event: Event) -> None:
            """Drop the answer."""

        headers = [(_SESSION, session_id), (b"host", b"localhost")]
        scope = {"type": "http", "method": "DELETE", "path": MCP, "query_string": b""}
        await self._app({**scope, "headers": headers}, receive, send)
