"""What all three actors do: say who they are, reach others, answer by the class of a message."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from agent_league.clock import Clock, system_clock, written
from agent_league.dialects import Deviation, Ledger
from agent_league.dialects.v1_schema import schemas_v1
from agent_league.journal import Journal
from agent_league.mcp.door import Door
from agent_league.mcp.offer import Offer
from agent_league.mcp.short_way import ShortWay
from agent_league.mcp.switch import Switch
from agent_league.mcp.tools import ENVELOPE, Toolbox, ToolCard, in_league_dialect, message_cards
from agent_league.protocol import (
    Acknowledgement,
    LeagueError,
    Message,
    Notice,
    Patience,
    ProtocolError,
    Request,
    Role,
    Stamp,
    name,
)
from agent_league.protocol.complaints import GameComplaint, LeagueComplaint
from agent_league.protocol.contracts import EARLIER, published
from agent_league.protocol.fields import SPOKEN, VERSION
from agent_league.protocol.play import Retry
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.protocol.rounds import LeagueCompleted
from agent_league.speeches import SPEECHES, Peer, Ways
from agent_league.transport import NoAnswerError
from agent_league.transport.endpoint import Endpoint, Handler, Result
from agent_league.transport.exchange import Answer, Heard, Parcel
from agent_league.transport.http_server import Site
from agent_league.transport.line import Line
from agent_league.transport.retry import Breaker, persistently
from agent_league.transport.site import without_port
from agent_league.transport.speech import Speech
from agent_league.vocabulary import Json

T = TypeVar("T")
log = logging.getLogger("agent_league")

NOT_READY = Answer(503, b'{"status":"not ready"}')
BODY_LIMIT = 10 * 1024
"""What the protocol allows a message to be long."""


class Wire(Protocol):
    """How bodies reach other agents: over HTTP, or in memory."""

    def post(self, url: str, body: bytes, within: float) -> Awaitable[Answer]: ...

    def exchange(self, url: str, parcel: Parcel, within: float) -> Awaitable[Heard]: ...

    def reaches(self, url: str, within: float) -> Awaitable[bool]: ...

    def listens(self, url: str, within: float) -> Awaitable[bool]: ...


class Agent:
    """The common part of the league manager, a referee and a player."""

    role: Role
    body_limit = BODY_LIMIT
    supplied = ENVELOPE
    """What `supply` knows to fill in."""

    def __init__(
        self,
        name: str,
        wire: Wire,
        *,
        patience: Patience | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self.name = name
        """What the agent calls itself in `sender`; its id, once it has one."""
        self.wire = wire
        self.patience = patience or Patience()
        self.clock = clock
        self.journal = Journal()
        """What this agent writes down of what it does."""
        self._lines: dict[str, Line] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def handlers(self) -> Mapping[type[Message], Handler]:
        """Return who answers which message."""
        raise NotImplementedError

    def tools(self) -> Sequence[ToolCard]:
        """Return the tools that are not messages."""
        return ()

    def toolbox(self) -> Toolbox:
        """Return every tool of this agent, those that are messages among them."""
        return Toolbox([*message_cards(self.handlers(), self.supply, self.supplied), *self.tools()])

    def supply(self, kind: type[Message], token: str | None) -> dict[str, Json]:
        """Return what a message of *kind* may leave out if it comes over MCP."""
        role = kind.route.sender[0]
        sender = role if role is Role.LEAGUE else f"{role}:mcp"
        stamp = self.stamp(f"conv-mcp-{kind.route.tool}")
        return {**stamp, "message_type": name(kind), "sender": sender}

    def about(self) -> dict[str, Json]:
        """Return what a person who opens this agent in a browser is told."""
        return {"agent": self.role, "name": self.name, "protocol": VERSION, "endpoint": "/mcp"}

    def ready(self) -> bool:
        return True

    def pages(self) -> Mapping[str, Callable[[], Json]]:
        """Return what can be read with GET, by path."""
        return {
            "/": self.about,
            "/healthz": lambda: {"status": "ok"},
            "/readyz": lambda: {"status": "ready"} if self.ready() else NOT_READY,
            EARLIER: schemas_v1,
        }

    def look(self, path: str) -> Json | None:
        """Return the page at *path*, or None if there is none."""
        page = self.pages().get(path)
        return page() if page else published(path)

    def site(self) -> Site:
        """Return this agent as something that can be served."""
        handlers, offer = self.handlers(), self.offer()
        if self.journal.detailed:
            handlers = {kind: self._overheard(answer) for kind, answer in handlers.items()}
        endpoint = Endpoint(handlers, in_league_dialect(self.tools()), self.complaint, self)
        short_way = ShortWay(offer, handlers)
        return Site(
            answer=Switch(endpoint, short_way, self.body_limit).answer,
            look=self.look,
            body_limit=self.body_limit,
            too_large=endpoint.too_large,
            streams=Door(offer).streams(),
            names=self.host_names(),
        )

    def offer(self) -> Offer:
        """Return what this agent shows to whoever speaks MCP."""
        return Offer(
            name=f"agent-league {self.role}",
            version=SPOKEN,
            tools=self.toolbox(),
            complain=self.complaint,
            message_limit=self.body_limit,
        )

    def host_names(self) -> frozenset[str]:
        """Return the names by which this agent is reached, beside those of its machine."""
        return frozenset()

    def now(self) -> str:
        return written(self.clock())

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        """Return *message*, which deviates, as it is to be handled; an agent may refuse it."""
        return message

    def handled(self, message: Message, deviations: Sequence[Deviation], result: Result) -> Result:
        """Take note of *message*, which was handled although it deviates."""
        for deviation in deviations:
            rule, got = deviation.rule.id, deviation.got
            self.journal.note("DEVIATION", sender=message.sender, rule=rule, got=got)
        return result

    @property
    def sender(self) -> str:
        return f"{self.role}:{self.name}"

    def stamp(self, conversation_id: str) -> Stamp:
        return {
            "protocol": VERSION,
            "sender": self.sender,
            "timestamp": written(self.clock()),
            "conversation_id": conversation_id,
        }

    def complaint(self, error: ProtocolError) -> LeagueComplaint:
        """Return *error* as the message that its sender is told."""
        return LeagueComplaint(
            **self.stamp(f"conv-error-{error.code.lower()}"),
            error_code=error.code,
            error_name=error.code.name,
            error_description=error.code.name,
            original_message_type=error.about,
            detail=error.detail,
            context=error.context or None,
            retryable=error.code.retryable,
        )

    def line(self, url: str) -> Line:
        """Return the one line to *url*: it remembers how the peer is spoken to and how it fares."""
        if url not in self._lines:
            self._lines[url] = Line(url, self._ways().post, self.patience, Breaker())
        return self._lines[url]

    def _overheard(self, answer: Handler) -> Handler:
        """Return *answer*, which leaves a note of every message that it answers."""

        def heard(message: Message) -> Result | Awaitable[Result]:
            said = msgspec.to_builtins(message)
            self.journal.note("MESSAGE_RECEIVED", "DEBUG", message=said)
            return answer(message)

        return heard

    def _ways(self) -> Ways:
        if self.journal.detailed:
            return Ways(self._post, self._exchange)
        return Ways(self.wire.post, self.wire.exchange)

    async def _post(self, url: str, body: bytes, within: float) -> Answer:
        """Send *body*, and leave a note of it."""
        self._note_sent(url, body)
        return await self.wire.post(url, body, within)

    async def _exchange(self, url: str, parcel: Parcel, within: float) -> Heard:
        """Send *parcel*, and leave a note of it."""
        self._note_sent(url, parcel.body)
        return await self.wire.exchange(url, parcel, within)

    def _note_sent(self, url: str, body: bytes) -> None:
        said = msgspec.json.decode(body)
        self.journal.note("MESSAGE_SENT", "DEBUG", to=url, message=said.get("params", said))

    def speech(self, peer: Peer) -> Speech:
        """Return a new way to speak to *peer*, in its own dialect."""
        return SPEECHES[peer.dialect](peer, self._ways(), self.clock)

    def speak(self, peer: Peer) -> Line:
        """Return the line to *peer*, on which it is spoken to in its own dialect."""
        line = self.line(peer.url)
        if line.speech.dialect != peer.dialect:
            line.speech = self.speech(peer)
        return line

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run *work* beside everything else, and say so if it fails."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("%s: %r", self.sender, error, exc_info=error)
            self.journal.note("TASK_FAILED", "ERROR", error=repr(error))

    async def close(self) -> None:
        """Stop what still runs beside."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def together(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return what *works* return, all done at the same time; none outlives this call.

    Half the price of `asyncio.gather` for two: the first of them needs no task of its own.
    """
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(work) for work in works[1:]]
    try:
        done = [await work for work in works[:1]]
        return done + [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()


class NotAdmittedError(LeagueError):
    """The league refused the registration; the sentence says why."""


class Member(Agent):
    """An agent that joins a league: a referee or a player."""

    body_limit = 4 * 1024 * 1024  # what a large league tells everybody is longer than 10 KB

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        league_id: str | None = None,
        dialect: str = VERSION,
        **options: Any,
    ) -> None:
        super().__init__(name, wire, **options)
        self.dialect = dialect
        """How it speaks to the league; it understands whatever the league speaks to it."""
        self.league_url = league_url
        self.league_id = league_id
        """The league to join, if only that one will do; then the league that was joined."""
        self.token: str | None = None
        self.over: asyncio.Event = asyncio.Event()
        """Set when the league says that it is completed."""
        self.final: LeagueCompleted | None = None

    def ready(self) -> bool:
        return self.token is not None

    def application(self) -> RegisterReferee | RegisterPlayer:
        """Return the request with which this agent asks to be let in."""
        raise NotImplementedError

    async def register(self, retry: Retry | None = None) -> None:
        """Join the league, or raise `NotAdmittedError` or a `NoAnswerError`."""
        line = self.speak(Peer(self.league_url, self.name, self.dialect))
        request: Request[Any] = self.application()
        ledger = Ledger()
        reply = await persistently(
            lambda: line.ask(request, ledger=ledger), retry or Retry(), self._again
        )
        for deviation in ledger.deviations.values():
            self.journal.note("DEVIATION", rule=deviation.rule.id, got=deviation.got)
        if reply.status != "ACCEPTED":
            self.journal.note("NOT_ADMITTED", "ERROR", reason=reply.reason)
            raise NotAdmittedError(reply.reason or "the league gave no reason")
        self.name = reply.agent_id or self.name
        self.token = reply.auth_token or ""  # some leagues know no tokens
        self.league_id = reply.league_id or self.league_id
        self.journal.belongs_to(self.name)
        self.journal.note("REGISTERED", league_id=self.league_id, league=self.league_url)

    def _again(self, attempt: int, error: NoAnswerError, wait: float) -> None:
        self.journal.warn("NO_ANSWER", f"{error}; trying again in {wait:g} s", attempt=attempt)

    def complained(self, notice: LeagueComplaint | GameComplaint) -> Acknowledgement:
        """Take an error that somebody found in what this agent said."""
        said = msgspec.to_builtins(notice)
        self.journal.note(said["message_type"], "WARNING", message=said)
        return taken(notice)

    def league_over(self, notice: LeagueCompleted) -> Acknowledgement:
        """Leave, unless it is another league that is over: anybody can send such a notice."""
        if self.league_id in (None, notice.league_id):
            self.final = notice
            self.over.set()
        self.journal.note("LEAGUE_COMPLETED", league_id=notice.league_id)
        return Acknowledgement()


def host_of(endpoint: str) -> frozenset[str]:
    """Return the host in *endpoint*, as a request to it names it; none if there is none."""
    with suppress(ValueError):
        return frozenset({without_port(urlsplit(endpoint).netloc)})
    return frozenset()


def taken(notice: Notice) -> Acknowledgement:
    """Take a notice that needs nothing done."""
    log.info("%s from %s", type(notice).__name__, notice.sender)
    return Acknowledgement()
