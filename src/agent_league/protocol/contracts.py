"""The contract for machines: OpenRPC for calls, OpenAPI for HTTP, JSON Schema for each message."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec

from agent_league.protocol.errors import ErrorCode, RpcCode
from agent_league.protocol.fields import SUPPORTED_VERSION
from agent_league.protocol.message import Acknowledgement, Message, name
from agent_league.protocol.reading import MESSAGES, TOOLS
from agent_league.vocabulary import Json

ACKNOWLEDGEMENT = "ACKNOWLEDGEMENT"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_REF_PREFIX = "#/components/schemas/"
SCHEMAS_PATH = "/schemas/"
"""Where every agent publishes its contract."""
V1_SCHEMAS_PATH = f"{SCHEMAS_PATH}league.v1.json"
"""Where an agent publishes the contract of the version before this one."""
INFO: Mapping[str, str] = {
    "title": "Agent League",
    "version": SUPPORTED_VERSION,
    "description": "league.v2: the messages between the league manager, referees and players.",
}
STANDARD_ERRORS: Mapping[int, str] = {
    RpcCode.PARSE_ERROR: "not JSON",
    RpcCode.INVALID_REQUEST: "not a JSON-RPC 2.0 request",
    RpcCode.METHOD_NOT_FOUND: "no such method, and no known message_type",
    RpcCode.INVALID_PARAMS: "a field is missing or wrong; data is a LEAGUE_ERROR",
    RpcCode.INTERNAL_ERROR: "internal error",
}
PAGES: Mapping[str, tuple[str, str]] = {
    "/": ("about", "Who this agent is."),
    "/healthz": ("alive", "Whether it is running."),
    "/readyz": ("ready", "Whether it can take part; 503 if it cannot yet."),
    SCHEMAS_PATH: ("contracts", "Where the contracts are."),
}
"""The pages of every agent: the name of the operation, and what the page says."""
_KINDS: Mapping[str, type] = {**MESSAGES, ACKNOWLEDGEMENT: Acknowledgement}
_ID = {"type": ["string", "number", "null"]}


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Return one self-contained schema per message, by its name on the wire."""
    return {
        wire_name: make_schema(DIALECT, f"league.v2/{wire_name}", kind)
        for wire_name, kind in _KINDS.items()
    }


def make_schema(dialect: str, path: str, kind: type) -> dict[str, Any]:
    """Return the self-contained schema of *kind*; *path* is its version and its name."""
    schema = msgspec.json.schema(kind)
    inner = schema["$defs"].pop(kind.__name__)
    return {
        "$schema": dialect,
        "$id": f"{path}.json",
        **inner,
        "title": path.partition("/")[2],
        "description": _summarize(kind),
        "$defs": schema["$defs"],
    }


def _summarize(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


@cache
def openrpc() -> dict[str, Any]:
    """Return every tool with its parameters, its result and its errors."""
    return {
        "openrpc": "1.3.2",
        "info": dict(INFO),
        "servers": [{"name": "agent", "url": "http://127.0.0.1:8000/mcp"}],
        "methods": [_method(tool, kind) for tool, kind in TOOLS.items()],
        "components": {"schemas": _components()},
    }


@cache
def openapi() -> dict[str, Any]:
    """Return the endpoint and the pages of an agent."""
    return {
        "openapi": "3.1.0",
        "info": dict(INFO),
        "jsonSchemaDialect": DIALECT,
        "servers": [{"url": "http://127.0.0.1:8000"}],
        "paths": {
            "/mcp": {"post": _endpoint()},
            **{path: {"get": _page(*page)} for path, page in PAGES.items()},
        },
        "components": {"schemas": {**_components(), **_frames()}},
    }


DOCUMENTS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "jsonschema": schemas,
    "openrpc": openrpc,
    "openapi": openapi,
}
"""The whole contract, by the name of its format."""


def find_contract(path: str) -> Json | None:
    """Return the document at *path*, which is under `/schemas/`; None if there is none."""
    document = path.removeprefix(SCHEMAS_PATH).removesuffix(".json")
    if path.rstrip("/") == SCHEMAS_PATH.rstrip("/"):
        return _index()
    if path != f"{SCHEMAS_PATH}{document}.json":
        return None
    return DOCUMENTS[document]() if document in DOCUMENTS else schemas().get(document)


def _index() -> dict[str, Any]:
    return {
        "protocol": INFO["description"],
        "version": SUPPORTED_VERSION,
        "documents": {key: f"{SCHEMAS_PATH}{key}.json" for key in DOCUMENTS},
        "messages": {key: f"{SCHEMAS_PATH}{key}.json" for key in schemas()},
        "earlier": {"league.v1": V1_SCHEMAS_PATH},
    }


@cache
def _components() -> dict[str, Any]:
    """Return every schema once: messages by their names on the wire, parts by their own."""
    template = SCHEMA_REF_PREFIX + "{name}"
    _, definitions = msgspec.json.schema_components(_KINDS.values(), ref_template=template)
    wire_names = {kind.__name__: wire_name for wire_name, kind in _KINDS.items()}
    named = {wire_names.get(key, key): definitions[key] for key in sorted(definitions)}
    return {key: {**definition, "title": key} for key, definition in named.items()}


def _ref(schema_name: str) -> dict[str, str]:
    return {"$ref": SCHEMA_REF_PREFIX + schema_name}


def _reply_name(kind: type[Message]) -> str:
    reply = getattr(kind, "reply", None)
    return name(reply) if reply else ACKNOWLEDGEMENT


def _describe(kind: type[Message]) -> dict[str, Any]:
    senders, receivers = kind.route.sender, kind.route.receiver
    route = f"{name(kind)}: {' or '.join(senders)} to {' or '.join(receivers)}."
    return {"summary": _summarize(kind), "description": route}


def _method(tool: str, kind: type[Message]) -> dict[str, Any]:
    fields = _components()[name(kind)]
    return {
        "name": tool,
        **_describe(kind),
        "tags": [{"name": str(role)} for role in kind.route.receiver],
        "paramStructure": "by-name",
        "params": [
            {"name": field, "required": field in fields["required"], "schema": schema}
            for field, schema in fields["properties"].items()
        ],
        "result": {"name": _reply_name(kind), "schema": _ref(_reply_name(kind))},
        "errors": _errors(),
    }


def _errors() -> list[dict[str, Any]]:
    """Return each JSON-RPC code once, with the league's codes that it stands for."""
    numbered = dict(STANDARD_ERRORS)
    for code in ErrorCode:
        if code.rpc not in STANDARD_ERRORS:
            label = f"{code} {code.name}"
            numbered[code.rpc] = f"{numbered[code.rpc]}, {label}" if code.rpc in numbered else label
    return [{"code": number, "message": message} for number, message in numbered.items()]


def _frames() -> dict[str, Any]:
    reply_names = sorted({_reply_name(kind) for kind in TOOLS.values()})
    return {
        "Call": {"oneOf": [_call(tool, kind) for tool, kind in TOOLS.items()]},
        "Returned": {
            "type": "object",
            "description": "A result, or an error whose data is the LEAGUE_ERROR.",
            "properties": {
                "jsonrpc": {"const": "2.0"},
                "id": _ID,
                "result": {"anyOf": [_ref(reply_name) for reply_name in reply_names]},
                "error": {
                    "type": "object",
                    "properties": {
                        "code": {"type": "integer"},
                        "message": {"type": "string"},
                        "data": {},
                    },
                    "required": ["code", "message"],
                },
            },
            "required": ["jsonrpc", "id"],
            "oneOf": [{"required": ["result"]}, {"required": ["error"]}],
        },
    }


def _call(tool: str, kind: type[Message]) -> dict[str, Any]:
    note = "The answer repeats it; a call without an id gets no answer."
    return {
        "type": "object",
        "title": tool,
        "description": _describe(kind)["description"],
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "method": {"const": tool},
            "params": _ref(name(kind)),
            "id": {**_ID, "description": note},
        },
        "required": ["jsonrpc", "method", "params"],
    }


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _endpoint() -> dict[str, Any]:
    too_large, too_many = (
        f"{code} {code.name}" for code in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.TOO_MANY_REQUESTS)
    )
    returned = _content(_ref("Returned"))
    return {
        "operationId": "call",
        "summary": "Send a message: a JSON-RPC 2.0 call of its tool.",
        "requestBody": {"required": True, "content": _content(_ref("Call"))},
        "responses": {
            "200": {"description": "The answer, or an error.", "content": returned},
            "202": {"description": "A call without an id was accepted; there is no body."},
            "413": {"description": too_large, "content": returned},
            "429": {"description": too_many, "content": returned},
        },
    }


def _page(operation: str, summary: str) -> dict[str, Any]:
    response = {"description": summary, "content": _content({"type": "object"})}
    return {"operationId": operation, "summary": summary, "responses": {"200": response}}
