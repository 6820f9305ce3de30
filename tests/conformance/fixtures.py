"""What the official conformance suite wants to find at a server, given as any tool of ours is."""

import asyncio
import base64
import json
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from agent_league.offer import Caller, InputNeededError, Prompt, Resource, ToolCard
from agent_league.vocabulary import Json


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    + _chunk(b"IEND", b"")
)
WAV = (
    b"RIFF"
    + struct.pack("<I", 38)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    + b"data"
    + struct.pack("<I", 2)
    + b"\x80\x80"
)
IMAGE = types.ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png")
AUDIO = types.AudioContent(type="audio", data=base64.b64encode(WAV).decode(), mime_type="audio/wav")
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
WAIT = 0.05
"""Seconds between two notifications, as the suite wants it."""


def text(reply: str) -> types.TextContent:
    return types.TextContent(type="text", text=reply)


def embedded(uri: str, mime: str, reply: str) -> types.EmbeddedResource:
    inner = types.TextResourceContents(uri=uri, mime_type=mime, text=reply)
    return types.EmbeddedResource(type="resource", resource=inner)


def result(*content: Any, wrong: bool = False) -> Any:
    return types.CallToolResult(content=list(content), is_error=wrong)


def card(name: str, call: Callable[[dict[str, Json], Caller], Any], **properties: Json) -> ToolCard:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolCard(
        name, f"A fixture of the suite: {name}.", call, schema, output_schema={}, slow=True
    )


def says(*content: Any, wrong: bool = False) -> Callable[[dict[str, Json], Caller], Any]:
    return lambda arguments, caller: result(*content, wrong=wrong)


# Notifications on the way.


async def _with_logging(arguments: dict[str, Json], caller: Caller) -> Any:
    for reply in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await caller.context.session.send_log_message(
            "info", reply, related_request_id=caller.context.request_id
        )
        await asyncio.sleep(WAIT)
    return result(text("logged"))


async def _with_progress(arguments: dict[str, Json], caller: Caller) -> Any:
    for done in (0, 50, 100):
        await caller.progress(done, 100, None)
        await asyncio.sleep(WAIT)
    return result(text("done"))


async def _reconnection(arguments: dict[str, Json], caller: Caller) -> Any:
    if caller.context.close_sse_stream is not None:
        await caller.context.close_sse_stream()
    await asyncio.sleep(2 * WAIT)
    return result(text("reconnected"))


# A person, or a model, behind the client.


def asks(key: str, message: str, schema: Json, notices: Callable[[Any], str]) -> Any:
    """Return a tool that asks once, by the same means that our own tools have."""

    def call(arguments: dict[str, Json], caller: Caller) -> Any:
        if key not in caller.answers:
            raise InputNeededError(key, arguments.get("message", message), schema)
        return result(text(notices(caller.answers[key])))

    return call


def _completed(answer: Any) -> str:
    return f"Elicitation completed: action={answer['action']}, content={json.dumps(answer.get('content'))}"


DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
TITLED = [
    {"const": f"value{n}", "title": f"{t} Option"} for n, t in enumerate(("First", "Second"), 1)
]
OPTIONS = ["option1", "option2", "option3"]
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}
CONTACT = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}


def elicit(message: str, schema: Json) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def sample(message: str, tokens: int = 100) -> types.CreateMessageRequest:
    reply = types.SamplingMessage(role="user", content=text(message))
    params = types.CreateMessageRequestParams(messages=[reply], max_tokens=tokens)
    return types.CreateMessageRequest(params=params)


async def _sampling(arguments: dict[str, Json], caller: Caller) -> Any:
    request = sample(arguments["prompt"])
    answer = await caller.context.session.send_request(request, types.CreateMessageResult)
    return result(text(f"LLM response: {answer.content.text}"))


def needs(state: str | None = None, **requests: Any) -> Callable[[dict[str, Json], Caller], Any]:
    """Return a tool that wants all *requests* answered at once, and its state back."""

    def call(arguments: dict[str, Json], caller: Caller) -> Any:
        came = caller.context.params.get("requestState")
        if requests.keys() <= caller.answers.keys() and came == state:
            reply = json.dumps([caller.answers[key] for key in requests])
            return result(text(f"state-ok {reply}" if state else reply))
        return types.InputRequiredResult(input_requests=requests, request_state=state)

    return call


def _rounds(arguments: dict[str, Json], caller: Caller) -> Any:
    came = caller.context.params.get("requestState")
    step = {"round-1": 1, "round-2": 2}.get(came, 0)
    asked = [
        ("step1", elicit("Step 1: What is your name?", NAME)),
        ("step2", elicit("Step 2: What is your favorite color?", _one("color"))),
    ]
    if step == len(asked):
        return result(text("both steps done"))
    key, request = asked[step]
    return types.InputRequiredResult(
        input_requests={key: request}, request_state=f"round-{step + 1}"
    )


def _one(name: str, kind: str = "string") -> Json:
    return {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}


def _capabilities(arguments: dict[str, Json], caller: Caller) -> Any:
    can = caller.context.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, Any] = {}
    if can.elicitation is not None:
        requests["name"] = elicit("What is your name?", NAME)
    if can.sampling is not None:
        requests["greeting"] = sample("Generate a greeting")
    return types.InputRequiredResult(input_requests=requests, request_state="asked")


def _missing_capability(arguments: dict[str, Json], caller: Caller) -> Any:
    can = caller.context.session.client_capabilities
    if can is None or can.sampling is None:
        needed: Json = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", data=needed)
    return result(text("sampling is there"))


# The lists that a client is told to have changed.

BUS = InMemorySubscriptionBus()


def _changed(event: Any) -> Callable[[dict[str, Json], Caller], Any]:
    async def call(arguments: dict[str, Json], caller: Caller) -> Any:
        await BUS.publish(event)
        return result(text("changed"))

    return call


SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def tools() -> Sequence[ToolCard]:
    reply = embedded(
        "test://embedded-resource", "text/plain", "This is an embedded resource content."
    )
    mixed = embedded(
        "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
    )
    wrong = text("This tool intentionally returns an error for testing")
    who = elicit("What is your name?", NAME)
    roots = types.ListRootsRequest()
    prefix = "test_input_required_result_"
    return (
        card("test_simple_text", says(text("This is a simple text response for testing."))),
        card("test_image_content", says(IMAGE)),
        card("test_audio_content", says(AUDIO)),
        card("test_embedded_resource", says(reply)),
        card(
            "test_multiple_content_types",
            says(text("Multiple content types test:"), IMAGE, mixed),
        ),
        card("test_error_handling", says(wrong, wrong=True)),
        card("test_tool_with_logging", _with_logging),
        card("test_logging_tool", _with_logging),
        card("test_tool_with_progress", _with_progress),
        card("test_reconnection", _reconnection),
        card("test_sampling", _sampling, prompt={"type": "string"}),
        card(
            "test_elicitation",
            asks("user", "", CONTACT, lambda a: f"User response: {json.dumps(a)}"),
            message={"type": "string"},
        ),
        card(
            "test_elicitation_sep1034_defaults",
            asks("defaults", "Please check these values", DEFAULTS, _completed),
        ),
        card("test_elicitation_sep1330_enums", asks("enums", "Please choose", ENUMS, _completed)),
        card("test_streaming_elicitation", asks("name", "What is your name?", NAME, json.dumps)),
        card(f"{prefix}elicitation", asks("user_name", "What is your name?", NAME, _greeting)),
        card(f"{prefix}sampling", needs(capital_question=sample("What is the capital of France?"))),
        card(f"{prefix}list_roots", needs(client_roots=roots)),
        card(
            f"{prefix}request_state",
            needs("a-state", confirm=elicit("Please confirm", _one("ok", "boolean"))),
        ),
        card(
            f"{prefix}tampered_state",
            needs("b-state", confirm=elicit("Please confirm", _one("ok", "boolean"))),
        ),
        card(
            f"{prefix}multiple_inputs",
            needs(
                "c-state",
                user_name=who,
                greeting=sample("Generate a greeting", 50),
                client_roots=roots,
            ),
        ),
        card(f"{prefix}multi_round", _rounds),
        card(f"{prefix}capabilities", _capabilities),
        card("test_missing_capability", _missing_capability),
        card("test_trigger_tool_change", _changed(ToolsListChanged())),
        card("test_trigger_prompt_change", _changed(PromptsListChanged())),
        ToolCard(
            "json_schema_2020_12_tool",
            "A fixture of the suite: a schema with all that the dialect has.",
            says(text("ok")),
            SCHEMA_2020_12,
            output_schema={},
            slow=True,
        ),
    )


def _greeting(answer: Any) -> str:
    return f"Hello, {(answer.get('content') or {}).get('name')}!"


def _read_template(**given: str) -> Json:
    return {"id": given["id"], "templateTest": True, "data": f"Data for ID: {given['id']}"}


def resources() -> Sequence[Resource]:
    static = "This is the content of the static text resource."
    return (
        Resource("test://static-text", "static text", "A fixture.", lambda: static, "text/plain"),
        Resource("test://static-binary", "static binary", "A fixture.", lambda: PNG, "image/png"),
        Resource("test://watched-resource", "watched", "A fixture.", lambda: "0", "text/plain"),
        Resource("test://template/{id}/data", "template", "A fixture.", _read_template),
    )


def prompted(*content: Any) -> Any:
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=part) for part in content]
    )


def prompts() -> Sequence[Prompt]:
    return (
        Prompt(
            "test_simple_prompt", "A fixture.", lambda g: "This is a simple prompt for testing."
        ),
        Prompt(
            "test_prompt_with_arguments",
            "A fixture.",
            lambda g: f"Prompt with arguments: arg1='{g['arg1']}', arg2='{g['arg2']}'",
            {"arg1": "First test argument", "arg2": "Second test argument"},
            completions={"arg1": lambda: ["paris", "park", "party"]},
        ),
        Prompt(
            "test_prompt_with_embedded_resource",
            "A fixture.",
            lambda g: prompted(
                embedded(g["resourceUri"], "text/plain", "Embedded resource content for testing."),
                text("Please process the embedded resource above."),
            ),
            {"resourceUri": "URI of the resource to embed"},
        ),
        Prompt(
            "test_prompt_with_image",
            "A fixture.",
            lambda g: prompted(IMAGE, text("Please analyze the image above.")),
        ),
        Prompt("test_input_required_result_prompt", "A fixture.", lambda g: "answered below"),
    )


def extend(server: Server[Any]) -> None:
    """Add what the suite wants and a league has no use for."""
    usual = server.get_request_handler("prompts/get")

    async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> Any:
        if params.name != "test_input_required_result_prompt":
            return await usual.handler(ctx, params) if usual else None
        answers = params.input_responses or {}
        if "user_context" not in answers:
            asked = elicit("What context should the prompt use?", _one("context"))
            return types.InputRequiredResult(input_requests={"user_context": asked})
        return prompted(text(f"The context is {answers['user_context'].model_dump_json()}"))

    async def set_level(ctx: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
        return types.EmptyResult()

    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.add_request_handler(
        "subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(BUS)
    )
