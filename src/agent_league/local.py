"""Agents as processes of this machine: one by one, or a whole league at once."""

import asyncio
import gc
import logging
import multiprocessing
import signal
import socket
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

import psutil

from agent_league.agent import Agent, Member
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.player import Player, load_brain
from agent_league.protocol import LeagueError
from agent_league.protocol.play import Retry
from agent_league.protocol.registration import PlayerMeta, RefereeMeta
from agent_league.referee import Referee
from agent_league.store import MemoryLog
from agent_league.transport.http_client import HttpClient
from agent_league.transport.http_server import HttpServer

T = TypeVar("T")
log = logging.getLogger("agent_league")
VERSION = "1.0.0"
LOOPBACK = "127.0.0.1"
MANAGER_PORT, FIRST_REFEREE, FIRST_PLAYER = 8000, 1, 101
"""Referees and players have their ports after the manager's, as the protocol numbers them."""
GRACE = 2.0


class PortBusyError(LeagueError):
    """Somebody else listens where an agent should."""

    def __init__(self, port: int, who: str) -> None:
        super().__init__(f"port {port} is in use by {who}")
        self.port = port


class AgentDiedError(LeagueError):
    """An agent of ours ended before its league did."""


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

    def member(self, wire: HttpClient) -> Referee:
        meta = RefereeMeta(
            display_name=self.display_name,
            version=VERSION,
            game_types=list(self.game_types),
            contact_endpoint=self.endpoint,
            max_concurrent_matches=self.capacity,
        )
        return Referee(self.referee_id, wire, self.league_url, meta=meta, league_id=self.league_id)


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
    game_types: Sequence[str] = ("even_odd", "tic_tac_toe")

    def member(self, wire: HttpClient) -> Player:
        brain = load_brain(self.strategy)
        meta = PlayerMeta(
            display_name=self.display_name,
            version=VERSION,
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
        )


Plan: TypeAlias = RefereePlan | PlayerPlan


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens at *port* (0 for any), or raise `PortBusyError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(1024)
    except OSError as error:
        sock.close()
        raise PortBusyError(port, _occupant(port) or str(error)) from error
    sock.setblocking(False)
    return sock


def _occupant(port: int) -> str | None:
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


async def run_members(
    plans: Sequence[Plan],
    socks: Sequence[socket.socket],
    stop: asyncio.Event,
    joined: Callable[[Member], None] = _unsaid,
) -> None:
    """Run members until the league is over, or *stop* is set."""
    wire = HttpClient()
    members: list[Member] = [plan.member(wire) for plan in plans]
    try:
        async with asyncio.TaskGroup() as group:
            for member, sock in zip(members, socks, strict=True):
                group.create_task(serve_until(member, sock, _take_part(member, stop, joined)))
    finally:
        await wire.close()


async def _take_part(member: Member, stop: asyncio.Event, joined: Callable[[Member], None]) -> None:
    taking_part = asyncio.ensure_future(_until_over(member, joined))
    stopped = asyncio.ensure_future(stop.wait())
    await asyncio.wait({taking_part, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not taking_part.cancel():
        taking_part.result()


async def _until_over(member: Member, joined: Callable[[Member], None]) -> None:
    await member.register(Retry())
    joined(member)
    await member.over.wait()


def _child(plans: Sequence[Plan], socks: Sequence[socket.socket]) -> None:
    """Be a process of a local league: end when it ends, or when whoever started it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and tells us
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    try:
        run(_child_main(plans, socks))
    except* LeagueError as group:
        for error in group.exceptions:
            log.error("%s: %s", plans[0].display_name, error)  # noqa: TRY400 - a sentence is enough
        raise SystemExit(1) from None


async def _child_main(plans: Sequence[Plan], socks: Sequence[socket.socket]) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    parent = multiprocessing.parent_process()
    if parent is not None:
        loop.add_reader(parent.sentinel, stop.set)
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await run_members(plans, socks, stop)


def _context() -> ForkServerContext | SpawnContext:
    """Return how processes are started: from a server that has all imports done, if possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__])
    return context


@dataclass(frozen=True)
class LocalPlan:
    """A whole league on this machine."""

    settings: LeagueSettings
    strategies: Sequence[str]
    """One for each player."""
    names: Sequence[str]
    referees: int = 2
    capacity: int = 10
    port_base: int = MANAGER_PORT
    """The manager's port; 0 takes any that are free."""
    players_per_process: int = 1
    host: str = LOOPBACK

    def port(self, offset: int) -> int:
        return self.port_base + offset if self.port_base else 0


@dataclass
class LocalLeague:
    """A manager in this process, referees and players in their own; leaves nothing running."""

    plan: LocalPlan
    events: MemoryLog = field(default_factory=MemoryLog)
    manager: LeagueManager = field(init=False)
    processes: list[BaseProcess] = field(default_factory=list)
    _socks: list[socket.socket] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Take all the ports, and start the processes."""
        plan = self.plan
        self._wire = HttpClient()
        self.manager = LeagueManager(plan.settings, self._wire, self.events)
        try:
            self._sock = self._bound(plan.port(0))
            referees = [self._referee(number) for number in range(plan.referees)]
            players = [self._player(number) for number in range(len(plan.strategies))]
        except BaseException:
            self._close_sockets()
            raise
        size = plan.players_per_process
        groups = [[referee] for referee in referees]
        groups += [players[first : first + size] for first in range(0, len(players), size)]
        for group in groups:
            self._start(group)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close_sockets()
        for process in self.processes:
            if kind is not None:
                process.terminate()
        for process in self.processes:
            process.join(GRACE)
            if process.is_alive():
                process.kill()
                process.join()

    async def play(self) -> None:
        """Play the season to its end, or raise `AgentDiedError`."""
        try:
            await self.manager.open()
            await serve_until(self.manager, self._sock, self._season())
        finally:
            await self._wire.close()

    async def _season(self) -> None:
        season = asyncio.ensure_future(self.manager.run())
        died = asyncio.get_running_loop().create_future()
        loop = asyncio.get_running_loop()
        for process in self.processes:
            loop.add_reader(process.sentinel, self._ended, process, died)
        try:
            await asyncio.wait({season, died}, return_when=asyncio.FIRST_COMPLETED)
            if died.done():
                raise died.result()
            await season
        finally:
            season.cancel()
            for process in self.processes:
                loop.remove_reader(process.sentinel)

    def _ended(self, process: BaseProcess, died: "asyncio.Future[AgentDiedError]") -> None:
        """Give up if a member never joined; one that ends later is the league's affair."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(process.sentinel)
        if process.exitcode and not self.manager.season.players and not died.done():
            died.set_result(AgentDiedError(f"{process.name} ended before the league began"))

    def _bound(self, port: int) -> socket.socket:
        sock = bound(self.plan.host, port)
        self._socks.append(sock)
        return sock

    @property
    def url(self) -> str:
        return url_of(self._sock)

    def _referee(self, number: int) -> tuple[Plan, socket.socket]:
        sock = self._bound(self.plan.port(FIRST_REFEREE + number))
        agent_id = f"REF{number + 1:02}"
        plan = RefereePlan(
            league_url=self.url,
            endpoint=url_of(sock),
            referee_id=agent_id,
            display_name=f"Referee {agent_id}",
            game_types=(self.plan.settings.game_type,),
            capacity=self.plan.capacity,
        )
        return plan, sock

    def _player(self, number: int) -> tuple[Plan, socket.socket]:
        sock = self._bound(self.plan.port(FIRST_PLAYER + number))
        plan = PlayerPlan(
            league_url=self.url,
            endpoint=url_of(sock),
            player_id=f"P{number + 1:02}",
            display_name=self.plan.names[number],
            strategy=self.plan.strategies[number],
            seed=self.plan.settings.seed,
            game_types=(self.plan.settings.game_type,),
        )
        return plan, sock

    def _start(self, group: Sequence[tuple[Plan, socket.socket]]) -> None:
        plans, socks = zip(*group, strict=True)
        first = plans[0]
        name = first.display_name if len(plans) == 1 else f"{len(plans)} players"
        process = _context().Process(target=_child, args=(plans, socks), name=name, daemon=True)
        process.start()
        self.processes.append(process)
        for sock in socks:  # a copy left open here would take calls that nobody answers
            sock.close()

    def _close_sockets(self) -> None:
        for sock in self._socks:
            sock.close()
