"""A whole league on this machine: a process for each agent, and none left behind."""

import asyncio
import logging
import multiprocessing
import signal
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
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
    Plan,
    PlayerPlan,
    RefereePlan,
    bound,
    run,
    run_members,
    serve_until,
    url_of,
)
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.protocol import LeagueError
from agent_league.store import EventLog
from agent_league.store.log import Store
from agent_league.transport.http_client import HttpClient

log = logging.getLogger("agent_league")
FIRST_REFEREE, FIRST_PLAYER = 1, 101
"""Referees and players have their ports after the manager's, as the protocol numbers them."""
GRACE = 2.0


class AgentDiedError(LeagueError):
    """An agent of ours ended before its league did."""


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
    state: Path | None = None
    """Where the agents keep who they are, for their next life."""

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

    def port(self, offset: int) -> int:
        return self.port_base + offset if self.port_base else 0


@dataclass
class LocalLeague:
    """A manager in this process, referees and players in their own; leaves nothing running."""

    plan: LocalPlan
    events: EventLog = field(default_factory=EventLog)
    manager: LeagueManager = field(init=False)
    processes: list[BaseProcess] = field(default_factory=list)
    _socks: list[socket.socket] = field(default_factory=list)

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
            memory=self.plan.memory(agent_id),
        )
        return plan, sock

    def _player(self, number: int) -> tuple[Plan, socket.socket]:
        sock = self._bound(self.plan.port(FIRST_PLAYER + number))
        agent_id = f"P{number + 1:02}"
        plan = PlayerPlan(
            league_url=self.url,
            endpoint=url_of(sock),
            player_id=agent_id,
            display_name=self.plan.names[number],
            strategy=self.plan.strategies[number],
            seed=self.plan.settings.seed,
            game_types=(self.plan.settings.game_type,),
            memory=self.plan.memory(agent_id),
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
