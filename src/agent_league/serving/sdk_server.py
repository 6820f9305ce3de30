"""The SDK's server for one agent. Importing this imports the SDK; only `sdk_app` does so, when needed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from agent_league.http.site import AsgiApp, Receive, Scope, Send
from agent_league.protocol.fields import SUPPORTED_VERSION
from agent_league.serving.sdk_resources import Contents
from agent_league.serving.sdk_sessions import Sessions
from agent_league.serving.sdk_subscriptions import Subscriptions
from agent_league.serving.sdk_tools import ToolCalls
from agent_league.serving.tools import Served

_LISTS = ("prompts/list", "resources/list", "resources/templates/list")
_CACHE_HINTS: dict[Any, CacheHint] = {
    **dict.fromkeys((*_LISTS, "server/discover"), CacheHint(ttl_ms=60_000, scope="public")),
    "tools/list": CacheHint(ttl_ms=60_000, scope="private"),  # it depends on the caller
    "resources/read": CacheHint(ttl_ms=0, scope="public"),
}
_MAX_SESSIONS = 1000
_STREAM = b"text/event-stream"
_SESSION_MARKS = frozenset({b"mcp-session-id", b"mcp-protocol-version"})


class McpServer:
    """Serves an agent to clients of both eras of MCP: with a session, and without one."""

    def __init__(self, served: Served, body_limit: int) -> None:
        self.subscriptions = Subscriptions(served.offer.change_listeners)
        server = _build_server(served, self.subscriptions)
        # A stream, so that a slow tool can report progress; JSON for who does not read streams.
        self._managers = [
            StreamableHTTPSessionManager(
                server,
                stateless=plain,
                json_response=plain,
                # The site has already checked Host and Origin.
                security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
                max_request_body_size=body_limit,
                max_sessions=2 * _MAX_SESSIONS,
            )
            for plain in (False, True)
        ]
        # starlette has names of its own for the same types
        streamed, plain = (cast("AsgiApp", manager.handle_request) for manager in self._managers)
        self._handle_plainly = plain
        self._handle_in_session = Sessions(streamed, _MAX_SESSIONS).handle

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve during a context, which one task must enter and leave."""
        streamed, plain = self._managers
        async with streamed.run(), plain.run():
            yield

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request: as JSON, if it has no session and cannot read a stream."""
        headers = dict(scope["headers"])
        reads_streams = _STREAM in headers.get(b"accept", b"")
        if scope["method"] != "POST" or reads_streams or not _SESSION_MARKS.isdisjoint(headers):
            await self._handle_in_session(scope, receive, send)
        else:
            accepting = {**headers, b"accept": b"application/json, " + _STREAM}
            await self._handle_plainly({**scope, "headers": [*accepting.items()]}, receive, send)


def _build_server(served: Served, subscriptions: Subscriptions) -> Server[Any]:
    calls, contents = ToolCalls(served), Contents(served.offer)
    server: Server[Any] = Server(
        served.name,
        version=SUPPORTED_VERSION,
        instructions=served.offer.instructions or None,
        cache_hints=_CACHE_HINTS,
        # Without it the SDK lists all tools before each call, to find one schema.
        get_tool_input_schema=calls.input_schema,
        on_list_tools=calls.list,
        on_call_tool=calls.call,
        on_list_resources=_always(contents.list_resources()),
        on_list_resource_templates=_always(contents.list_templates()),
        on_read_resource=contents.read,
        on_subscribe_resource=subscriptions.subscribe,
        on_unsubscribe_resource=subscriptions.unsubscribe,
        on_subscriptions_listen=subscriptions.listen,
        on_list_prompts=_always(contents.list_prompts()),
        on_get_prompt=contents.get_prompt,
        on_completion=contents.complete,
    )
    # This replaces the SDK's telemetry, which we do not use. It signs the state that a client
    # carries from one round of a call to the next.
    state_security = RequestStateSecurity.ephemeral()
    server.middleware[:] = [RequestStateBoundary(state_security, default_audience=served.name)]
    served.offer.extend(server)
    return server


def _always(result: Any) -> Any:
    """Return a handler that gives *result* to every request."""

    async def answer(ctx: Any, params: Any) -> Any:
        return result

    return answer
