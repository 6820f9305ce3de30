"""The tools of an agent, as the SDK lists and calls them."""

from collections.abc import Mapping
from inspect import isawaitable
from typing import Any, TypeAlias

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from agent_league.mcp.offer import Offer
from agent_league.mcp.signs import MODERN, bearer
from agent_league.mcp.tools import Caller, InputNeededError, Schema, ToolCard
from agent_league.protocol import ErrorCode, ProtocolError, name
from agent_league.vocabulary import Json

Context: TypeAlias = ServerRequestContext[Any, Any]
Called: TypeAlias = types.CallToolResult | types.InputRequiredResult

_MOST_QUESTIONS = 20
"""How many forms a person can be handed during one call."""


class Calls:
    """Hands calls to the cards, and their results back as MCP wants them."""

    def __init__(self, offer: Offer) -> None:
        self._tools, self._complain = offer.tools, offer.complain
        self._limit = offer.message_limit
        self._listed = [_listed(card) for card in offer.tools.values()]

    def input_schema(self, tool: str) -> Schema | None:
        card = self._tools.get(tool)
        return card.input_schema if card else None

    async def list(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._listed)

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Called:
        """Return what a tool answers; a league error is a result that says so, for the model."""
        card = self._tools.get(params.name)
        if card is None:
            raise MCPError(types.INVALID_PARAMS, f"no tool is called {params.name[:60]!r}")
        answers = _remembered(params.request_state) | {
            key: response.model_dump(mode="json", by_alias=True, exclude_none=True)
            for key, response in (params.input_responses or {}).items()
        }
        try:
            self._weigh(card, params.arguments)
            return await self._called(card, params.arguments or {}, ctx, answers)
        except ProtocolError as error:
            return _said(self._complain(error), wrong=True)

    def _weigh(self, card: ToolCard, arguments: Mapping[str, Any] | None) -> None:
        """Raise `ProtocolError` for a message that is too long in either dialect."""
        if card.message is not None and len(msgspec.json.encode(arguments)) > self._limit:
            detail = "the message is longer than allowed"
            raise ProtocolError(ErrorCode.MESSAGE_TOO_LARGE, detail, about=name(card.message))

    async def _called(
        self, card: ToolCard, arguments: Mapping[str, Any], ctx: Context, answers: dict[str, Json]
    ) -> Called:
        """Call until no form is left to fill in; in the newer era, the client calls again."""
        for _ in range(_MOST_QUESTIONS):
            try:
                return await _result(card, arguments, ctx, answers)
            except InputNeededError as needed:
                _check_person(ctx)
                if ctx.protocol_version == MODERN:
                    return types.InputRequiredResult(
                        input_requests={needed.key: _form(needed)},
                        request_state=msgspec.json.encode(answers).decode(),
                    )
                answers = {**answers, needed.key: await _filled_in(ctx, needed)}
        raise MCPError(types.INTERNAL_ERROR, f"{card.name} asks without end")


def _remembered(state: str | None) -> dict[str, Json]:
    """Return what was answered in earlier rounds; the state came back sealed, as we wrote it."""
    try:
        return msgspec.json.decode(state or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return {}  # a tool that keeps its own state


async def _result(
    card: ToolCard, arguments: Mapping[str, Any], ctx: Context, answers: Mapping[str, Json]
) -> Called:
    caller = Caller(
        token=bearer(ctx.request.headers.get("authorization")) if ctx.request else None,
        progress=ctx.session.report_progress,
        answers=answers,
        context=ctx,
    )
    result: Any = card.call(dict(arguments), caller)
    if isawaitable(result):
        result = await result
    if isinstance(result, types.CallToolResult | types.InputRequiredResult):
        return result
    return _said(result)


def _said(result: Any, *, wrong: bool = False) -> types.CallToolResult:
    text = msgspec.json.encode(result)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text.decode())],
        structured_content=msgspec.json.decode(text),
        is_error=wrong,
    )


def _check_person(ctx: Context) -> None:
    wanted = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    if not ctx.session.check_client_capability(wanted):
        needed = wanted.model_dump(mode="json", by_alias=True, exclude_none=True)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this tool asks a person, and the client does not offer elicitation",
            data={"requiredCapabilities": needed},
        )


def _form(needed: InputNeededError) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(
        message=needed.message, requested_schema=dict(needed.schema)
    )
    return types.ElicitRequest(params=params)


async def _filled_in(ctx: Context, needed: InputNeededError) -> dict[str, Any]:
    answer = await ctx.session.elicit_form(needed.message, dict(needed.schema), ctx.request_id)
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


def _listed(card: ToolCard) -> types.Tool:
    return types.Tool(
        name=card.name,
        title=card.title,
        description=card.description,
        input_schema=dict(card.input_schema),
        output_schema=dict(card.output_schema) if card.output_schema else None,
        annotations=types.ToolAnnotations(
            title=card.title,
            read_only_hint=card.read_only,
            idempotent_hint=card.idempotent or card.read_only,
            destructive_hint=card.destructive,
            open_world_hint=False,
        ),
    )
