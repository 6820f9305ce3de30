"""What an agent can be asked to do: one card for each tool, whichever dialect it is called in."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

from agent_league.mcp.wording import WORDINGS, Wording
from agent_league.protocol import LeagueError, Message, Request, name, read_as
from agent_league.protocol.schema import schemas
from agent_league.transport.endpoint import Handler, Result
from agent_league.vocabulary import Json

Schema: TypeAlias = Mapping[str, Any]

ENVELOPE = frozenset({"message_type", "protocol", "sender", "timestamp", "conversation_id"})
"""What a message may leave out when it comes as the arguments of an MCP tool."""


async def _unheard(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Tell nobody how far a call has come."""


@dataclass(frozen=True)
class Caller:
    """Who calls a tool, and how to speak with it before the tool has answered."""

    token: str | None = None
    """What came as `Authorization: Bearer`, or as `auth_token` among the arguments."""
    progress: Callable[[float, float | None, str | None], Awaitable[None]] = _unheard
    """Say how far the call has come; a caller that did not ask to hear it does not."""
    answers: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What the person behind the caller answered, by the key of each `InputNeededError`."""
    context: Any = None
    """The SDK's own context of an MCP request, for what nothing here has a word for."""


class InputNeededError(LeagueError):
    """A tool cannot go on before a person fills in a form; it is then called once more.

    Only a tool whose card says *slow* may raise it. The answer is found in `Caller.answers[key]`:
    `{"action": "accept", "content": {...}}`, or an action of `decline` or `cancel`.
    """

    def __init__(self, key: str, message: str, schema: Schema) -> None:
        super().__init__(message)
        self.key, self.message, self.schema = key, message, schema


Called: TypeAlias = Callable[[dict[str, Json], Caller], Result | Awaitable[Result]]
"""Answers the call of a tool, or raises `ProtocolError`."""


NOTHING: Schema = {"type": "object", "properties": {}}
ANYTHING: Schema = {"type": "object"}


@dataclass(frozen=True)
class ToolCard:
    """A tool: how a caller finds out about it, and who answers."""

    name: str
    description: str
    """For a model: what it does, when to call it, what comes back."""
    call: Called
    input_schema: Schema = field(default_factory=lambda: NOTHING)
    output_schema: Schema = field(default_factory=lambda: ANYTHING)
    title: str | None = None
    read_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    slow: bool = False
    """Whether it may wait, report progress or ask a person; never called the short way."""
    message: type[Message] | None = None
    """The message that the arguments are, if they are one."""


Supply: TypeAlias = Callable[[type[Message], str | None], dict[str, Json]]
"""Returns what a message of a kind may leave out, given the token that came with it."""


class Toolbox(Mapping[str, ToolCard]):
    """The tools of one agent, by name and in that order."""

    def __init__(self, cards: Iterable[ToolCard]) -> None:
        dealt = sorted(cards, key=lambda card: card.name)
        self._cards = MappingProxyType({card.name: card for card in dealt})
        if len(self._cards) < len(dealt):
            raise ValueError("two tools of one name")

    def __getitem__(self, tool: str) -> ToolCard:
        return self._cards[tool]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cards)

    def __len__(self) -> int:
        return len(self._cards)


def message_cards(
    handlers: Mapping[type[Message], Handler],
    supply: Supply,
    optional: frozenset[str] = ENVELOPE,
) -> list[ToolCard]:
    """Return the cards of the tools by which an agent is told the messages that it answers."""
    return [
        _message_card(kind, _filled(kind, handler, supply), optional)
        for kind, handler in handlers.items()
        if kind.route.tool  # a reply that comes as a request of its own is nobody's tool
    ]


def _message_card(kind: type[Message], call: Called, optional: frozenset[str]) -> ToolCard:
    reply = name(kind.reply) if issubclass(kind, Request) else "ACKNOWLEDGEMENT"
    wording = WORDINGS.get(kind.route.tool, Wording("", (kind.__doc__ or "").partition("\n")[0]))
    return ToolCard(
        name=kind.route.tool,
        title=wording.title,
        description=wording.text,
        call=call,
        input_schema=_Published(name(kind), optional),
        output_schema=_Published(reply),
        read_only=wording.read_only,
        idempotent=wording.idempotent,
        message=kind,
    )


_schemas = cache(schemas)


class _Published(Mapping[str, Any]):
    """The schema of a message, made when it is asked for: few agents are ever asked.

    It has no id of its own, for a client that knows two schemas of one id refuses the second.
    """

    def __init__(self, said: str, optional: frozenset[str] = frozenset()) -> None:
        self._said, self._optional = said, optional

    @cached_property
    def _schema(self) -> dict[str, Any]:
        schema = {key: value for key, value in _schemas()[self._said].items() if key != "$id"}
        required = [field for field in schema.get("required", ()) if field not in self._optional]
        return {**schema, "required": required}

    def __getitem__(self, key: str) -> Any:
        return self._schema[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __len__(self) -> int:
        return len(self._schema)


def _filled(kind: type[Message], handler: Handler, supply: Supply) -> Called:
    def call(arguments: dict[str, Json], caller: Caller) -> Result | Awaitable[Result]:
        token = arguments.get("auth_token", caller.token)
        known = supply(kind, token if isinstance(token, str) else None)
        if token is not None:
            known["auth_token"] = token
        return handler(read_as(kind, {**known, **arguments}))

    return call


def in_league_dialect(cards: Iterable[ToolCard]) -> dict[str, Callable[[dict[str, Json]], Any]]:
    """Return *cards* as the endpoint of the league's dialect calls them."""
    return {card.name: _said(card) for card in cards}


def _said(card: ToolCard) -> Callable[[dict[str, Json]], Result | Awaitable[Result]]:
    def call(arguments: dict[str, Json]) -> Result | Awaitable[Result]:
        token = arguments.get("auth_token")
        return card.call(arguments, Caller(token if isinstance(token, str) else None))

    return call
