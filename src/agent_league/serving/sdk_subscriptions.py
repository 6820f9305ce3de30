"""Tells MCP clients of changed resources, in the way of each era."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from agent_league.offer import ChangeListeners
from agent_league.serving.sdk_tools import Context

_MAX_SUBSCRIBERS = 1024


class Subscriptions:
    """Notifies subscribers of changed resources; each era of MCP has a channel of its own."""

    def __init__(self, change_listeners: ChangeListeners) -> None:
        self._change_listeners = change_listeners
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=_MAX_SUBSCRIBERS)
        self._sessions: OrderedDict[str, dict[str, ServerSession]] = OrderedDict()
        self._changed: set[str] = set()
        self._wake = asyncio.Event()

    async def subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        watched = self._sessions.setdefault(_session_id(ctx), {})
        watched[str(params.uri)] = ctx.session
        if len(self._sessions) > _MAX_SUBSCRIBERS:
            self._sessions.popitem(last=False)
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._sessions.get(_session_id(ctx), {}).pop(str(params.uri), None)
        return types.EmptyResult()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Notify subscribers during a context."""
        task = asyncio.ensure_future(self._publish_changes())
        self._change_listeners.append(self._mark_changed)
        try:
            yield
        finally:
            self._change_listeners.remove(self._mark_changed)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _mark_changed(self, uri: str) -> None:
        self._changed.add(uri)
        self._wake.set()

    async def _publish_changes(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            changed, self._changed = self._changed, set()
            for uri in sorted(changed):  # a change during this loop is notified in the next
                await self._bus.publish(ResourceUpdated(uri=uri))
                await self._notify_sessions(uri)

    async def _notify_sessions(self, uri: str) -> None:
        for key, watched in list(self._sessions.items()):
            if uri not in watched:
                continue
            try:
                await watched[uri].send_resource_updated(uri)
            except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                self._sessions.pop(key, None)


def _session_id(ctx: Context) -> str:
    # Each request has another session object; the header is the same in all requests of a client.
    return str(ctx.request.headers.get("mcp-session-id")) if ctx.request else ""
