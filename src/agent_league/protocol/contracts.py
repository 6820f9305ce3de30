"""The contract as machines read it: OpenRPC for the calls, OpenAPI for HTTP, JSON Schema for each message."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import msgspec

from agent_league.protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND, ErrorCode
from agent_league.protocol.fields import SPOKEN
from agent_league.protocol.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR
from agent_league.protocol.message import Acknowledgement, Message, name
from agent_league.protocol.reading import MESSAGES, TOOLS
from agent_league.protocol.schema import DIALECT, schemas
from agent_league.vocabulary import Json

ACKNOWLEDGEMENT = "ACKNOWLEDGEMENT"
PLACE = "#/components/schemas/"
SECTION = "/schemas/"
"""Where every agent publishes its contract."""
INFO: Mapping[str, str] = MappingProxyType(
    {
        "title": "Agent League",
        "version": SPOKEN,
        "description": "league.v2: what the league manager, referees and players say to each other.",
    }
)
STANDARD: Mapping[int, str] = MappingProxyType(
    {
        PARSE_ERROR: "not JSON",
        INVALID_REQUEST: "not a JSON-RPC 2.0 request",
        METHOD_NOT_FOUND: "no such method, and no known message_type",
        INVALID_PARAMS: "a field is missing or wrong; data is a LEAGUE_ERROR",
        INTERNAL_ERROR: "internal error",
    }
)
_ID = {"type": ["string", "number", "null"]}


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
        "paths": {"/mcp": {"post": _endpoint()}, **_pages()},
        "components": {"schemas": {**_components(), **_frames()}},
    }


DOCUMENTS: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {"jsonschema": schemas, "openrpc": openrpc, "openapi": openapi}
)
"""The whole contract, by the name of its format."""


EARLIER = f"{SECTION}league.v1.json"
"""Where the contract of the version before this one is shown, which is not made here."""


def published(path: str) -> Json | None:
    """Return what an agent shows at *path*, which is under `/schemas/`; None if nothing."""
    wanted = path.removeprefix(SECTION).removesuffix(".json")
    if path.rstrip("/") == SECTION.rstrip("/"):
        return _index()
    if path != f"{SECTION}{wanted}.json":
        return None
    return DOCUMENTS[wanted]() if wanted in DOCUMENTS else schemas().get(wanted)


def _index() -> dict[str, Any]:
    return {
        "protocol": INFO["description"],
        "version": SPOKEN,
        "documents": {said: f"{SECTION}{said}.json" for said in DOCUMENTS},
        "messages": {said: f"{SECTION}{said}.json" for said in schemas()},
        "earlier": {"league.v1": EARLIER},
    }


@cache
def _components() -> dict[str, Any]:
    """Return every schema once: messages by their names on the wire, parts by their own."""
    kinds = {name(kind): kind for kind in MESSAGES.values()} | {ACKNOWLEDGEMENT: Acknowledgement}
    _, made = msgspec.json.schema_components(kinds.values(), ref_template=PLACE + "{name}")
    said = {kind.__name__: wire for wire, kind in kinds.items()}
    return {said.get(own, own): {**made[own], "title": said.get(own, own)} for own in sorted(made)}


def _ref(said: str) -> dict[str, str]:
    return {"$ref": PLACE + said}


def _answer(kind: type[Message]) -> str:
    reply = getattr(kind, "reply", None)
    return name(reply) if reply else ACKNOWLEDGEMENT


def _about(kind: type[Message]) -> dict[str, Any]:
    senders, receivers = kind.route.sender, kind.route.receiver
    route = f"{name(kind)}: {' or '.join(senders)} to {' or '.join(receivers)}."
    return {"summary": (kind.__doc__ or "").partition("\n")[0], "description": route}


def _method(tool: str, kind: type[Message]) -> dict[str, Any]:
    fields = _components()[name(kind)]
    return {
        "name": tool,
        **_about(kind),
        "tags": [{"name": str(role)} for role in kind.route.receiver],
        "paramStructure": "by-name",
        "params": [
            {"name": field, "required": field in fields["required"], "schema": schema}
            for field, schema in fields["properties"].items()
        ],
        "result": {"name": _answer(kind), "schema": _ref(_answer(kind))},
        "errors": _errors(),
    }


def _errors() -> list[dict[str, Any]]:
    """Return each number once, with all the codes of the league that it stands for."""
    numbered = dict(STANDARD)
    for code in ErrorCode:
        if code.rpc not in STANDARD:
            told = f"{code} {code.name}"
            numbered[code.rpc] = f"{numbered[code.rpc]}, {told}" if code.rpc in numbered else told
    return [{"code": number, "message": said} for number, said in numbered.items()]


def _frames() -> dict[str, Any]:
    return {
        "Call": {"oneOf": [_call(tool, kind) for tool, kind in TOOLS.items()]},
        "Returned": {
            "type": "object",
            "description": "A result, or an error whose data is the LEAGUE_ERROR.",
            "properties": {
                "jsonrpc": {"const": "2.0"},
                "id": _ID,
                "result": {
                    "anyOf": [_ref(said) for said in sorted(set(map(_answer, TOOLS.values())))]
                },
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
    return {
        "type": "object",
        "title": tool,
        "description": _about(kind)["description"],
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "method": {"const": tool},
            "params": _ref(name(kind)),
            "id": {**_ID, "description": "Comes back as it came; without one, no answer comes."},
        },
        "required": ["jsonrpc", "method", "params"],
    }


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _endpoint() -> dict[str, Any]:
    too_large = f"{ErrorCode.MESSAGE_TOO_LARGE} {ErrorCode.MESSAGE_TOO_LARGE.name}"
    return {
        "operationId": "call",
        "summary": "Say a message: a JSON-RPC 2.0 call of the tool that it is said by.",
        "requestBody": {"required": True, "content": _content(_ref("Call"))},
        "responses": {
            "200": {
                "description": "The answer, or an error.",
                "content": _content(_ref("Returned")),
            },
            "202": {"description": "A call without an id was taken; there is no body."},
            "413": {"description": too_large, "content": _content(_ref("Returned"))},
        },
    }


def _pages() -> dict[str, Any]:
    """Return the pages that every agent shows."""
    pages = {
        "/": ("about", "Who this agent is."),
        "/healthz": ("alive", "Whether it is there."),
        "/readyz": ("ready", "Whether it can take part; 503 if not yet."),
        SECTION: ("contracts", "Where the contracts are."),
    }
    return {path: {"get": _page(*told)} for path, told in pages.items()}


def _page(operation: str, summary: str) -> dict[str, Any]:
    shown = {"description": summary, "content": _content({"type": "object"})}
    return {"operationId": operation, "summary": summary, "responses": {"200": shown}}
