"""A whole league on this machine: a process for each agent, and none left behind."""

import asyncio
import logging
import multiprocessing
import signal
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from agent_league.guests import GuestHouse
from agent_league.hosting import (
    LOOPBACK,
    MANAGER_PORT,
    VERSION,
    Plan,
    PlayerPlan,
    RefereePlan,
    bound,
    run,
    run_members,
    serve_until,
    url_of,
)
from agent_league.journal import Journal
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.protocol import LeagueError
from agent_league.sdk.journals import Journals, Level
from agent_league.store import EventLog
from agent_league.store.log import Store
from agent_league.store.sqlite import Durability
from agent_league.transport.http_client import HttpClient
from agent_league.vocabulary import Json

log = logging.getLogger("agent_league")
FIRST_REFEREE, FIRST_PLAYER = 1, 101
"""Referees and players have their ports after the manager's, as the protocol numbers them."""
GRACE = 2.0


class AgentDiedError(LeagueError):
    """An agent of ours ended before its league did."""


def _child(plans: Sequence[Plan], socks: Sequence[socket.socket], journals: Journals) -> None:
    """Be a process of a local league: end when it ends, or when whoever started it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and tells us
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    try:
        run(_child_main(plans, socks, journals))
    except* LeagueError as group:
        for error in group.exceptions:
            log.error("%s: %s", plans[0].display_name, error)  # noqa: TRY400 - a sentence is enough
        raise SystemExit(1) from None


async def _child_main(
    plans: Sequence[Plan], socks: Sequence[socket.socket], journals: Journals
) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    parent = multiprocessing.parent_process()
    if parent is not None:
        loop.add_reader(parent.sentinel, stop.set)
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await run_members(plans, socks, stop, journal_of=journals.of)


def _context() -> ForkServerContext | SpawnContext:
    """Return how processes are started: from a server that has all imports done, if possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__])
    return context


@dataclass(frozen=True)
class Place:
    """Where an agent is to listen, and as whom."""

    agent_id: str
    port: int = 0
    display_name: str = ""
    version: str = VERSION
    game_types: Sequence[str] = ()
    """What it plays, if that is not just the game of the league."""
    capacity: int = 10
    strategy: str | None = None

    def at(self, port: int) -> Self:
        return replace(self, port=port)


def moved(places: Sequence[Place], base: int, first: int) -> list[Place]:
    """Return *places* at the ports that follow *base*; 0 takes any that are free."""
    return [place.at(base + first + n if base else 0) for n, place in enumerate(places)]


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
    state: Path | None = None
    """Where the agents keep who they are, for their next life."""
    logs: Path | None = None
    """Where the agents, and whoever runs them, log what they do."""
    log_level: Level = "INFO"
    store: str | None = None
    """The address of the league's store, if that is not the one in its folder."""
    durability: Durability = "power"
    referee_places: Sequence[Place] = ()
    """Those that are not there follow from the number of a referee, or of a player."""
    player_places: Sequence[Place] = ()

    @property
    def lonely(self) -> bool:
        """Whether only the manager runs here: everybody else is somebody else's affair."""
        return not self.referees and not self.strategies

    def moved(self, base: int) -> Self:
        """Return the same league at other ports: the manager's is *base*, or 0 for any."""
        return replace(
            self,
            port_base=base,
            referee_places=moved(self.referee_places, base, FIRST_REFEREE),
            player_places=moved(self.player_places, base, FIRST_PLAYER),
        )

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(self, enc_hook=str))

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Return the plan that was saved at *path*, if there is one."""
        if not path.exists():
            return None
        return msgspec.json.decode(path.read_bytes(), type=cls, dec_hook=lambda _, raw: Path(raw))

    @property
    def open_seats(self) -> int:
        """How many players it waits for that are not its own."""
        return (self.settings.awaited_players or 0) - len(self.strategies)

    def memory(self, agent_id: str) -> Path | None:
        return self.state / f"{agent_id}.json" if self.state else None

    def referee_place(self, number: int) -> Place:
        if number < len(self.referee_places):
            return self.referee_places[number]
        agent_id = f"REF{number + 1:02}"
        port, name = self.port(FIRST_REFEREE + number), f"Referee {agent_id}"
        return Place(agent_id, port, name, capacity=self.capacity)

    def player_place(self, number: int) -> Place:
        if number < len(self.player_places):
            return self.player_places[number]
        return Place(f"P{number + 1:02}", self.port(FIRST_PLAYER + number))

    @property
    def journals(self) -> Journals:
        return Journals(self.logs, self.log_level)

    def port(self, offset: int) -> int:
        return self.port_base + offset if self.port_base else 0


@dataclass
class LocalLeague:
    """A manager in this process, referees and players in their own; leaves nothing running."""

    plan: LocalPlan
    journal: Journal = field(default_factory=Journal)
    """What this league notes of the agents that it starts."""
    events: EventLog = field(default_factory=EventLog)
    manager: LeagueManager = field(init=False)
    processes: list[BaseProcess] = field(default_factory=list)
    _socks: list[socket.socket] = field(default_factory=list)
    _living: dict[BaseProcess, Json] = field(default_factory=dict)
    """The agents in each process that is not known to have ended."""

    def __enter__(self) -> Self:
        """Take all the ports, and start the processes."""
        plan = self.plan
        self._wire = HttpClient()
        self.manager = LeagueManager(plan.settings, self._wire, self.events)
        with ExitStack() as undone:
            undone.callback(self._close_sockets)
            self._sock = self._bound(plan.port(0))
            GuestHouse(self.manager, self.url)
            referees = [self._referee(number) for number in range(plan.referees)]
            players = [self._player(number) for number in range(len(plan.strategies))]
            undone.pop_all()
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
                self.journal.note("AGENT_KILLED", "WARNING", agents=self._living[process])
            self._note_end(process)

    async def open(self, store: Store | None = None) -> None:
        """Open registration, or take up the league where it stopped, if *store* has it."""
        await self.manager.open(store)

    async def play(self) -> None:
        """Play the season to its end, or raise `AgentDiedError`."""
        try:
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
        self._note_end(process)
        if process.exitcode and not self.manager.season.players and not died.done():
            died.set_result(AgentDiedError(f"{process.name} ended before the league began"))

    def _note_end(self, process: BaseProcess) -> None:
        agents = self._living.pop(process, None)
        if agents is not None:
            level = "WARNING" if process.exitcode else "INFO"
            self.journal.note("AGENT_ENDED", level, agents=agents, exit_code=process.exitcode)

    def _bound(self, port: int) -> socket.socket:
        sock = bound(self.plan.host, port)
        self._socks.append(sock)
        return sock

    @property
    def url(self) -> str:
        return url_of(self._sock)

    def _referee(self, number: int) -> tuple[Plan, socket.socket]:
        place, settings = self.plan.referee_place(number), self.plan.settings
        sock = self._bound(place.port)
        plan = RefereePlan(
            league_url=self.url,
            endpoint=url_of(sock),
            referee_id=place.agent_id,
            display_name=place.display_name,
            game_types=place.game_types or (settings.game_type,),
            capacity=place.capacity,
            version=place.version,
            patience=settings.patience,
            retry=settings.retry,
            memory=self.plan.memory(place.agent_id),
        )
        return plan, sock

    def _player(self, number: int) -> tuple[Plan, socket.socket]:
        place, settings = self.plan.player_place(number), self.plan.settings
        sock = self._bound(place.port)
        plan = PlayerPlan(
            league_url=self.url,
            endpoint=url_of(sock),
            player_id=place.agent_id,
            display_name=self.plan.names[number],
            strategy=self.plan.strategies[number],
            seed=settings.seed,
            dialect=settings.protocols[0],
            game_types=place.game_types or (settings.game_type,),
            version=place.version,
            patience=settings.patience,
            retry=settings.retry,
            memory=self.plan.memory(place.agent_id),
        )
        return plan, sock

    def _start(self, group: Sequence[tuple[Plan, socket.socket]]) -> None:
        plans, socks = zip(*group, strict=True)
        first = plans[0]
        name = first.display_name if len(plans) == 1 else f"{len(plans)} players"
        arguments = (plans, socks, self.plan.journals)
        process = _context().Process(target=_child, args=arguments, name=name, daemon=True)
        process.start()
        self.processes.append(process)
        self._living[process] = [plan.agent_id for plan in plans]
        self.journal.note("AGENT_STARTED", agents=self._living[process], pid=process.pid)
        for sock in socks:  # a copy left open here would take calls that nobody answers
            sock.close()

    def _close_sockets(self) -> None:
        for sock in self._socks:
            sock.close()
