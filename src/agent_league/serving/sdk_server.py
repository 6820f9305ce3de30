"""The SDK's server for one agent. Importing this imports the SDK; only `sdk_app` does so, when needed."""

from typing import Any

from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

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


class McpServer:
    """Serves an agent to clients of both eras of MCP: with a session, and without one."""

    def __init__(self, served: Served, body_limit: int) -> None:
        self.subscriptions = Subscriptions(served.offer.change_listeners)
        manager = StreamableHTTPSessionManager(
            _build_server(served, self.subscriptions),
            stateless=False,
            json_response=False,  # a stream, so that a slow tool can report progress
            # The site has already checked Host and Origin.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=body_limit,
            max_sessions=2 * _MAX_SESSIONS,
        )
        handle_request: Any = manager.handle_request  # starlette's names for the same types
        self.run = manager.run
        """Serves during a context, which one task must enter and leave."""
        self.handle = Sessions(handle_request, _MAX_SESSIONS).handle


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
