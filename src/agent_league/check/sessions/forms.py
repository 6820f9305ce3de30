"""The forms in which the check sends a message: the right one, and those that others use. Pure."""

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

import msgspec

from agent_league.check.exchange import TOOLS_CALL
from agent_league.dialects.dialect import Outgoing
from agent_league.dialects.meanings import find_name
from agent_league.dialects.v2 import writings
from agent_league.protocol import MESSAGES, Message
from agent_league.vocabulary import Json

ToolNames: TypeAlias = Collection[str]
"""The tools that an agent says it has; empty if it does not say."""
Frame: TypeAlias = Callable[[Json, ToolNames], tuple[str, Json] | None]
"""Returns the method and the params for a message; None if there is no such form for it."""
Writing: TypeAlias = Callable[[Json], Json]
"""Returns a message in other words."""


def get_message_type(message: Json) -> str:
    return str(message.get("message_type"))


def get_tool(message: Json) -> str:
    """Return the name of the tool for *message*; if it has none, its type in lower case."""
    kind = _find_kind(message)
    return (kind.route.tool if kind else "") or get_message_type(message).lower()


def _find_kind(message: Json) -> type[Message] | None:
    return MESSAGES.get(get_message_type(message).upper())


def find_tool(message: Json, tools: ToolNames) -> str | None:
    """Return the one of *tools* that *message* is for, by its name; None if that is not clear."""
    kind, tool = _find_kind(message), get_tool(message)
    if tool in tools or not tools or kind is None:
        return tool
    rivals = [other for other in MESSAGES.values() if other.route.sender == kind.route.sender]
    return find_name(kind, tools, rivals)


def _call_tool(message: Json, tools: ToolNames) -> tuple[str, Json] | None:
    tool = find_tool(message, tools)
    return (TOOLS_CALL, {"name": tool, "arguments": message}) if tool else None


def _nest(message: Json) -> Json:
    kind = _find_kind(message)
    outgoing = Outgoing(kind, msgspec.json.encode(message)) if kind else None
    return msgspec.json.decode(writings.write_nested(outgoing)) if outgoing else message


BY_TOOL: Frame = lambda message, tools: (get_tool(message), message)  # noqa: E731 - one of a table
FRAMES: tuple[Frame, ...] = (
    BY_TOOL,
    lambda message, tools: (get_message_type(message), message),
    _call_tool,
    lambda message, tools: (get_message_type(message).lower(), message),
    lambda message, tools: (get_tool(message), _nest(message)),
    lambda message, tools: ("", message),
)
"""How a message is framed, the right way first; without a method there is no frame."""


def write_right(message: Json) -> Json:
    return message


def _rewrite(write: Callable[[Outgoing], bytes]) -> Writing:
    """Return the writing of a dialect, for messages that may be of no known kind."""

    def rewrite(message: Json) -> Json:
        kind = _find_kind(message)
        if kind is None:
            return message
        return msgspec.json.decode(write(Outgoing(kind, msgspec.json.encode(message))))

    return rewrite


WRITINGS: tuple[Writing, ...] = (
    write_right,
    _rewrite(writings.write_plain),
    _rewrite(writings.write_rounds_as_text),
)
"""How a message is worded, the right way first."""


class Form(NamedTuple):
    """One form of a message."""

    frame: Frame = BY_TOOL
    write: Writing = write_right

    def encode(self, message: Json, tools: ToolNames, request_id: Json) -> bytes | None:
        """Return the body of a request; None if *message* does not have this form."""
        called = self.frame(self.write(message), tools)
        if called is None:
            return None
        method, params = called
        if not method:
            return msgspec.json.encode(params)
        return encode_call(method, params, request_id)


def encode_call(method: str, params: Json, request_id: Json) -> bytes:
    return msgspec.json.encode(
        {"jsonrpc": "2.0", "method": method, "params": params, "id": request_id}
    )
