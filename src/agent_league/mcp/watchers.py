"""Who wants to hear that a resource has changed, in either era of MCP."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from agent_league.mcp.calls import Context
from agent_league.mcp.offer import Changes

_MOST_SESSIONS = 1024


class Watchers:
    """Passes changes on: each era of MCP hears only its own channel."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=_MOST_SESSIONS)
        self._sessions: OrderedDict[str, dict[str, ServerSession]] = OrderedDict()
        self._changed: set[str] = set()
        self._wake = asyncio.Event()

    async def subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        watched = self._sessions.setdefault(_session_id(ctx), {})
        watched[str(params.uri)] = ctx.session
        if len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._sessions.get(_session_id(ctx), {}).pop(str(params.uri), None)
        return types.EmptyResult()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Pass on what changes for the time of a context."""
        passing_on = asyncio.ensure_future(self._pass_on())
        self._changes.listen(self._note)
        try:
            yield
        finally:
            self._changes.unlisten(self._note)
            passing_on.cancel()
            with suppress(asyncio.CancelledError):
                await passing_on

    def _note(self, uri: str) -> None:
        self._changed.add(uri)
        self._wake.set()

    async def _pass_on(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            changed, self._changed = self._changed, set()
            for uri in sorted(changed):  # what changes again meanwhile is told once more
                await self._bus.publish(ResourceUpdated(uri=uri))
                await self._tell_sessions(uri)

    async def _tell_sessions(self, uri: str) -> None:
        for key, watched in list(self._sessions.items()):
            if uri not in watched:
                continue
            try:
                await watched[uri].send_resource_updated(uri)
            except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                self._sessions.pop(key, None)


def _session_id(ctx: Context) -> str:
    # The session object is another one in each request; the client is the same in all of them.
    return str(ctx.request.headers.get("mcp-session-id")) if ctx.request else ""
