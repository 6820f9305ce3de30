"""The tools of an agent, as the SDK lists and calls them."""

from collections.abc import Mapping
from contextlib import suppress
from inspect import isawaitable
from typing import Any, TypeAlias

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from agent_league.offer import PERSON, Caller, InputNeededError, Schema, ToolCard
from agent_league.protocol import ErrorCode, ProtocolError, name
from agent_league.protocol.reading import find_conversation
from agent_league.serving.header_hints import MODERN, read_bearer
from agent_league.serving.tools import Served
from agent_league.vocabulary import Json

Context: TypeAlias = ServerRequestContext[Any, Any]
CallResult: TypeAlias = types.CallToolResult | types.InputRequiredResult

_ELICITATION = types.ClientCapabilities(elicitation=types.ElicitationCapability())
_MAX_QUESTIONS = 20
"""How many forms one call can ask a person to fill in."""


class ToolCalls:
    """Calls the tools of an agent, and returns their results in the form of MCP."""

    def __init__(self, served: Served) -> None:
        self._make_error = served.agent.make_error
        self._limit = served.agent.body_limit
        self._served = served
        self._described = {card.name: _describe_tool(card) for card in served.tools.values()}

    def input_schema(self, tool: str) -> Schema | None:
        card = self._served.find_tool(tool)
        return card.input_schema if card else None

    async def list(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return the tools for this caller; the others can be called all the same."""
        roles = self._served.offer.identify(_read_token(ctx))
        if ctx.session.check_client_capability(_ELICITATION):
            roles |= {PERSON}
        cards = self._served.list_for(roles)
        return types.ListToolsResult(tools=[self._described[card.name] for card in cards])

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> CallResult:
        """Return the result of a tool; for the model, an error of the league is a result too."""
        card = self._served.find_tool(params.name)
        if card is None:
            raise MCPError(types.INVALID_PARAMS, f"no tool is called {params.name[:60]!r}")
        # The league protocol refuses a message of that size too.
        if card.message is not None and len(msgspec.json.encode(params.arguments)) > self._limit:
            detail = "the message is longer than allowed"
            error = ProtocolError(ErrorCode.MESSAGE_TOO_LARGE, detail, about=name(card.message))
            return self._encode_error(error, params)
        try:
            return await _call_with_forms(card, params, ctx)
        except ProtocolError as error:
            return self._encode_error(error, params)

    def _encode_error(
        self, error: ProtocolError, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Return an error as text alone: many clients apply the output schema to an error too."""
        error.conversation_id = find_conversation(params.arguments)
        text = msgspec.json.encode(self._make_error(error)).decode()
        content = types.TextContent(type="text", text=text)
        return types.CallToolResult(content=[content], is_error=True)


async def _call_with_forms(
    card: ToolCard, params: types.CallToolRequestParams, ctx: Context
) -> CallResult:
    """Call until no form is left to fill in; a modern client gets the form and calls again."""
    answers = _read_answers(params)
    for _ in range(_MAX_QUESTIONS):
        try:
            return await _call_card(card, params, ctx, answers)
        except InputNeededError as needed:
            _require_elicitation(ctx)
            form, schema = needed.message, dict(needed.schema)
            if ctx.protocol_version == MODERN:
                form_params = types.ElicitRequestFormParams(message=form, requested_schema=schema)
                return types.InputRequiredResult(
                    input_requests={needed.key: types.ElicitRequest(params=form_params)},
                    request_state=msgspec.json.encode(answers).decode(),
                )
            answer = await ctx.session.elicit_form(form, schema, ctx.request_id)
            answers[needed.key] = _dump(answer)
    raise MCPError(types.INTERNAL_ERROR, f"{card.name} asked too many questions")


def _read_answers(params: types.CallToolRequestParams) -> dict[str, Json]:
    """Return what a person answered in this round of the call, and in those before."""
    answers: dict[str, Json] = {}
    with suppress(msgspec.DecodeError):  # a tool may keep a state of its own
        answers = msgspec.json.decode(params.request_state or "{}", type=dict[str, Any])
    return answers | {key: _dump(form) for key, form in (params.input_responses or {}).items()}


def _dump(model: BaseModel) -> dict[str, Json]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def _call_card(
    card: ToolCard,
    params: types.CallToolRequestParams,
    ctx: Context,
    answers: Mapping[str, Json],
) -> CallResult:
    caller = Caller(
        token=_read_token(ctx),
        progress=ctx.session.report_progress,
        answers=answers,
        tool=None if params.name == card.name else params.name,
        context=ctx,
    )
    result: Any = card.call(dict(params.arguments or {}), caller)
    if isawaitable(result):
        result = await result
    if isinstance(result, types.CallToolResult | types.InputRequiredResult):
        return result
    return _encode_result(result)


def _read_token(ctx: Context) -> str | None:
    return read_bearer(ctx.request.headers.get("authorization")) if ctx.request else None


def _encode_result(result: Any) -> types.CallToolResult:
    text = msgspec.json.encode(result)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text.decode())],
        structured_content=msgspec.json.decode(text),
    )


def _require_elicitation(ctx: Context) -> None:
    if not ctx.session.check_client_capability(_ELICITATION):
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this tool asks a person, and the client does not offer elicitation",
            data={"requiredCapabilities": _dump(_ELICITATION)},
        )


def _describe_tool(card: ToolCard) -> types.Tool:
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
