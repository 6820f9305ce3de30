"""What a dialect is: one way in which agents write the messages of the protocol.

Nothing outside this package knows a dialect by more than this interface and its name.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import msgspec
from msgspec import Raw, Struct

from agent_league.clock import Clock
from agent_league.http.exchange import Answer, Wire
from agent_league.protocol import Message, ProtocolError, Request
from agent_league.protocol.deviations import NO_LEDGER, Deviation, Ledger
from agent_league.protocol.error_messages import LeagueErrorMessage
from agent_league.protocol.jsonrpc import Call
from agent_league.protocol.message import Result
from agent_league.protocol.play import StartMatch
from agent_league.vocabulary import Json

_encode = msgspec.json.Encoder().encode


class Outgoing(Struct, frozen=True):
    """A message that is written once and may be sent to many."""

    kind: type[Message]
    body: bytes
    get_extras: Callable[[], Mapping[str, Any]] | None = None
    """What other dialects say with this message, and league.v2 elsewhere or not at all."""


class StartedCall(Struct):
    """A message that was sent as the protocol writes it, and whose answer is awaited."""

    outgoing: Outgoing
    number: int
    """The id of the call."""
    answer: "asyncio.Future[Answer]"
    ends: float
    """When the time of the peer is over, on our own clock."""
    record: bytes = b""
    """What was written down about it."""


class StartedBatch(Struct, frozen=True):
    """Messages that were sent in one batch, and whose answers are awaited."""

    messages: Sequence[Outgoing]
    numbers: list[int]
    """The ids of the calls."""
    answer: "asyncio.Future[Answer]"
    ends: float
    """When the time of the peer is over, on our own clock."""


class NothingSent(bytes):
    """The result of a message that the peer does not take and need not: it was not sent."""


def encode_message(message: Message) -> Outgoing:
    return Outgoing(type(message), _encode(message))


class Peer(NamedTuple):
    """An agent that we send messages to."""

    url: str
    agent_id: str = ""
    dialect: str | None = None
    """None: not known, so the league's own until another is detected."""
    tools: str | None = None
    """The fingerprint that its tools had at the first look, if it is an MCP server."""


class PeerSession:
    """Sends messages to one peer in its dialect, and remembers what it has learned of the peer."""

    dialect: ClassVar[str]
    reads_extras: bool = False
    """Whether this session says more with some notices (`Outgoing.get_extras`)."""
    fingerprint: str | None = None
    """The fingerprint of the peer's tools, if it is called by them."""
    alias: tuple[str, str] | None = None
    """The id that we gave the peer, and the id that it uses instead."""

    async def send(
        self, outgoing: Outgoing, within: float, ledger: Ledger = NO_LEDGER
    ) -> bytes | Raw:
        """Return the result as league.v2 writes it, or raise a `NoAnswerError`.

        Deviations go into the *ledger*.
        """
        raise NotImplementedError

    def start(self, outgoing: Outgoing, within: float) -> StartedCall | None:
        """Send *outgoing* now, without a task; None if only `send` can do that for this peer."""
        return None

    def start_batch(self, messages: Sequence[Outgoing], within: float) -> StartedBatch | None:
        """Send *messages* now in one batch; None if this peer takes them only one by one."""
        return None

    def read_batch(self, started: StartedBatch) -> Sequence[Raw] | None:
        """Return the results of a batch that was answered as the protocol asks; else None."""
        return None

    def read_started(self, started: StartedCall) -> Raw | None:
        """Return the result of a call that was answered as the protocol asks; else None."""
        return None

    async def finish(self, started: StartedCall, ledger: Ledger) -> bytes | Raw:
        """Return the result of a started call that `read_started` cannot read, as `send` does."""
        raise NotImplementedError

    def interpret_reply(
        self, request: Request[Any], result: bytes | Raw, ledger: Ledger, error: ProtocolError
    ) -> Message:
        """Return the reply that *result*, which is refused with *error*, means to *request*.

        Raise `ProtocolError` if it means none, or may not deviate.
        """
        raise error

    async def check_tools(self, within: float) -> None:
        """Raise a `NoAnswerError` if the peer is called by its tools, and they have changed."""

    def describe_order(self, order: StartMatch) -> Json:
        """Return *order* for a referee that asks for its matches instead of being sent them."""
        return msgspec.to_builtins(order)

    def uses_other_form(self, kind: type[Message]) -> bool:
        """Whether the peer takes a *kind* in another form, or answers it in other words."""
        return False

    def understands(self, kind: type[Message]) -> bool:
        """Whether there is still a form of a *kind* that the peer may understand."""
        return True

    def forget(self, kind: type[Message]) -> None:
        """Forget how the peer took a *kind*: it was started anew, and may be another program."""

    def is_doubtful(self, kind: type[Message]) -> bool:
        """Whether the answer to the last *kind* does not show that the peer understood it."""
        return False

    def confirm(self, kind: type[Message]) -> None:
        """Learn that the peer has done what the last *kind* asked for."""

    def try_next_form(self, kind: type[Message]) -> bool:
        """Send the next *kind* in another form, as the last had no effect; False if none is left."""
        return False


class Receiver(Protocol):
    """The agent that a message arrives at."""

    name: str

    @property
    def endpoint(self) -> str:
        """Where other agents reach it."""
        ...

    @property
    def league_signs(self) -> bool:
        """Whether its league proves what it sends."""
        ...

    @property
    def strict(self) -> bool:
        """Whether it refuses what deviates."""
        ...

    @property
    def game(self) -> str:
        """The game that it means where a message names none."""
        ...

    def now(self) -> str: ...

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        """Return the message to be handled, or raise `ProtocolError`."""
        ...

    def make_error(self, error: ProtocolError) -> LeagueErrorMessage:
        """Return *error* as the message that the sender gets."""
        ...

    def note_deviations(self, message: Message, deviations: Sequence[Deviation]) -> None:
        """Write down the deviations of a message that was handled."""
        ...

    def suspect(self, agent_id: str, deviation: Deviation) -> None:
        """Write down what an agent probably does; another may have sent the message."""
        ...


def _raise_error(error: ProtocolError) -> Result:
    raise error


class Spread(dict[str, Json]):
    """A result whose fields also stand beside it in the frame: some callers look for them there."""


class Received(NamedTuple):
    """What a body means in the protocol, and how it is answered."""

    messages: Sequence[Message]
    """To be handled in this order; the answer is the answer to the last of them."""
    deviations: Sequence[Deviation] = ()
    encode_answer: Callable[[Result], Result] = lambda result: result
    """Writes the answer in the dialect of the sender."""
    encode_refusal: Callable[[ProtocolError], Result] = _raise_error
    """Writes a refusal in that dialect, or raises it if the dialect has no message for it."""
    wants_answer: bool = True


class Reader(ABC):
    """Understands what one agent receives in one dialect."""

    special: Mapping[type[Message], Callable[[Any, Receiver], Received]] = {}
    """What reads the kinds that may mean more than the protocol says, even if right."""

    @abstractmethod
    def read(self, call: Call, body: bytes, receiver: Receiver) -> Received | None:
        """Return what *body*, with the frame *call*, means; None if it is another dialect's.

        Raise `ProtocolError` if it is this dialect's, and cannot be understood.
        """

    def read_as(
        self, kind: type[Message], body: dict[str, Json], tool: str, receiver: Receiver
    ) -> Received | None:
        """Return what *body*, sent as a *kind* by calling *tool*, means; None if nothing deviates.

        Raise `ProtocolError` if it has a fault that cannot be repaired.
        """
        return None


class Dialect(NamedTuple):
    """One way in which agents write messages."""

    name: str
    make_reader: Callable[[Collection[type[Message]]], Reader] | None
    """Returns a reader for an agent that handles these kinds of messages; None if it has none."""
    connect: Callable[[Peer, Wire, Clock], PeerSession]
    """Returns a session in which messages to a peer are written."""
    schemas: Callable[[], dict[str, dict[str, Any]]]
    """Returns the JSON Schema of each message, by its name."""
