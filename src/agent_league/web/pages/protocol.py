"""The protocol: every message as it is declared, and every error code."""

from functools import cache
from typing import Any

from agent_league.protocol import MESSAGES, ErrorCode, Message, Request, name
from agent_league.protocol.contracts import schemas
from agent_league.web.league_view import Data, LeagueView
from agent_league.web.page import Arguments, Page

_ENVELOPE = frozenset(
    {"message_type", "protocol", "sender", "timestamp", "conversation_id", "auth_token"}
)
_WORDS = {"league_manager": "league"}


async def load(view: LeagueView, arguments: Arguments) -> Data:
    found = describe_protocol()
    patience = view.season.settings.patience
    messages = [
        one | {"within_s": getattr(patience, one["wait"]) if one["wait"] else None}
        for one in found["messages"]
    ]
    return found | {"messages": messages}


@cache
def describe_protocol() -> Data:
    """Return the messages and the error codes, from their declarations."""
    known = schemas()
    return {
        "messages": [_describe(kind, known[wire_name]) for wire_name, kind in MESSAGES.items()],
        "errors": [
            {"code": str(code), "name": code.name, "retryable": code.retryable}
            for code in ErrorCode
        ],
    }


def _describe(kind: type[Message], schema: Any) -> Data:
    route = kind.route
    return {
        "name": name(kind),
        "about": schema.get("description", "").replace("*", ""),  # it names fields so
        "senders": [_WORDS.get(role, str(role)) for role in route.sender],
        "receivers": [_WORDS.get(role, str(role)) for role in route.receiver],
        "tool": route.tool,
        "reply": name(kind.reply) if issubclass(kind, Request) else None,
        "wait": route.wait if route.tool else None,
        "fields": [
            {
                "name": field,
                "type": _name_type(rule),
                "required": field in schema.get("required", ()),
            }
            for field, rule in schema["properties"].items()
            if field not in _ENVELOPE
        ],
    }


def _name_type(rule: Any) -> str:
    if "enum" in rule:
        return " or ".join(map(str, rule["enum"]))
    if "anyOf" in rule:
        return " or ".join(_name_type(one) for one in rule["anyOf"] if one.get("type") != "null")
    if "$ref" in rule:
        return str(rule["$ref"].rpartition("/")[2])
    return str(rule.get("type", "any JSON"))


page = Page(
    "/docs/protocol", "protocol.html", "Protocol", load, menu=(7, "Protocol"), refreshes=False
)
