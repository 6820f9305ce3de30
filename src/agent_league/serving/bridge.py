"""A league for MCP clients that start their servers: passes stdin and stdout on to the league.

Importing this imports the SDK.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from agent_league.offer import ChangeListeners
from agent_league.protocol.fields import SUPPORTED_VERSION
from agent_league.serving.header_hints import MODERN
from agent_league.serving.sdk_subscriptions import Subscriptions
from agent_league.serving.sdk_tools import CallResult, Context

CONNECT_TIMEOUT = 30.0
LISTEN_AGAIN = 1.0
"""Seconds until a stream of changes that has ended is opened again."""
CALL_TIMEOUT = 600.0
"""Seconds until a call without an answer is given up; tools that wait answer far sooner."""


async def _on_elicitation(context: Any, params: Any) -> types.ErrorData:
    """Show the league that this client supports forms; they come with results, not as requests."""
    return types.ErrorData(code=types.INVALID_REQUEST, message="forms come with results only")


async def _call_tool(
    league: Client, ctx: Context, params: types.CallToolRequestParams
) -> CallResult:
    """Call a tool of the league; if it asks a person, ask the person behind the client."""
    answers, state = params.input_responses, params.request_state
    while True:
        result: Any = await league.session.call_tool(
            params.name,
            params.arguments,
            progress_callback=ctx.session.report_progress,
            input_responses=answers,
            request_state=state,
            allow_input_required=True,
        )
        if ctx.protocol_version == MODERN or isinstance(result, types.CallToolResult):
            return result  # type: ignore[no-any-return]  # nothing else was allowed
        answers, state = await _elicit_answers(ctx, result), result.request_state


async def _elicit_answers(ctx: Context, required: types.InputRequiredResult) -> Any:
    """Return what the person answered, for a client that does not take forms as a result."""
    return {
        key: await ctx.session.elicit_form(
            form.params.message, form.params.requested_schema, ctx.request_id
        )
        for key, form in (required.input_requests or {}).items()
        if isinstance(form, types.ElicitRequest)
        and isinstance(form.params, types.ElicitRequestFormParams)
    }


def _forward_list(list_page: Callable[..., Awaitable[Any]]) -> Any:
    async def forward(ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        return await list_page(cursor=params.cursor if params else None)

    return forward


class Watcher:
    """Listens to the league for the resources that the client watches, each once."""

    def __init__(self, league: Client) -> None:
        self._league = league
        self._listeners: ChangeListeners = []
        self.subscriptions = Subscriptions(self._listeners)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        await self._watch([str(params.uri)])
        return await self.subscriptions.subscribe(ctx, params)

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        await self._watch(params.notifications.resource_subscriptions or ())
        return await self.subscriptions.listen(ctx, params)

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    async def _watch(self, uris: Iterable[str]) -> None:
        for uri in uris:
            if uri in self._tasks and not self._tasks[uri].done():
                continue
            is_listening = asyncio.Event()
            self._tasks[uri] = task = asyncio.ensure_future(self._follow(uri, is_listening))
            waiting = asyncio.ensure_future(is_listening.wait())
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()

    async def _follow(self, uri: str, is_listening: asyncio.Event) -> None:
        """Pass on every change of *uri* until the league is gone; a stream that ends is opened again."""
        with suppress(MCPError, TimeoutError):
            while True:
                with suppress(SubscriptionLost):
                    async with self._league.listen(resource_subscriptions=[uri]) as changes:
                        is_listening.set()
                        async for _ in changes:
                            self._notify(uri)
                await asyncio.sleep(LISTEN_AGAIN)
                self._notify(uri)  # it may have changed meanwhile

    def _notify(self, uri: str) -> None:
        for listener in self._listeners:
            listener(uri)


def _build_server(league: Client, watcher: Watcher) -> Server[Any]:
    async def complete(ctx: Context, params: types.CompleteRequestParams) -> Any:
        context = params.context.arguments if params.context else None
        argument = {"name": params.argument.name, "value": params.argument.value}
        return await league.complete(params.ref, argument, context)

    async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        return await league.read_resource(str(params.uri), cache_mode="bypass")

    async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        return await league.get_prompt(params.name, params.arguments)

    server: Server[Any] = Server(
        "agent-league bridge",
        version=SUPPORTED_VERSION,
        instructions=league.instructions,
        get_tool_input_schema=lambda name: None,
        on_list_tools=_forward_list(league.list_tools),
        on_call_tool=partial(_call_tool, league),
        on_list_resources=_forward_list(league.list_resources),
        on_list_resource_templates=_forward_list(league.list_resource_templates),
        on_read_resource=read_resource,
        on_list_prompts=_forward_list(league.list_prompts),
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_subscribe_resource=watcher.subscribe,
        on_unsubscribe_resource=watcher.subscriptions.unsubscribe,
        on_subscriptions_listen=watcher.listen,
    )
    server.middleware.clear()
    return server


async def bridge(url: str, headers: Mapping[str, str]) -> None:
    """Pass on everything that comes on stdin to the league at *url*, until stdin is closed.

    *headers* are sent with every request.
    """
    timeout = httpx2.Timeout(CONNECT_TIMEOUT, read=CALL_TIMEOUT)
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout) as http,
        Client(
            streamable_http_client(url, http_client=http),
            elicitation_callback=_on_elicitation,
            read_timeout_seconds=CALL_TIMEOUT,
        ) as league,
        stdio_server() as (incoming, outgoing),
    ):
        watcher = Watcher(league)
        server = _build_server(league, watcher)
        async with watcher.subscriptions.run():
            try:
                await server.run(incoming, outgoing, server.create_initialization_options())
            finally:
                watcher.close()
