"""The tools of an MCP server: their names, arguments and results; schemas are read, never run."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from agent_league.dialects.meanings import find_name
from agent_league.protocol import MESSAGES, Message
from agent_league.protocol import name as message_name
from agent_league.protocol.failures import NonsenseError
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.vocabulary import Json

MAX_TOOLS = 256


class _InputSchema(Struct):
    properties: dict[str, Raw] | UnsetType = UNSET


class Tool(Struct, frozen=True):
    """A tool as its server declares it, as far as a caller needs it."""

    name: str
    inputSchema: _InputSchema = field(default_factory=_InputSchema)  # noqa: N815 - MCP's spelling
    description: str | None = None

    def select_arguments(self, fields: Mapping[str, Json]) -> dict[str, Json]:
        """Return the *fields* that the tool takes; some servers refuse any other.

        A tool whose only argument is none of them takes the whole message there.
        """
        declared = self.inputSchema.properties
        if isinstance(declared, UnsetType):
            return dict(fields)
        selected = {name: value for name, value in fields.items() if name in declared}
        takes_message = not selected and len(declared) == 1
        return {key: dict(fields) for key in declared} if takes_message else selected

    def mentions(self, word: str) -> bool:
        """Whether its description, or what it says of its arguments, contains *word*."""
        declared = self.inputSchema.properties
        parts = () if isinstance(declared, UnsetType) else declared.values()
        return word in (self.description or "") or any(word.encode() in bytes(p) for p in parts)

    def header_params(self, arguments: Mapping[str, Json]) -> dict[str, str]:
        """Return the headers in which the tool wants to see some of *arguments* too."""
        return {
            header: value if isinstance(value, str) else msgspec.json.encode(value).decode()
            for name, header in self.headers().items()
            if isinstance(value := arguments.get(name), (str, int))
        }

    def headers(self) -> dict[str, str]:
        """Return the headers that its arguments ask for, or raise a `ValidationError`."""
        declared = self.inputSchema.properties
        if isinstance(declared, UnsetType):
            return {}
        headers = {
            name: msgspec.json.decode(raw, type=_Property).header
            for name, raw in declared.items()
            if _wants_header(raw)
        }
        if len({header.lower() for header in headers.values()}) < len(headers):
            raise msgspec.ValidationError("two arguments ask for one header")
        return headers


_HEADER_KEY = "x-mcp-header"
_Token: TypeAlias = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$(?!\n)", max_length=64)
]


class _Property(Struct):
    """An argument that asks to be sent in a header; MCP allows that for plain types only."""

    type: Literal["string", "integer", "boolean"]
    header: _Token = field(name=_HEADER_KEY)


def _wants_header(declared: Raw) -> bool:
    # Mostly the word is nowhere in it, and nothing needs to be parsed.
    mentioned = _HEADER_KEY.encode() in bytes(declared)
    return mentioned and _HEADER_KEY in msgspec.json.decode(declared, type=dict[str, Raw])


class ToolList(NamedTuple):
    """All tools of a server by name, and a fingerprint that changes whenever one of them does."""

    tools: Mapping[str, Tool] = MappingProxyType({})
    fingerprint: str = ""


def find_tool(kind: type[Message], tools: Mapping[str, Tool]) -> Tool | None:
    """Return the tool for a *kind* of message: by its name, its meaning or what it says of itself.

    None if there is none, or more than one.
    """
    if kind.route.tool in tools:
        return tools[kind.route.tool]
    receiver = kind.route.receiver[0]
    others = [one for one in MESSAGES.values() if receiver in one.route.receiver and one.route.tool]
    alone = (kind,) if kind in (RegisterPlayer, RegisterReferee) else others
    found = find_name(kind, tools, others) or find_name(kind, tools, alone)
    if found is not None:
        return tools[found]
    mentioning = [tool for tool in tools.values() if tool.mentions(message_name(kind))]
    return mentioning[0] if len(mentioning) == 1 else None


def read_tool_list(raw_tools: Sequence[Raw], server: str) -> ToolList:
    """Return the tools that *server* has listed, or raise `NonsenseError`."""
    try:
        tools = [msgspec.json.decode(raw, type=Tool) for raw in raw_tools]
        declared = [msgspec.json.decode(raw, type=dict[str, Any]) for raw in raw_tools]
        for declaration in declared:
            declaration.pop("_meta", None)
        # A server may write its tools, and the keys of a tool, in any order.
        canonical = sorted(msgspec.json.encode(one, order="sorted") for one in declared)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise NonsenseError(f"{server} lists what is no tool: {str(error)[:300]}") from None
    fingerprint = sha256(b"\n".join(canonical)).hexdigest()
    by_name: dict[str, Tool] = {}
    for tool in tools:
        with suppress(msgspec.DecodeError, RecursionError):
            tool.headers()  # MCP forbids calling a tool whose headers cannot be sent
            by_name[tool.name] = tool
    return ToolList(by_name, fingerprint)


class _Block(Struct):
    type: str = ""
    text: str = ""


class ToolResult(Struct):
    """The result of a tool."""

    content: list[_Block] = field(default_factory=list)
    structuredContent: Json = None  # noqa: N815 - MCP's spelling
    isError: bool = False  # noqa: N815 - MCP's spelling
    resultType: str = "complete"  # noqa: N815 - MCP's spelling

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.content if block.type == "text")

    @property
    def answer(self) -> Json:
        """The structured content, or else the text, parsed if it is JSON.

        Servers wrap a value that is no object as `{"result": value}`.
        """
        value = self.text if self.structuredContent is None else self.structuredContent
        for _ in range(_MAX_WRAPPINGS):
            value = _parse_text(value) if isinstance(value, str) else value
            if not isinstance(value, dict) or value.keys() != {"result"}:
                return value
            value = value["result"]
        return value


_MAX_WRAPPINGS = 3


def _parse_text(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return text.strip()
