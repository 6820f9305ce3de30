"""What an agent offers to whoever speaks MCP: tools, things to read, texts to begin with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agent_league.mcp.tools import Toolbox
from agent_league.protocol import ProtocolError
from agent_league.protocol.complaints import LeagueComplaint
from agent_league.vocabulary import Json

JSON_TYPE, MARKDOWN = "application/json", "text/markdown"


@dataclass(frozen=True)
class Resource:
    """Something that can be read at one address."""

    uri: str
    name: str
    description: str
    read: Callable[[], Json]
    """Text if *mime* is not JSON."""
    mime: str = JSON_TYPE


Looked: TypeAlias = Json | None


@dataclass(frozen=True)
class Template:
    """Many things of one kind, each at its own address, such as `league://rounds/{round_id}`."""

    uri: str
    name: str
    description: str
    read: Callable[[Mapping[str, str]], Looked | Awaitable[Looked]]
    """Returns None for what is not there."""
    mime: str = JSON_TYPE
    known: Mapping[str, Callable[[], Sequence[str]]] = field(default_factory=dict)
    """The values that a variable can have now, for whoever types one."""


@dataclass(frozen=True)
class Prompt:
    """A text with which a model begins."""

    name: str
    description: str
    write: Callable[[Mapping[str, str]], str]
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each argument means; all are required."""
    known: Mapping[str, Callable[[], Sequence[str]]] = field(default_factory=dict)


class Changes:
    """Tells whoever listens which resource reads otherwise now."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[str], None]] = []

    def listen(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def unlisten(self, listener: Callable[[str], None]) -> None:
        self._listeners.remove(listener)

    @property
    def heard(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def tell(self, uri: str) -> None:
        for listener in self._listeners:
            listener(uri)


def _unextended(server: Any) -> None:
    """Add nothing to the SDK's server."""


@dataclass(frozen=True)
class Offer:
    """Everything of one agent that is seen over MCP."""

    name: str
    version: str
    tools: Toolbox
    complain: Callable[[ProtocolError], LeagueComplaint]
    message_limit: int = 10 * 1024
    """How long a message may be that comes as the arguments of a tool."""
    instructions: str = ""
    resources: Sequence[Resource] = ()
    templates: Sequence[Template] = ()
    prompts: Sequence[Prompt] = ()
    changes: Changes = field(default_factory=Changes)
    extend: Callable[[Any], None] = _unextended
    """Adds to the SDK's server what nothing here has a word for."""
