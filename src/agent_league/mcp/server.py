"""The SDK's server for one agent. Importing this imports the SDK: only `door.py` does, when needed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from agent_league.mcp.calls import Calls
from agent_league.mcp.contents import Contents
from agent_league.mcp.offer import Offer
from agent_league.mcp.watchers import Watchers
from agent_league.transport.site import Receive, Scope, Send

_LISTED = CacheHint(ttl_ms=60_000, scope="public")
_READ = CacheHint(ttl_ms=0, scope="public")
_MOST_SESSIONS = 1000


class Served:
    """An offer, served in both eras of MCP."""

    def __init__(self, offer: Offer, body_limit: int) -> None:
        self._watchers = Watchers(offer.changes)
        self._manager = StreamableHTTPSessionManager(
            _server(offer, self._watchers),
            stateless=False,
            json_response=False,  # a tool that waits can then say how far it has come
            # The site has checked Host and Origin, for both dialects alike.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=body_limit,
            max_sessions=_MOST_SESSIONS,
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve for the time of a context; one task must enter and leave it."""
        async with self._manager.run(), self._watchers.run():
            yield

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        handle: Any = self._manager.handle_request  # starlette's names for the same types
        await handle(scope, receive, send)

    def hush(self) -> None:
        """End the streams on which nothing is asked and only changes are told."""
        self._watchers.listen.close()


def _server(offer: Offer, watchers: Watchers) -> Server[Any]:
    calls, contents = Calls(offer), Contents(offer)
    server: Server[Any] = Server(
        offer.name,
        version=offer.version,
        instructions=offer.instructions or None,
        cache_hints={
            "tools/list": _LISTED,
            "prompts/list": _LISTED,
            "resources/list": _LISTED,
            "resources/templates/list": _LISTED,
            "server/discover": _LISTED,
            "resources/read": _READ,
        },
        # Without it each call lists all tools first, to look for one header in one schema.
        get_tool_input_schema=calls.input_schema,
        on_list_tools=calls.list,
        on_call_tool=calls.call,
        on_list_resources=contents.list,
        on_list_resource_templates=contents.list_templates,
        on_read_resource=contents.read,
        on_subscribe_resource=watchers.subscribe,
        on_unsubscribe_resource=watchers.unsubscribe,
        on_subscriptions_listen=watchers.listen,
        on_list_prompts=contents.list_prompts,
        on_get_prompt=contents.get_prompt,
        on_completion=contents.complete,
    )
    # Instead of telemetry, which nobody here reads: what a client carries from one round of a
    # call to the next cannot be forged.
    sealed = RequestStateSecurity.ephemeral()
    server.middleware[:] = [RequestStateBoundary(sealed, default_audience=offer.name)]
    offer.extend(server)
    return server
