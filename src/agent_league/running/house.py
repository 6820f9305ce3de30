"""Processes whose referees all leagues of a server share: each has one port, and a path for each league."""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import NamedTuple, Self

from agent_league.agent import log
from agent_league.agent_log import AgentLog
from agent_league.files.logger import AgentLogs
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.http.site import Site
from agent_league.member import Member
from agent_league.protocol import LeagueError
from agent_league.running.event_loop import Leftovers
from agent_league.running.fork_server import choose_context, start_fork_server
from agent_league.running.members import flush_regularly, take_part
from agent_league.running.processes import (
    EXIT_TIMEOUT,
    run_child,
    wait_for_end,
)
from agent_league.running.serve import bind, open_client, url_of
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.serving.league_sites import LeagueSites, make_league_url
from agent_league.serving.site import make_site

LONGEST_PAUSE = 30.0
"""Seconds before a process that ends again and again is started once more."""
_NOBODY = Answer(404, b'{"error":"no league has a referee here"}')


class Appointment(NamedTuple):
    """A referee for one league."""

    league_id: str
    spec: AgentSpec
    link: LeagueLink


class House:
    """The referees in this process."""

    def __init__(self, url: str, agent_log: AgentLog) -> None:
        self._url, self._log = url, agent_log
        self._sites = LeagueSites()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._leftovers = Leftovers()

    async def run(self, sock: socket.socket, orders: Connection, stop: asyncio.Event) -> None:
        """Take orders, and serve the referees, until *stop* is set."""
        site = Site(
            answer=lambda body, headers: _NOBODY,
            find_page=lambda path: None,
            too_large=lambda: _NOBODY,
            find_site=self._sites.find,
        )
        loop = asyncio.get_running_loop()
        async with open_client() as self._wire, flush_regularly([self._log]):
            self._server = await HttpServer.start(site, sock)
            loop.add_reader(orders.fileno(), self._take_orders, orders, stop)
            try:
                await stop.wait()
            finally:
                loop.remove_reader(orders.fileno())
                for task in tuple(self._tasks.values()):
                    task.cancel()
                await asyncio.gather(*self._tasks.values(), return_exceptions=True)
                await self._server.close(0.2)

    def _take_orders(self, orders: Connection, stop: asyncio.Event) -> None:
        """Read what the server has sent: an appointment, or the id of a league that is over."""
        try:
            while orders.poll():
                order: Appointment | str = orders.recv()
                if isinstance(order, str):
                    self._dismiss(order)
                elif order.league_id not in self._tasks:
                    task = asyncio.ensure_future(self._referee(order))
                    task.add_done_callback(lambda _: self._leftovers.add(len(self._tasks)))
                    self._tasks[order.league_id] = task
        except (EOFError, OSError):  # the server is gone
            stop.set()

    def _dismiss(self, league_id: str) -> None:
        if league_id in self._tasks:
            self._tasks[league_id].cancel()

    async def _referee(self, order: Appointment) -> None:
        """Be a referee of one league until the league is over."""
        league_id, link = order.league_id, order.link
        spec = replace(order.spec, endpoint=make_league_url(self._url, league_id))
        member = spec.make_member(self._wire, link)
        member.set_log(self._log)
        self._sites.add(league_id, make_site(member))
        try:
            await take_part(member, link, spec.identity_path)
        except LeagueError as error:
            log.warning("%s: %s has no referee here: %s", spec.agent_id, league_id, error)
        finally:
            await self._close(member, league_id)

    async def _close(self, member: Member, league_id: str) -> None:
        self._sites.remove(league_id)
        self._server.known_heads.clear()
        self._tasks.pop(league_id, None)
        await member.close()


def _run_house(sock: socket.socket, orders: Connection, logs: AgentLogs, name: str) -> None:
    house = House(url_of(sock), logs.for_agent(name))
    run_child(lambda stop: house.run(sock, orders, stop))


class Houses:
    """Starts the processes of a server's referees, and starts them again if they end."""

    def __init__(self, referees: Sequence[AgentSpec], host: str, logs: AgentLogs) -> None:
        self._host, self._logs = host, logs
        self._specs = list(referees)
        self._orders: dict[str, Connection] = {}
        """The way to each process, by the id of its referee."""
        self._processes: dict[str, BaseProcess] = {}
        self._open: dict[str, Mapping[str, Appointment]] = {}
        """The referees of each league, by their ids."""

    def __len__(self) -> int:
        return len(self._specs)

    def __enter__(self) -> Self:
        if self._specs:
            start_fork_server()
        self._specs = [self._start(spec) for spec in self._specs]
        return self

    def __exit__(self, *details: object) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(EXIT_TIMEOUT)
            if process.is_alive():
                process.kill()
                process.join()

    def open(self, league_id: str, link: LeagueLink, *specs: AgentSpec) -> None:
        """Let every process be a referee of a league, as *specs* say; see `appoint`."""
        self._open[league_id] = {
            spec.agent_id: Appointment(league_id, spec, link) for spec in specs
        }
        for agent_id, appointment in self._open[league_id].items():
            self._send(agent_id, appointment)

    def close(self, league_id: str) -> None:
        """Let no process be a referee of a league any more."""
        if self._open.pop(league_id, None):
            for agent_id in self._orders:
                self._send(agent_id, league_id)

    @property
    def processes(self) -> Sequence[BaseProcess]:
        return list(self._processes.values())

    @property
    def specs(self) -> Sequence[AgentSpec]:
        """One referee for each process, with the port that it has."""
        return self._specs

    async def supervise(self) -> None:
        """Start each process again that ends; never return."""
        await asyncio.gather(*(self._supervise(spec) for spec in self._specs))

    async def _supervise(self, spec: AgentSpec) -> None:
        pause = 1.0
        while True:
            await wait_for_end(self._processes[spec.agent_id])
            log.warning("the process of referee %s ended; it is started again", spec.agent_id)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            await asyncio.to_thread(self._start, spec)
            for appointments in tuple(self._open.values()):
                if spec.agent_id in appointments:
                    self._send(spec.agent_id, appointments[spec.agent_id])

    def _start(self, spec: AgentSpec) -> AgentSpec:
        """Start the process of a referee, and return the referee with the port that it has."""
        context, sock = choose_context(), bind(self._host, spec.port)
        theirs, ours = context.Pipe(duplex=False)
        process = context.Process(
            target=_run_house,
            args=(sock, theirs, self._logs, spec.agent_id),
            name=f"referee {spec.agent_id}",
            daemon=True,
        )
        process.start()
        port = sock.getsockname()[1]
        for copy in (sock, theirs):  # a copy left open here would take calls that nobody answers
            copy.close()
        self._processes[spec.agent_id], self._orders[spec.agent_id] = process, ours
        return replace(spec, port=port)

    def _send(self, agent_id: str, order: Appointment | str) -> None:
        with suppress(OSError):  # it has ended, and gets all orders when it is started again
            self._orders[agent_id].send(order)
