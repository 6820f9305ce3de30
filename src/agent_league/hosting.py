"""Agents as servers of this process: the ports they listen at, and how long they run."""

import asyncio
import errno
import gc
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import psutil

from agent_league.agent import Agent, Member
from agent_league.clock import system_clock
from agent_league.journal import Journal
from agent_league.mcp.client import McpClient
from agent_league.mcp.client_speech import McpSpeech
from agent_league.mcp.stdio import StdioCarrier
from agent_league.player import Played, Player, StandIn, load_brain
from agent_league.protocol import LeagueError, Patience
from agent_league.protocol.fields import VERSION as LEAGUE_VERSION
from agent_league.protocol.play import Retry
from agent_league.protocol.registration import PlayerMeta, RefereeMeta
from agent_league.referee import Referee
from agent_league.store.keepsakes import Diary, Keepsake, keep, kept
from agent_league.transport.http_client import HttpClient
from agent_league.transport.http_server import HttpServer

T = TypeVar("T")
VERSION = "1.0.0"
LOOPBACK = "127.0.0.1"
MANAGER_PORT = 8000
FLUSHED_EVERY = 1.0
"""Seconds that what an agent notes may stay in memory."""
BETWEEN_LOOKS = 1.0
"""Seconds between two looks for a league that is not there yet."""
log = logging.getLogger("agent_league")


class AddressError(LeagueError):
    """No agent can listen where it should."""


class NoSuchAddressError(AddressError):
    """The address is not one of this machine, or may not be used."""


class PortBusyError(AddressError):
    """Somebody else listens where an agent should."""

    def __init__(self, port: int, who: str) -> None:
        super().__init__(f"port {port} is in use by {who}")
        self.port = port


@dataclass(frozen=True)
class RefereePlan:
    """A referee to be started."""

    league_url: str
    endpoint: str
    league_id: str | None = None
    referee_id: str = "referee"
    display_name: str = "Referee"
    game_types: Sequence[str] = ("even_odd",)
    capacity: int = 10
    version: str = VERSION
    patience: Patience = field(default_factory=Patience)
    retry: Retry = field(default_factory=Retry)
    memory: Path | None = None
    """Where it keeps who it is, for its next life."""
    patient: bool = False
    """Whether it waits for a league that is not there yet."""

    @property
    def agent_id(self) -> str:
        return self.referee_id

    def member(self, wire: HttpClient) -> Referee:
        meta = RefereeMeta(
            display_name=self.display_name,
            version=self.version,
            game_types=list(self.game_types),
            contact_endpoint=self.endpoint,
            max_concurrent_matches=self.capacity,
        )
        return Referee(
            self.referee_id,
            wire,
            self.league_url,
            meta=meta,
            league_id=self.league_id,
            patience=self.patience,
        )


@dataclass(frozen=True)
class PlayerPlan:
    """A player to be started."""

    league_url: str
    endpoint: str
    league_id: str | None = None
    player_id: str = "player"
    display_name: str = "Player"
    strategy: str = "random"
    seed: str | None = None
    dialect: str = LEAGUE_VERSION
    """How it speaks to the league."""
    game_types: Sequence[str] = ("even_odd", "tic_tac_toe")
    version: str = VERSION
    patience: Patience = field(default_factory=Patience)
    retry: Retry = field(default_factory=Retry)
    memory: Path | None = None
    """Where it keeps who it is and what it has seen, for its next life."""
    patient: bool = False
    """Whether it waits for a league that is not there yet."""

    @property
    def agent_id(self) -> str:
        return self.player_id

    def member(self, wire: HttpClient) -> Player:
        brain = load_brain(self.strategy)
        meta = PlayerMeta(
            display_name=self.display_name,
            version=self.version,
            game_types=list(self.game_types),
            contact_endpoint=self.endpoint,
        )
        return Player(
            self.player_id,
            wire,
            self.league_url,
            meta=meta,
            brain=brain,
            seed=self.seed,
            league_id=self.league_id,
            dialect=self.dialect,
            patience=self.patience,
        )


@dataclass(frozen=True)
class StandInPlan:
    """A player to be started whose moves come from an MCP server behind a command."""

    player: PlayerPlan
    command: str

    @property
    def agent_id(self) -> str:
        return self.player.player_id

    @property
    def display_name(self) -> str:
        return self.player.display_name

    @property
    def retry(self) -> Retry:
        return self.player.retry

    @property
    def memory(self) -> Path | None:
        return self.player.memory

    @property
    def patient(self) -> bool:
        return self.player.patient

    def member(self, wire: HttpClient) -> StandIn:
        carrier, plan = StdioCarrier(self.command), self.player
        meta = PlayerMeta(
            display_name=plan.display_name,
            version=plan.version,
            game_types=list(plan.game_types),
            contact_endpoint=plan.endpoint,
        )
        return StandIn(
            plan.player_id,
            wire,
            plan.league_url,
            meta=meta,
            speech=lambda who: McpSpeech(McpClient(carrier), who, system_clock),
            hang_up=carrier.close,
            dialect=plan.dialect,
            league_id=plan.league_id,
            patience=plan.patience,
        )


Plan: TypeAlias = RefereePlan | PlayerPlan | StandInPlan


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens at *port* (0 for any), or raise `AddressError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(1024)
    except OSError as error:
        sock.close()
        if error.errno != errno.EADDRINUSE:
            raise NoSuchAddressError(f"cannot listen at {host}:{port}: {error.strerror}") from error
        raise PortBusyError(port, _occupant(port)) from error
    sock.setblocking(False)
    return sock


def _occupant(port: int) -> str:
    """Say which process listens at *port*, as far as we may know."""
    with suppress(psutil.Error):
        for connection in psutil.net_connections("inet"):
            if connection.laddr and connection.laddr.port == port and connection.pid:
                process = psutil.Process(connection.pid)
                return f"pid {process.pid} ({' '.join(process.cmdline())[:80]})"
    return "another process"


def url_of(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    shown = LOOPBACK if host in {"0.0.0.0", "::"} else host  # noqa: S104 - read, not bound
    return f"http://[{shown}]:{port}/mcp" if ":" in shown else f"http://{shown}:{port}/mcp"


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run *main* on the fastest event loop that is installed."""
    gc.collect()
    gc.freeze()  # what was imported stays; looking through it again and again costs a fifth
    gc.set_threshold(20_000, 20, 20)
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop  # noqa: PLC0415 - not there on every system

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


async def serve_until(agent: Agent, sock: socket.socket, ends: Coroutine[Any, Any, Any]) -> None:
    """Serve *agent* while *ends* runs."""
    server = await HttpServer.start(agent.site(), sock)
    try:
        await ends
    finally:
        await server.close()
        await agent.close()


def _unsaid(member: Member) -> None:
    """Tell nobody that *member* has joined."""


def _unkept(agent_id: str) -> Journal:
    """Return a journal that keeps nothing."""
    return Journal()


async def run_members(
    plans: Sequence[Plan],
    socks: Sequence[socket.socket],
    stop: asyncio.Event,
    joined: Callable[[Member], None] = _unsaid,
    journal_of: Callable[[str], Journal] = _unkept,
) -> None:
    """Run members until the league is over, or *stop* is set."""
    wire = HttpClient()
    lives = [
        Life(plan.member(wire), plan.memory, joined, plan.retry, patient=plan.patient)
        for plan in plans
    ]
    for plan, life in zip(plans, lives, strict=True):
        life.member.journal = journal_of(plan.agent_id)
    try:
        async with _flushing([life.member.journal for life in lives]), asyncio.TaskGroup() as group:
            for life, sock in zip(lives, socks, strict=True):
                group.create_task(serve_until(life.member, sock, _lived(life, stop)))
    finally:
        await wire.close()
        for life in lives:
            life.member.journal.close()


@asynccontextmanager
async def _flushing(journals: Sequence[Journal]) -> AsyncIterator[None]:
    """Have what *journals* hold written now and then, for the time of a context."""

    async def flush() -> None:
        while True:
            await asyncio.sleep(FLUSHED_EVERY)
            for journal in journals:
                journal.flush()

    flushing = asyncio.ensure_future(flush())
    try:
        yield
    finally:
        flushing.cancel()


async def _lived(life: "Life", stop: asyncio.Event) -> None:
    taking_part = asyncio.ensure_future(life.take_part())
    stopped = asyncio.ensure_future(stop.wait())
    await asyncio.wait({taking_part, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not taking_part.cancel():
        taking_part.result()


@dataclass(frozen=True)
class Life:
    """A member from its registration to the end of the league, and what it leaves behind."""

    member: Member
    memory: Path | None
    joined: Callable[[Member], None]
    retry: Retry = field(default_factory=Retry)
    patient: bool = False

    async def take_part(self) -> None:
        member = self.member
        if self.patient:
            await _there(member)
        known = kept(self.memory) if self.memory else None
        if known is not None:
            member.name, member.token = known.agent_id, known.token
        await member.register(self.retry)
        if self.memory:
            self._remember(self.memory)
        self.joined(member)
        await member.over.wait()

    def _remember(self, memory: Path) -> None:
        member = self.member
        keep(memory, Keepsake(member.name, member.token or "", member.league_id))
        if isinstance(member, Player):
            diary = Diary(memory.with_suffix(f".{member.league_id}.jsonl"))
            member.recall(diary.read(Played))
            member.noted = diary.write


async def _there(member: Member) -> None:
    """Return when somebody listens where the league should be."""
    said = False
    while not await member.wire.listens(member.league_url, BETWEEN_LOOKS):
        if not said:
            log.warning("no league at %s yet; looking again and again", member.league_url)
        said = True
        await asyncio.sleep(BETWEEN_LOOKS)
