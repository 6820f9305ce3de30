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
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil

from agent_league.cli.bookkeeping import bookkeeping
from agent_league.cli.folder import MEMORY, Folder
from agent_league.hosting import LOOPBACK, bound, run, url_of
from agent_league.league import LeagueSettings
from agent_league.local import LocalLeague, LocalPlan
from agent_league.store.events import Event, SeasonEnded, SeasonStarted
from agent_league.strategy import STRATEGIES
from agent_league.transport.exchange import Answer
from agent_league.transport.http_client import HttpClient
from agent_league.transport.http_server import HttpServer, Site

ECHOES, AT_ONCE = 4000, 8

FORGETFUL = Folder(address=MEMORY)


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


class Meter:
    """Reads the clocks when the season starts and when it ends."""

    def __init__(self, league: LocalLeague) -> None:
        self._league = league
        self.readings: list[tuple[float, dict[str, float]]] = []
        league.events.listen(self.hear)

    def hear(self, event: Event) -> None:
        if isinstance(event, (SeasonStarted, SeasonEnded)):
            self.readings.append((time.perf_counter(), self._cpu()))

    def _cpu(self) -> dict[str, float]:
        spent = [_spent(process.pid) for process in self._league.processes]
        first = self._league.plan.referees
        roles = {"referees": sum(spent[:first]), "players": sum(spent[first:])}
        return {"manager": time.process_time(), **roles}


def _spent(pid: int | None) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


async def _played(league: LocalLeague, folder: Folder) -> None:
    async with folder.store() as store, bookkeeping(league.manager, folder):
        await league.open(store)
        await league.play()


def measure(
    players: int, players_per_process: int, referees: int, folder: Folder = FORGETFUL
) -> Season:
    """Play one league, and echo a while."""
    kinds = list(STRATEGIES)
    plan = LocalPlan(
        settings=LeagueSettings(seed="7", awaited_players=players, awaited_referees=referees),
        strategies=[kinds[number % len(kinds)] for number in range(players)],
        names=[f"Player {number + 1}" for number in range(players)],
        referees=referees,
        port_base=0,
        players_per_process=players_per_process,
    )
    with LocalLeague(plan) as league:
        meter = Meter(league)
        run(_played(league, folder))
    (began, before), (ended, after) = meter.readings
    season = league.manager.season
    return Season(
        processes=1 + len(league.processes),
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
    sock = bound(LOOPBACK, 0)
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


def sentence(seasons: Sequence[Season]) -> str:
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
        shared.append(measure(players, players, options.referees))
        with TemporaryDirectory() as folder:
            kept = Folder(Path(folder))
            durable.append(measure(players, players, options.referees, kept))
    apart = [measure(players, 1, options.referees)]
    if options.json:
        told = {"shared": shared, "durable": durable, "apart": apart}
        print(msgspec.json.encode(told).decode())
    else:
        print(f"players share a process: {sentence(shared)}")
        print(f"the same, kept durably:  {sentence(durable)}")
        ratio = statistics.median(
            forgetful.wall_s / kept.wall_s for forgetful, kept in zip(shared, durable, strict=True)
        )
        print(f"a durable league is {ratio:.2f} times as fast as one that keeps nothing")
        print(f"each in its own process: {sentence(apart)}")
    return int(max(season.rate for season in shared) < options.bar)


if __name__ == "__main__":
    sys.exit(main())
