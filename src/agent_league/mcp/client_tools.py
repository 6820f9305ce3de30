"""What a server's tools are called, what they take, and what they say: only read, never run."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from agent_league.transport import NonsenseError
from agent_league.vocabulary import Json

MOST_TOOLS = 256


class _InputSchema(Struct):
    properties: dict[str, Raw] | UnsetType = UNSET


class Tool(Struct, frozen=True):
    """A tool as its server declares it, as far as a caller needs it."""

    name: str
    inputSchema: _InputSchema = field(default_factory=_InputSchema)  # noqa: N815 - MCP's spelling
    description: str | None = None

    def arguments(self, offered: Mapping[str, Json]) -> dict[str, Json]:
        """Return what of *offered* the tool takes; some servers refuse whatever is beside that."""
        declared = self.inputSchema.properties
        if isinstance(declared, UnsetType):
            return dict(offered)
        return {name: value for name, value in offered.items() if name in declared}

    def mirrored(self, arguments: Mapping[str, Json]) -> dict[str, str]:
        """Return which of *arguments* the tool wants to see in headers too, and as what."""
        shown = {name: header for name, header in self.headers().items() if name in arguments}
        return {
            header: _scalar(arguments[name])
            for name, header in shown.items()
            if isinstance(arguments[name], (str, int))
        }

    def headers(self) -> dict[str, str]:
        """Return the headers that its arguments ask for, or raise a `ValidationError`."""
        declared = self.inputSchema.properties
        if isinstance(declared, UnsetType):
            return {}
        asking = [name for name, raw in declared.items() if _asks(raw)]
        found = {name: _header(declared[name]) for name in asking}
        if len({header.lower() for header in found.values()}) < len(found):
            raise msgspec.ValidationError("two arguments ask for one header")
        return found


_ASKS = "x-mcp-header"
_Token: TypeAlias = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$(?!\n)", max_length=64)
]


class _Property(Struct):
    """An argument that may ask to be shown in a header; only plain ones may."""

    type: Literal["string", "integer", "boolean"]
    header: _Token = field(name=_ASKS)


def _asks(declared: Raw) -> bool:
    # Mostly the word is nowhere in it, and nothing needs to be parsed.
    said = _ASKS.encode() in bytes(declared)
    return said and _ASKS in msgspec.json.decode(declared, type=dict[str, Raw])


def _header(declared: Raw) -> str:
    return msgspec.json.decode(declared, type=_Property).header


def _scalar(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


class Toolbox(NamedTuple):
    """All tools of a server by name, and a mark that changes whenever one of them does."""

    tools: Mapping[str, Tool] = MappingProxyType({})
    mark: str = ""


def toolbox(listed: Sequence[Raw], who: str) -> Toolbox:
    """Return what *who* has listed, or raise `NonsenseError`."""
    try:
        tools = [msgspec.json.decode(raw, type=Tool) for raw in listed]
        written = sorted(map(_canonical, listed))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise NonsenseError(f"{who} lists what is no tool: {str(error)[:300]}") from None
    mark = sha256(b"\n".join(written)).hexdigest()
    return Toolbox({tool.name: tool for tool in tools if _callable(tool)}, mark)


def _callable(tool: Tool) -> bool:
    """Whether a tool asks for headers that can be sent; MCP forbids to call one that does not."""
    try:
        tool.headers()
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _canonical(listed: Raw) -> bytes:
    """Return a tool as it is written however its server orders what it says."""
    whole = msgspec.json.decode(listed)
    whole.pop("_meta", None)
    return msgspec.json.encode(whole, order="sorted")


class _Block(Struct):
    type: str = ""
    text: str = ""


class Called(Struct):
    """What a tool said."""

    content: list[_Block] = field(default_factory=list)
    structuredContent: Json = None  # noqa: N815 - MCP's spelling
    isError: bool = False  # noqa: N815 - MCP's spelling
    resultType: str = "complete"  # noqa: N815 - MCP's spelling

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.content if block.type == "text")

    @property
    def said(self) -> Json:
        """The answer itself: what is structured, else the text, as JSON if it is that.

        Servers wrap a value that is no object as `{"result": value}`.
        """
        said = self.text if self.structuredContent is None else self.structuredContent
        for _ in range(_WRAPPINGS):
            said = _parsed(said) if isinstance(said, str) else said
            if not isinstance(said, dict) or said.keys() != {"result"}:
                return said
            said = said["result"]
        return said


_WRAPPINGS = 3


def _parsed(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return text.strip()
