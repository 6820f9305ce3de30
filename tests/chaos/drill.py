"""A league whose processes are killed at random and started again, until it ends all the same."""

import asyncio
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from threading import Event
from typing import Any, cast

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer, Wire
from agent_league.member import Member
from agent_league.protocol import LeagueError, Patience, Role
from agent_league.protocol.play import Retry
from agent_league.running.event_loop import run
from agent_league.running.folder import Folder
from agent_league.running.league_run import run_league
from agent_league.running.members import run_members
from agent_league.running.serve import LOOPBACK, bind
from agent_league.running.specs import AgentSpec, LeagueLink, LeagueSpec
from agent_league.season.settings import LeagueSettings
from chaos.fault_proxy import be_proxies
from free_ports import free_ports

PLAYERS, REFEREES = 20, 2
STRIKES = 12
"""How often somebody is killed; on a busy machine, more would leave no time to come back."""
DROWSY = """
import asyncio

async def strategy(situation):
    await asyncio.sleep(situation.rng.uniform(0.01, 0.08))
    return situation.rng.choice(situation.legal)
"""
PATIENCE = Patience(
    register_referee=5.0, register_player=5.0, join=2.0, move=2.0, game_over=2.0, report=2.0
)


def settings(seed: int, players: int = PLAYERS) -> LeagueSettings:
    return LeagueSettings(
        seed=str(seed),
        league_id=f"drill_{seed}",
        awaited_players=players,
        awaited_referees=REFEREES,
        patience=PATIENCE,
        retry=Retry(attempts=3, base_delay=0.2),
        heartbeat=0.2,
        farewell=2.0,
    )


class WitnessingWire:
    """Writes down each result that the league has acknowledged as new, as soon as it has."""

    def __init__(self, wire: HttpClient, acknowledged: Path) -> None:
        self._wire, self._acknowledged = wire, acknowledged
        self.reaches, self.listens, self.exchange = wire.reaches, wire.listens, wire.exchange
        self.get = wire.get

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        answer = await self._wire.post(url, body, within)
        known = b'"note"' in answer.body
        if b'"method":"report_match_result"' in body and b'"ok"' in answer.body and not known:
            report = json.loads(body)["params"]
            with self._acknowledged.open("a", encoding="utf-8") as file:
                file.write(f"{report['match_id']} {report['result']['winner']}\n")
        return answer


@dataclass(frozen=True)
class WitnessedReferee(AgentSpec):
    """A referee whose acknowledged results are written down."""

    acknowledged: Path = Path()

    def make_member(self, wire: Wire, link: LeagueLink) -> Member:
        witnessed = WitnessingWire(cast("HttpClient", wire), self.acknowledged)
        return super().make_member(witnessed, link)


def be_manager(seed: int, folder: Folder, port: int, players: int = PLAYERS) -> None:
    _quietly()
    terms = settings(seed, players)
    over = any(row.ended for row in folder.list_leagues() if row.league_id == terms.league_id)
    if not over:  # killed after its last word: the same command would open another league
        run_league(folder.open_spec(LeagueSpec(terms, port_base=port)), folder)


def be_member(spec: AgentSpec, link: LeagueLink) -> None:
    """Be one agent; without a league it ends, and is started again."""
    _quietly()
    try:
        run(run_members([(spec, bind(LOOPBACK, spec.port))], link, asyncio.Event()))
    except* LeagueError:
        raise SystemExit(4) from None


def _quietly() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


@dataclass
class Drill:
    """One league under fire."""

    seed: int
    folder: Folder
    players: int = PLAYERS
    faulty: bool = False
    """Whether the links between all agents are faulty, and processes are stopped, too."""
    processes: dict[str, BaseProcess] = field(default_factory=dict)
    kills: int = 0

    def __post_init__(self) -> None:
        self._rng = Random(self.seed)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["chaos.drill"])
        self._jobs = dict(self._work())

    @property
    def acknowledged(self) -> Path:
        return self.folder.shared / "acknowledged.txt"

    def run(self, within: float = 90.0) -> None:
        """Start everything, kill and start again until the manager says that it is over.

        A busy machine may take long, but something must happen *within* so many seconds.
        """
        try:
            for name in self._jobs:
                self._start(name)
            self._under_fire(within)
        finally:
            for process in self.processes.values():
                process.kill()
                process.join()

    def _under_fire(self, within: float) -> None:
        for _ in range(STRIKES):
            self.processes["manager"].join(self._rng.uniform(0.05, 0.7))
            if self.processes["manager"].exitcode == 0:
                return
            self._strike()
        waited, before = 0, self._read_progress()
        while waited < within:
            self.processes["manager"].join(1.0)
            if self.processes["manager"].exitcode == 0:
                return
            self._start_the_dead()  # one that found no league to register in has ended
            after = self._read_progress()
            waited, before = (waited + 1 if after == before else 0), after
        raise AssertionError(f"seed {self.seed}: nothing happened for {within:.0f} s")

    def _read_progress(self) -> list[int]:
        """Return something that changes with every event that is stored."""
        return [file.stat().st_mtime_ns for file in sorted(self.folder.shared.glob("league.db*"))]

    def _strike(self) -> None:
        """Kill somebody, or everybody, and start again whoever is not there."""
        if self.faulty and self._rng.random() < 0.3:
            self._stop_for_a_while()
            return
        kinds = ("manager", "REF", "P", "")
        prefix = self._rng.choice(kinds)
        names = [name for name in self.processes if name.startswith(prefix)]
        victims = names if not prefix else [self._rng.choice(names)]
        for name in victims:
            with suppress(ProcessLookupError):
                os.kill(self.processes[name].pid or 0, signal.SIGKILL)
            self.processes[name].join()
            self.kills += 1
        self._start_the_dead()

    def _stop_for_a_while(self) -> None:
        """Let somebody hang, as on a machine that is busy or asleep."""
        pid = self.processes[self._rng.choice(list(self.processes))].pid or 0
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            Event().wait(self._rng.uniform(0.1, 0.8))
            os.kill(pid, signal.SIGCONT)

    def _start_the_dead(self) -> None:
        for name, process in list(self.processes.items()):
            if not process.is_alive() and process.exitcode != 0:
                self._start(name)

    def _start(self, name: str) -> None:
        job, arguments = self._jobs[name]
        process = self._context.Process(target=job, args=arguments, name=name, daemon=True)
        process.start()
        self.processes[name] = process

    def _work(self) -> Iterator[tuple[str, tuple[Callable[..., None], tuple[Any, ...]]]]:
        agents = 1 + REFEREES + self.players
        found = free_ports(2 * agents)
        ports, proxies = found[:agents], dict(zip(found[:agents], found[agents:], strict=True))
        manager, *others = ports
        if self.faulty:
            targets = {proxy: port for port, proxy in proxies.items()}
            yield "proxies", (be_proxies, (targets, str(self.seed)))
        else:
            proxies = {port: port for port in ports}
        link = LeagueLink(f"http://{LOOPBACK}:{proxies[manager]}/mcp")
        strategy = self.folder.shared / "drowsy.py"
        strategy.parent.mkdir(parents=True, exist_ok=True)
        strategy.write_text(DROWSY, encoding="utf-8")
        yield "manager", (be_manager, (self.seed, self.folder, manager, self.players))
        for number, port in enumerate(others[:REFEREES], 1):
            referee = WitnessedReferee(
                Role.REFEREE,
                f"REF{number:02}",
                port,
                "Referee",
                endpoint=f"http://{LOOPBACK}:{proxies[port]}/mcp",
                identity_path=self.folder.shared / f"REF{number:02}.json",
                acknowledged=self.acknowledged,
            )
            yield referee.agent_id, (be_member, (referee, link))
        for number, port in enumerate(others[REFEREES:], 1):
            player = AgentSpec(
                Role.PLAYER,
                f"P{number:02}",
                port,
                f"Player {number}",
                strategy=str(strategy),
                endpoint=f"http://{LOOPBACK}:{proxies[port]}/mcp",
                identity_path=self.folder.shared / f"P{number:02}.json",
            )
            yield player.agent_id, (be_member, (player, link))
