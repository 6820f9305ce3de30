"""A league for clients that start their servers: MCP on stdin and stdout, handed on to its endpoint.

Importing this imports the SDK.
"""

from typing import Any, TypeAlias

import mcp_types as types
from mcp import Client
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server

from agent_league.mcp.signs import MODERN

Context: TypeAlias = ServerRequestContext[Any, Any]
Page: TypeAlias = types.PaginatedRequestParams | None
Called: TypeAlias = types.CallToolResult | types.InputRequiredResult

LONGEST_CALL = 600.0
"""Seconds after which a call that says nothing is given up; tools that wait answer far sooner."""


async def _offer_forms(context: Any, params: Any) -> types.ErrorData:
    """Let the league know that forms can be filled in: its results bring them, `_Across` asks."""
    return types.ErrorData(code=types.INVALID_REQUEST, message="forms come with results only")


class _Across:
    """Hands each request on to the league, and its answer back."""

    def __init__(self, league: Client) -> None:
        self._league = league

    async def list_tools(self, ctx: Context, params: Page) -> types.ListToolsResult:
        return await self._league.list_tools(cursor=_cursor(params))

    async def list_resources(self, ctx: Context, params: Page) -> types.ListResourcesResult:
        return await self._league.list_resources(cursor=_cursor(params))

    async def list_templates(self, ctx: Context, params: Page) -> types.ListResourceTemplatesResult:
        return await self._league.list_resource_templates(cursor=_cursor(params))

    async def list_prompts(self, ctx: Context, params: Page) -> types.ListPromptsResult:
        return await self._league.list_prompts(cursor=_cursor(params))

    async def read(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await self._league.read_resource(str(params.uri), cache_mode="bypass")

    async def prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        return await self._league.get_prompt(params.name, params.arguments)

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Called:
        """Call a tool of the league; what it asks a person, the client's person is asked."""
        answers, state = params.input_responses, params.request_state
        while True:
            result: Any = await self._league.session.call_tool(
                params.name,
                params.arguments,
                progress_callback=ctx.session.report_progress,
                input_responses=answers,
                request_state=state,
                allow_input_required=True,
            )
            if ctx.protocol_version == MODERN or isinstance(result, types.CallToolResult):
                return result  # type: ignore[no-any-return]  # nothing else was allowed
            answers, state = await _filled_in(ctx, result), result.request_state


async def _filled_in(ctx: Context, needed: types.InputRequiredResult) -> Any:
    """Return what the person answered, for a client that cannot be handed forms as a result."""
    return {
        key: await ctx.session.elicit_form(
            form.params.message, form.params.requested_schema, ctx.request_id
        )
        for key, form in (needed.input_requests or {}).items()
        if isinstance(form, types.ElicitRequest)
        and isinstance(form.params, types.ElicitRequestFormParams)
    }


def _cursor(params: Page) -> str | None:
    return params.cursor if params else None


def _server(league: Client) -> Server[Any]:
    across = _Across(league)
    server: Server[Any] = Server(
        "agent-league bridge",
        instructions=league.instructions,
        get_tool_input_schema=lambda name: None,
        on_list_tools=across.list_tools,
        on_call_tool=across.call,
        on_list_resources=across.list_resources,
        on_list_resource_templates=across.list_templates,
        on_read_resource=across.read,
        on_list_prompts=across.list_prompts,
        on_get_prompt=across.prompt,
    )
    server.middleware.clear()
    return server


async def bridge(url: str) -> None:
    """Hand on whatever comes on stdin to the league at *url*, until stdin is closed."""
    league = Client(url, elicitation_callback=_offer_forms, read_timeout_seconds=LONGEST_CALL)
    async with league, stdio_server() as (incoming, outgoing):
        server = _server(league)
        await server.run(incoming, outgoing, server.create_initialization_options())
