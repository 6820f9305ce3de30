"""How many matches a second of CPU pays for: a whole league over real HTTP, all processes counted.

Machines are noisy, so a bare HTTP round trip is measured beside each league: when both fall, it
was the machine.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.http.site import Site
from agent_league.protocol import Role
from agent_league.running.event_loop import run
from agent_league.running.folder import MEMORY, Folder
from agent_league.running.league_run import LeagueRun, Observer, run_league
from agent_league.running.serve import LOOPBACK, bind, url_of
from agent_league.running.specs import LeagueSpec, number_agents
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import Event, SeasonEnded, SeasonStarted
from agent_league.strategy import STRATEGIES

ECHOES, AT_ONCE = 4000, 8

IN_MEMORY = Folder(address=MEMORY)


@dataclass(frozen=True)
class Season:
    """What one league cost, in seconds of CPU by role and of the clock on the wall."""

    processes: int
    matches: int
    wall_s: float
    cpu_s: dict[str, float]
    echoes_per_cpu_s: float
    standings: list[str] = field(repr=False)

    @property
    def rate(self) -> float:
        """Matches per CPU-second of all processes."""
        return self.matches / sum(self.cpu_s.values())


class Meter(Observer):
    """Reads the clocks when the season starts and when it ends."""

    def on_start(self, league_run: LeagueRun) -> None:
        self._run = league_run
        self.readings: list[tuple[float, dict[str, float]]] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, (SeasonStarted, SeasonEnded)):
            self.readings.append((time.perf_counter(), self._cpu()))

    def _cpu(self) -> dict[str, float]:
        spent = [_spent(process.pid) for process in self._run.processes.all]
        first = sum(group[0].role is Role.REFEREE for group in self._run.spec.processes)
        roles = {"referees": sum(spent[:first]), "players": sum(spent[first:])}
        return {"manager": time.process_time(), **roles}


def _spent(pid: int | None) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def measure(players: int, max_processes: int, referees: int, folder: Folder = IN_MEMORY) -> Season:
    """Play one league, and echo a while."""
    kinds = list(STRATEGIES)
    agents = zip(number_agents(Role.PLAYER, players), cycle(kinds), strict=False)
    spec = LeagueSpec(
        LeagueSettings(seed="7", awaited_players=players, awaited_referees=referees),
        number_agents(Role.REFEREE, referees),
        [replace(agent, strategy=kind) for agent, kind in agents],
        port_base=0,
        max_processes=max_processes,
    )
    meter = Meter()
    league_run = run_league(spec, folder, meter)
    (began, before), (ended, after) = meter.readings
    season = league_run.season
    return Season(
        processes=1 + len(league_run.processes.all),
        matches=len(season.results),
        wall_s=ended - began,
        cpu_s={role: after[role] - before[role] for role in after},
        echoes_per_cpu_s=run(_echo()),
        standings=[f"{row.player_id} {row.points}" for row in season.standings()],
    )


async def _echo() -> float:
    """Return how many bare round trips, client and server together, a CPU-second pays for."""
    site = Site(
        lambda body, headers: Answer(200, body), lambda path: None, partial(Answer, 413, b"")
    )
    sock = bind(LOOPBACK, 0)
    url, client, server = url_of(sock), HttpClient(), await HttpServer.start(site, sock)
    began = time.process_time()
    await asyncio.gather(*(_caller(client, url) for _ in range(AT_ONCE)))
    spent = time.process_time() - began
    await client.close()
    await server.close()
    return ECHOES / spent


async def _caller(client: HttpClient, url: str) -> None:
    for _ in range(ECHOES // AT_ONCE):
        await client.post(url, b'{"echo":"' + 300 * b"x" + b'"}', 5.0)


def describe(seasons: Sequence[Season]) -> str:
    """Return one line about the best of *seasons*, with the median beside it."""
    top = max(seasons, key=lambda season: season.rate)
    median = statistics.median(season.rate for season in seasons)
    roles = " / ".join(f"{role} {spent:.2f}" for role, spent in top.cpu_s.items())
    return (
        f"{top.processes} processes, {top.matches} matches, {top.wall_s:.2f} s; CPU-s {roles}; "
        f"matches per CPU-s: best {top.rate:.0f}, median {median:.0f}; "
        f"{top.rate / top.echoes_per_cpu_s:.4f} of {top.echoes_per_cpu_s:.0f} bare round trips"
    )


def main() -> int:
    """Measure and print; 1 when even the best run is under the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--players", type=int, default=50)
    parser.add_argument("--referees", type=int, default=1)
    parser.add_argument("--bar", type=float, default=600.0, help="matches per CPU-second")
    parser.add_argument("--json", action="store_true", help="every run, for a program")
    options = parser.parse_args()
    players = options.players
    shared, durable = [], []
    for _ in range(options.runs):
        shared.append(measure(players, 1, options.referees))
        with TemporaryDirectory() as folder:
            durable.append(measure(players, 1, options.referees, Folder(Path(folder))))
    apart = [measure(players, players, options.referees)]
    if options.json:
        print(msgspec.json.encode({"shared": shared, "durable": durable, "apart": apart}).decode())
    else:
        print(f"players share a process: {describe(shared)}")
        print(f"the same, with a store:  {describe(durable)}")
        ratio = statistics.median(
            without.wall_s / stored.wall_s for without, stored in zip(shared, durable, strict=True)
        )
        print(f"a league with a store is {ratio:.2f} times as fast as one without")
        print(f"each in its own process: {describe(apart)}")
    return int(max(season.rate for season in shared) < options.bar)


if __name__ == "__main__":
    sys.exit(main())
