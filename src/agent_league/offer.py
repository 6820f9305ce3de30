"""What an agent offers beside the messages that it answers: pages, tools, and resources for MCP.

These are declarations only; `serving` makes a server of them.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from agent_league.http.exchange import (
    JSON_TYPE,
    Answer,
    PageAnswer,
    PageRequest,
    StreamedAnswer,
)
from agent_league.http.site import Place
from agent_league.protocol import LeagueError, Message, Role
from agent_league.protocol.message import Result
from agent_league.vocabulary import Json

MARKDOWN = "text/markdown"

Schema: TypeAlias = Mapping[str, Any]
Content: TypeAlias = Json | None
Completions: TypeAlias = Mapping[str, Callable[[], Sequence[str]]]
"""The values that each variable can have now, for a client that completes what a person types."""
ChangeListeners: TypeAlias = list[Callable[[str], None]]
"""Each is called with the address of a resource that has changed."""
Page: TypeAlias = Callable[..., Json | Answer | StreamedAnswer | None]
"""Returns what a GET of its path shows: JSON data, or an `Answer` with a content type or status.

A path may have variables, as `/players/{player_id}`: they are the arguments. None: not found.
"""

Audience: TypeAlias = frozenset[str]
"""Roles: those of a caller, or those that a tool is for."""

ORGANISER = "organiser"
PERSON = "person"
"""The role of a caller that can show a form to a person."""
ALL_AGENTS: Audience = frozenset(Role)
NOBODY: Audience = frozenset()

NO_ARGUMENTS: Schema = {"type": "object", "properties": {}}
ANY_OBJECT: Schema = {"type": "object"}


async def _ignore_progress(
    progress: float, total: float | None = None, message: str | None = None
) -> None:
    """Report the progress of a call to nobody."""


@dataclass(frozen=True)
class Caller:
    """Who calls a tool, and how to reach it before the tool has answered."""

    token: str | None = None
    """From the header `Authorization: Bearer`, or from `auth_token` among the arguments."""
    progress: Callable[[float, float | None, str | None], Awaitable[None]] = _ignore_progress
    """Reports how far the call has come, if the caller asked for it."""
    answers: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What the person behind the caller answered, by the key of each `InputNeededError`."""
    tool: str | None = None
    """The name by which it calls, if that is not the tool's own."""
    context: Any = None
    """The SDK's own context of an MCP request, for everything that has no field here."""

    def choose_token(self, arguments: Mapping[str, Json]) -> Json:
        """Return the token among *arguments*, or else the one that came beside them."""
        token = arguments.get("auth_token")
        return self.token if token is None else token


class InputNeededError(LeagueError):
    """A tool needs a person to fill in a form; it is called once more with the answer.

    Only a tool whose card says *slow* may raise it. The answer is in `Caller.answers[key]`:
    `{"action": "accept", "content": {...}}`, or an action of `decline` or `cancel`.
    """

    def __init__(self, key: str, message: str, schema: Schema) -> None:
        super().__init__(message)
        self.key, self.message, self.schema = key, message, schema


ToolHandler: TypeAlias = Callable[[dict[str, Json], Caller], Result | Awaitable[Result]]
"""Answers the call of a tool, or raises `ProtocolError`."""


@dataclass(frozen=True)
class ToolCard:
    """A tool: how it is described to a caller, and the function that answers."""

    name: str
    description: str
    """For a model: what it does, when to call it, what comes back."""
    call: ToolHandler
    input_schema: Schema = field(default_factory=lambda: NO_ARGUMENTS)
    output_schema: Schema = field(default_factory=lambda: ANY_OBJECT)
    title: str | None = None
    read_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    slow: bool = False
    """Whether it may wait, report progress or ask a person; then only the SDK calls it."""
    message: type[Message] | None = None
    """The class of message that the arguments are, if they are one."""
    audience: Audience | None = None
    """The roles to which it is listed; None: to everybody. Whoever knows its name can call it."""


@dataclass(frozen=True)
class Resource:
    """Something to read at one address, or at many, as `league://rounds/{round_id}`."""

    uri: str
    name: str
    description: str
    read: Callable[..., Content | Awaitable[Content]]
    """Returns text if *mime* is not JSON; takes the variables of *uri*. None: not found."""
    mime: str = JSON_TYPE
    completions: Completions = field(default_factory=dict)


@dataclass(frozen=True)
class Prompt:
    """A text with which a model begins."""

    name: str
    description: str
    write: Callable[[Mapping[str, str]], str | Awaitable[str]]
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each argument means; all are required."""
    completions: Completions = field(default_factory=dict)


class Gate(Protocol):
    """Admits the callers that a deployer knows: a `serving.bearer.BearerGate`."""

    def admits(self, token: str | None) -> bool:
        """Whether the bearer of *token* may go on."""
        ...

    def refuse(self, token: str | None) -> Answer:
        """Return the answer to a caller that is not admitted."""
        ...

    def describe(self) -> dict[str, Json]:
        """Return what a caller has to know to be admitted."""
        ...


@dataclass(frozen=True)
class Offer:
    """Everything that an agent offers beside the messages that it answers."""

    pages: Mapping[str, Page] = field(default_factory=dict)
    """What can be read with GET, by path."""
    tools: Sequence[ToolCard] = ()
    """The tools that are not messages."""
    instructions: str = ""
    """For a model that connects over MCP: what this agent is and how to use it."""
    resources: Sequence[Resource] = ()
    prompts: Sequence[Prompt] = ()
    change_listeners: ChangeListeners = field(default_factory=list)
    supply: Callable[[str | None], dict[str, Json]] = field(default=lambda token: {})
    """Returns the fields that a message over MCP may leave out beside its envelope.

    The argument is the token that came with the message.
    """
    identify: Callable[[str | None], Audience] = field(default=lambda token: ALL_AGENTS)
    """Returns the roles of the caller that sends a token, which decide what tools are listed to it."""
    show: Callable[[PageRequest], PageAnswer | None] = field(default=lambda request: None)
    """Answers a GET for people; None: `pages` answers it."""
    find_site: Callable[[str], Place | None] = field(default=lambda path: None)
    """Returns the agent that this one hosts at a path other than /mcp."""
    gate: Gate | None = None
    """Who may use the tools and all of MCP; None: everybody."""
    extend: Callable[[Any], None] = field(default=lambda server: None)
    """Adds to the SDK's server what has no field here."""


def compile_address(address: str) -> re.Pattern[str]:
    """Return a pattern for *address*; a variable such as `{round_id}` is a part without slashes."""
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(address)))
