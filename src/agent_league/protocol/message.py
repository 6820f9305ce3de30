"""What a message is. The messages themselves are in the modules beside this one."""

from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypedDict, TypeVar

from msgspec import UNSET, Struct, UnsetType

from agent_league.protocol.explain import make_rule_error
from agent_league.protocol.fields import (
    KNOWN_SENDERS,
    KNOWN_TIMES,
    EnvelopeSender,
    FrequentTime,
    Ordinal,
    ProtocolVersion,
    Seconds,
    Text,
    is_sender,
    is_utc_time,
)
from agent_league.vocabulary import Json

Result: TypeAlias = Struct | dict[str, Json]
"""The answer to a message, before it is encoded."""


class Role(StrEnum):
    LEAGUE = "league_manager"
    REFEREE = "referee"
    PLAYER = "player"


LEAGUE, REFEREE, PLAYER = Role.LEAGUE, Role.REFEREE, Role.PLAYER
EVERYBODY = (PLAYER, REFEREE)


class Patience(Struct, frozen=True, kw_only=True):
    """How long we wait for an answer, in seconds, by kind of request."""

    register_referee: Seconds = 10.0
    register_player: Seconds = 10.0
    join: Seconds = 5.0
    move: Seconds = 30.0
    game_over: Seconds = 5.0
    report: Seconds = 10.0
    generic: Seconds = 10.0


Wait = Literal[
    "register_referee", "register_player", "join", "move", "game_over", "report", "generic"
]


class Route(NamedTuple):
    """Who sends a message to whom, by which tool, and how long an answer may take.

    A reply has no tool: it travels back as the result of the request that it answers.
    """

    sender: tuple[Role, ...]
    receiver: tuple[Role, ...]
    tool: str = ""
    wait: Wait = "generic"


class Envelope(TypedDict):
    """The part of the envelope that every message has."""

    protocol: Literal["league.v2"]
    sender: str
    timestamp: str
    conversation_id: str


def check_time(field: str, value: str) -> None:
    """Raise an error that names the *field* if its *value* is no time."""
    if value not in KNOWN_TIMES and not is_utc_time(value):
        raise make_rule_error(field)


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="message_type"):
    """A message, declared once: its name, its route, its reply and its fields.

    Dispatch, timeouts, tools, schemas and the protocol page are all read from here. The
    fields are spelled as league.v2 spells them; an optional field that is None is left out.
    """

    route: ClassVar[Route]

    protocol: ProtocolVersion
    sender: EnvelopeSender
    timestamp: FrequentTime
    conversation_id: Text
    auth_token: str | None = None
    league_id: Text | None = None
    round_id: Ordinal | None = None
    match_id: Text | None = None

    def __post_init__(self) -> None:
        if self.sender not in KNOWN_SENDERS or self.timestamp not in KNOWN_TIMES:
            self._check_envelope()

    def _check_envelope(self) -> None:
        if not is_sender(self.sender):
            raise make_rule_error("sender")
        check_time("timestamp", self.timestamp)


Reply = TypeVar("Reply", bound=Message)


class Request(Message, Generic[Reply], frozen=True, kw_only=True):
    """A message that is answered with a *Reply*."""

    reply: ClassVar[type[Message]]


class Notice(Message, frozen=True, kw_only=True):
    """A message that is only acknowledged."""


class Acknowledgement(Struct, frozen=True):
    """The result of a call whose message has no reply of its own."""

    status: Literal["ok"] = "ok"
    match_id: str | UnsetType = UNSET
    note: str | UnsetType = UNSET


def name(kind: type[Struct]) -> str:
    """Return the name that *kind* has on the wire, such as `GAME_OVER`, or in the store."""
    return str(kind.__struct_config__.tag)


def iter_message_kinds(root: type[Message] = Message) -> Iterator[type[Message]]:
    """Yield every message class that has a name on the wire."""
    for kind in root.__subclasses__():
        if kind.__struct_config__.tag is not None and "route" in kind.__dict__:
            yield kind
        yield from iter_message_kinds(kind)
