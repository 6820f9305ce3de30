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
from typing import Any, cast

from agent_league.cli.agents import manage
from agent_league.cli.folder import Folder
from agent_league.hosting import LOOPBACK, PlayerPlan, RefereePlan, bound, run, run_members
from agent_league.league import LeagueSettings
from agent_league.protocol import LeagueError, Patience
from agent_league.protocol.play import Retry
from agent_league.referee import Referee
from agent_league.transport.exchange import Answer
from agent_league.transport.http_client import HttpClient

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


def settings(seed: int) -> LeagueSettings:
    return LeagueSettings(
        seed=str(seed),
        league_id=f"drill_{seed}",
        awaited_players=PLAYERS,
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

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        answer = await self._wire.post(url, body, within)
        known = b'"note"' in answer.body
        if b'"method":"report_match_result"' in body and b'"ok"' in answer.body and not known:
            report = json.loads(body)["params"]
            with self._acknowledged.open("a", encoding="utf-8") as file:
                file.write(f"{report['match_id']} {report['result']['winner']}\n")
        return answer


@dataclass(frozen=True)
class WitnessedPlan(RefereePlan):
    """A referee whose acknowledged results are written down."""

    acknowledged: Path = Path()

    def member(self, wire: HttpClient) -> Referee:
        return super().member(cast("HttpClient", WitnessingWire(wire, self.acknowledged)))


def be_manager(seed: int, folder: Folder, port: int) -> None:
    _quietly()
    terms = settings(seed)
    over = any(row.ended for row in folder.leagues() if row.league_id == terms.league_id)
    if not over:  # killed after its last word: the same command would open another league
        manage(terms, folder, LOOPBACK, port)


def be_member(plan: Any, port: int) -> None:
    """Be one agent; without a league it ends, and is started again."""
    _quietly()
    try:
        run(run_members([plan], [bound(LOOPBACK, port)], asyncio.Event()))
    except* LeagueError:
        raise SystemExit(4) from None


def _quietly() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


@dataclass
class Drill:
    """One league under fire."""

    seed: int
    folder: Folder
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
        """Start everything, kill and start again until the manager says that it is over."""
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
        for _ in range(round(within)):
            self.processes["manager"].join(1.0)
            if self.processes["manager"].exitcode == 0:
                return
            self._start_the_dead()  # one that found no league to register in has ended
        raise AssertionError(f"seed {self.seed}: the league did not end")

    def _strike(self) -> None:
        """Kill somebody, or everybody, and start again whoever is not there."""
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
        ports = _free_ports(1 + REFEREES + PLAYERS)
        manager, *others = ports
        url = f"http://{LOOPBACK}:{manager}/mcp"
        strategy = self.folder.shared / "drowsy.py"
        strategy.parent.mkdir(parents=True, exist_ok=True)
        strategy.write_text(DROWSY, encoding="utf-8")
        yield "manager", (be_manager, (self.seed, self.folder, manager))
        for number, port in enumerate(others[:REFEREES], 1):
            plan = WitnessedPlan(
                league_url=url,
                endpoint=f"http://{LOOPBACK}:{port}/mcp",
                referee_id=f"REF{number:02}",
                memory=self.folder.shared / f"REF{number:02}.json",
                acknowledged=self.acknowledged,
            )
            yield f"REF{number:02}", (be_member, (plan, port))
        for number, port in enumerate(others[REFEREES:], 1):
            member = PlayerPlan(
                league_url=url,
                endpoint=f"http://{LOOPBACK}:{port}/mcp",
                player_id=f"P{number:02}",
                display_name=f"Player {number}",
                strategy=str(strategy),
                memory=self.folder.shared / f"P{number:02}.json",
            )
            yield f"P{number:02}", (be_member, (member, port))


def _free_ports(count: int) -> list[int]:
    socks = [bound(LOOPBACK, 0) for _ in range(count)]
    ports = [sock.getsockname()[1] for sock in socks]
    for sock in socks:
        sock.close()
    return ports
