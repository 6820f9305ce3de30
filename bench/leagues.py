"""What a match costs when one process runs many leagues, beside one league alone.

python -m bench.leagues [--leagues 100] [--players 10] [--rounds 3] [--json]

Both are run as `league serve` does it: its process, one process with its referee, and one process
with the players, each at a port of its own. Leagues that are played alone, one after the other, and
leagues that are played at once take turns, because a machine is not always equally fast.
"""

import argparse
import asyncio
import multiprocessing
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from agent_league.files.logger import AgentLogs
from agent_league.hosting.front import FrontDesk, make_front_site
from agent_league.hosting.server import LeagueServer, Place, ServerSpec
from agent_league.http.server import HttpServer
from agent_league.protocol import Role, tokens
from agent_league.running.event_loop import run
from agent_league.running.folder import Folder
from agent_league.running.house import Houses
from agent_league.running.lineup import ConfigFiles
from agent_league.running.members import run_members
from agent_league.running.serve import LOOPBACK, bind, open_client, url_of
from agent_league.running.specs import LeagueLink, number_agents
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AgentRegistered
from agent_league.verification.stored import audit_store
from bench.measurement import compute_cost, read_clocks, run_apart
from bench.ours import STRATEGIES, StoreAlone

ALONE = 10
"""How many leagues are played one after the other: one alone is over before it can be measured."""
BAR = 1.3


@dataclass(frozen=True)
class Outcome:
    """What the matches of a run cost, in microseconds of CPU each."""

    leagues: int
    at_once: bool
    matches: int
    cpu_us: dict[str, float]
    seconds: float
    verified: int
    """How many leagues hold, as `league verify` checks them."""
    manager_mb: float

    @property
    def total_us(self) -> float:
        return sum(self.cpu_us.values())


def _play_players(links: Sequence[LeagueLink], players: int) -> None:
    """Run the players of all leagues in this process, until their leagues are over."""

    async def play() -> None:
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for link in links:
                specs = zip(number_agents(Role.PLAYER, players), cycle(STRATEGIES), strict=False)
                agents = [
                    (replace(spec, strategy=strategy), bind(LOOPBACK, 0))
                    for spec, strategy in specs
                ]
                group.create_task(run_members(agents, link, stop))

    run(play())


class Meter:
    """Waits for the players, and for the ends of leagues."""

    def __init__(self) -> None:
        self.expected = 0
        self.all_here = asyncio.Event()

    def expect(self, players: int) -> None:
        self.expected = players
        self.all_here.clear()

    def note(self, hosted: object, event: object) -> None:
        if isinstance(event, AgentRegistered) and event.role == Role.PLAYER:
            self.expected -= 1
            if not self.expected:
                self.all_here.set()


class Bench:
    """A server, on which leagues are played one after the other, or all at once."""

    def __init__(self, players: int) -> None:
        self._players, self._number = players, 0
        self._meter = Meter()

    def compare(self, leagues: int, rounds: int) -> list[tuple[Outcome, Outcome]]:
        """Return pairs: some leagues, each alone, and then so many at once."""
        referees = [replace(one, capacity=10) for one in number_agents(Role.REFEREE, 1)]
        with TemporaryDirectory() as name, Houses(referees, LOOPBACK, AgentLogs()) as houses:
            return run(self._compare(StoreAlone(Path(name)), houses, leagues, rounds))

    async def _compare(
        self, folder: Folder, houses: Houses, leagues: int, rounds: int
    ) -> list[tuple[Outcome, Outcome]]:
        sock = bind(LOOPBACK, 0)
        async with folder.open_store() as store, open_client() as wire:
            if store is None:
                raise TypeError("a server has a store")
            place = Place(ServerSpec(), folder, store, wire, url_of(sock), houses)
            self._server = server = LeagueServer(place, tokens.new_token("x"), self._meter.note)
            desk = FrontDesk(server, ConfigFiles(folder.shared))
            http = await HttpServer.start(make_front_site(desk, server), sock)
            server.forget_routes = http.known_heads.clear
            await self._play(2, at_once=False)  # what is slow only the first time
            pairs = [
                (
                    await self._play(min(ALONE, leagues), at_once=False),
                    await self._play(leagues, at_once=True),
                )
                for _ in range(rounds)
            ]
            await server.close()
            await http.close(0.2)
            await desk.close()
        return pairs

    async def _play(self, leagues: int, *, at_once: bool) -> Outcome:
        """Play leagues, and return what their matches cost, from the first round to the last result."""
        server, meter, players = self._server, self._meter, self._players
        self._number += 1
        ids = [f"l{self._number}-{number}" for number in range(leagues)]
        meter.expect(leagues * players)
        created = [await server.create(self._make_settings(one)) for one in ids]
        links = [LeagueLink(one.hosted.league.url, seed="7") for one in created]
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=_play_players, args=(links, players))
        process.start()
        await meter.all_here.wait()
        runners = [one.hosted.league.manager.season_runner for one in created]
        await asyncio.gather(*(runner.liveness.wait_for_arrivals() for runner in runners))
        pids = {
            "manager": [os.getpid()],
            "referee": [one.pid or 0 for one in server.place.houses.processes],
            "players": [process.pid or 0],
        }
        before = read_clocks(pids)
        for runner, league_id in zip(runners, ids, strict=True):
            runner.start_now()
            if not at_once:
                await server.wait_for_end(league_id)
        await asyncio.gather(*map(server.wait_for_end, ids))
        after = read_clocks({role: pids[role] for role in pids})
        audits = [await audit_store(server.place.store, one) for one in ids]
        await asyncio.to_thread(process.join)
        cost = compute_cost(leagues * players * (players - 1) // 2, before, after)
        spent = {role: 1e6 * cpu / cost.matches for role, cpu in cost.cpu_s.items()}
        held = sum(audit.is_over for audit in audits)
        return Outcome(
            leagues, at_once, cost.matches, spent, cost.wall_s, held, cost.peak_mb["manager"]
        )

    def _make_settings(self, league_id: str) -> LeagueSettings:
        return LeagueSettings(seed="7", league_id=league_id, max_players=self._players)


def compare(leagues: int, players: int, rounds: int) -> list[tuple[Outcome, Outcome]]:
    return Bench(players).compare(leagues, rounds)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.leagues", description=__doc__)
    parser.add_argument("--leagues", type=int, default=100)
    parser.add_argument("--players", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one document, for a program")
    options = parser.parse_args()
    pairs = run_apart(compare, options.leagues, options.players, options.rounds)
    ratios = [many.total_us / alone.total_us for alone, many in pairs]
    ratio = statistics.median(ratios)
    held = all(one.verified == one.leagues for pair in pairs for one in pair)
    document: dict[str, Any] = {
        "runs": [[asdict(one) for one in pair] for pair in pairs],
        "ratios": ratios,
        "ratio": ratio,
        "verified": held,
    }
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(document)).decode())
    else:
        for alone, many in pairs:
            for one in (alone, many):
                parts = ", ".join(f"{role} {us:,.0f}" for role, us in one.cpu_us.items())
                print(
                    f"{one.leagues:4} leagues {'at once' if one.at_once else 'in turn'}, {one.matches:6,} matches in {one.seconds:5.1f} s: "
                    f"{one.total_us:6,.0f} us of CPU a match ({parts}); {one.verified} verified, "
                    f"{one.manager_mb:.0f} MB"
                )
        print(f"CPU of a match, many to one: {ratio:.2f} (bar {BAR}); all verified: {held}")
    return 0 if held and ratio <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
