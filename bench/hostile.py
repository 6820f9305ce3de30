"""What ten hostile players of a hundred cost the honest ones: the same league with and without them.

The ten are in a process of their own. In one league they are ordinary players. In the other they
answer late, never, in drips and with nonsense, and flood the manager and the other agents with
forged, broken and valid requests on many connections, for as long as the league lasts. What counts
is the time of a match between two honest players, from its order to its result. Each attacker has an
address of its own, as it would have in a class (127.0.0.2 and so on), and they run with a lower
priority: their CPU would be that of other machines.

Whole leagues are played, because the first round is not like the others: in it everybody is met, and
attacked, for the first time. Some rounds alone (`--rounds 12`) show how much that costs.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from typing import Any

from agent_league.protocol import Patience, Role
from agent_league.protocol.play import Retry
from agent_league.running.event_loop import run
from agent_league.running.league_run import LeagueRun, run_league
from agent_league.running.members import run_members
from agent_league.running.serve import LOOPBACK, bind
from agent_league.running.specs import AgentSpec, LeagueLink, LeagueSpec
from agent_league.store.events import (
    AgentRegistered,
    Event,
    MatchAssigned,
    MatchEnded,
    SeasonStarted,
)
from bench.measurement import find_quantile
from bench.ours import Meter, keep_everything, make_spec
from misbehaving import (
    Rascal,
    dripping,
    erring,
    garbled,
    html,
    lying,
    refusing,
    silent,
    slow,
    wrong_id,
    wrong_types,
)

BAR = 1.2
HOSTILE = 10
ACTS = (silent, slow, dripping, garbled, html, wrong_id, wrong_types, refusing, lying, erring)
STEPS = ("GAME_INVITATION", "CHOOSE_PARITY_CALL")
OURS = "Honest"
PRIORITY = 5
"""Lower than that of the league, as the attackers would have other machines, but enough to flood."""
TOO_MANY = 429
CONNECTIONS = 8
"""How many connections each attacker floods, and how many more it only holds."""
PATIENCE = Patience(join=1.0, move=1.0, game_over=1.0)
"""Short, so that a league with silent players takes minutes, and not an hour."""


class Watch(Meter):
    """Starts the ten when the league opens, and times the matches of the others."""

    def __init__(self, rounds: int | None, *, is_hostile: bool) -> None:
        super().__init__(rounds)
        self._is_hostile = is_hostile
        self._honest: dict[str, str] = {}
        """The endpoints of the players of ours."""
        self._began: dict[str, float] = {}
        self.times_ms: list[float] = []
        self.later_ms: list[float] = []
        """Without the first round, in which everybody is met, and attacked, for the first time."""
        self.report = ""

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        """Start the ten, who register like everybody else."""
        kind = "attack" if self._is_hostile else "play"
        command = [sys.executable, "-m", "bench.hostile", "--as", kind, league_run.url]
        self._process = subprocess.Popen(
            command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def on_event(self, event: Event) -> None:
        """Time the matches; begin the attack when the season begins."""
        if isinstance(event, AgentRegistered) and event.display_name.startswith(OURS):
            self._honest[event.agent_id] = event.endpoint
        elif isinstance(event, SeasonStarted):
            self._tell(json.dumps([*self._honest.values()]))
        elif isinstance(event, MatchAssigned):
            self._began[event.match_id] = time.perf_counter()
        elif isinstance(event, MatchEnded) and self._honest.keys() >= {*event.players}:
            self.times_ms.append(1000 * (time.perf_counter() - self._began[event.match_id]))
            if event.round_id > 1:
                self.later_ms.append(self.times_ms[-1])
            if event.forfeits:
                raise SystemExit(f"{event.match_id}: an honest player lost: {event.forfeits}")
        super().on_event(event)

    def on_close(self) -> None:
        """Stop the ten, and ask them what they did."""
        self._tell("stop")
        self.report = self._process.communicate(timeout=30)[0].strip()

    def _tell(self, line: str) -> None:
        if self._process.stdin is not None:
            print(line, file=self._process.stdin, flush=True)


def make_league(players: int) -> LeagueSpec:
    """Return a league of ours that waits for ten more players than it has."""
    spec = make_spec(players - HOSTILE, at_once=20)
    settings = replace(
        spec.settings,
        awaited_players=players,
        max_players=players,
        patience=PATIENCE,
        retry=Retry(attempts=3, base_delay=0.05),
    )
    ours = [replace(one, display_name=f"{OURS} {n}") for n, one in enumerate(spec.players)]
    return replace(spec, settings=settings, players=ours)


def measure(players: int, rounds: int | None, *, is_hostile: bool) -> tuple[float, float]:
    """Play one league; return p99 of its honest matches: of all, and of those after the first round."""
    watch = Watch(rounds, is_hostile=is_hostile)
    with keep_everything() as folder, suppress(KeyboardInterrupt):
        run_league(folder.save_spec(make_league(players)), folder, watch)
    p50, p99 = (find_quantile(watch.times_ms, share) for share in (0.5, 0.99))
    later_p99 = find_quantile(watch.later_ms, 0.99)
    kind = "hostile" if is_hostile else "ordinary"
    cpu = ", ".join(f"{role} {spent:.1f}" for role, spent in watch.compute_cost().cpu_s.items())
    print(
        f"{HOSTILE} {kind:8}: {len(watch.times_ms)} honest matches, "
        f"p50 {p50:.1f} ms, p99 {p99:.1f} ms ({later_p99:.1f} ms after the first round), "
        f"CPU seconds: {cpu} ({watch.report})",
        flush=True,
    )
    return p99, later_p99


class Attack:
    """Ten players that misbehave in every way, and flood every agent that they know."""

    def __init__(self, league: str) -> None:
        self._league = league
        self._rascals = [Rascal(act, only) for act, only in zip(ACTS, cycle(STEPS), strict=False)]
        self.requests = self.refused = self.late = 0

    async def join(self) -> None:
        """Register all ten."""
        for rascal in self._rascals:
            answer = await self._register(rascal, await rascal.server.open())
            rascal.player_id = answer["player_id"]
            rascal.token = answer["auth_token"]  # type: ignore[attr-defined]  # an attacker keeps it

    async def _register(self, rascal: Rascal, endpoint: str) -> Any:
        request = write_request(self._league, "register_player", rascal.application(endpoint))
        reader, writer = await connect(self._league)
        writer.write(request)
        answer = await read_answer(reader)
        writer.close()
        return json.loads(answer[1])["result"]

    async def attack(self, others: Sequence[str]) -> None:
        """Flood the manager and *others*, until cancelled."""
        targets = cycle([self._league, self._league, *others])
        async with asyncio.TaskGroup() as group:
            for number_of_rascal, rascal in enumerate(self._rascals):
                for number in range(CONNECTIONS):
                    body = self._write_bodies(rascal)[number % 4]
                    source = f"127.0.0.{2 + number_of_rascal}"
                    group.create_task(self._flood(next(targets), source, *body))
                    group.create_task(self._hold(self._league, source))

    def _write_bodies(self, rascal: Rascal) -> list[tuple[str, Any]]:
        query = {"league_id": "any", "query_type": "GET_STANDINGS", "query_params": {}}
        valid = rascal.message("LEAGUE_QUERY", "conv-q", auth_token=getattr(rascal, "token", ""))
        forged = {**valid, "auth_token": "tok_P01_guessed", "sender": "referee:REF01"}
        call = rascal.message("CHOOSE_PARITY_CALL", "conv-r1m1", match_id="R1M1", player_id="P01")
        return [
            ("league_query", {**valid, **query}),
            ("report_match_result", {**forged, "message_type": "MATCH_RESULT_REPORT"}),
            ("choose_parity", call),
            ("tools/list", {}),
        ]

    async def _flood(self, target: str, source: str, method: str, params: Any) -> None:
        request = write_request(target, method, params)
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await connect(target, source)
                while True:
                    writer.write(request)
                    status, _ = await read_answer(reader)
                    self.requests += 1
                    self.late += status == TOO_MANY
            await asyncio.sleep(0.01)

    async def _hold(self, target: str, source: str) -> None:
        """Hold a connection with half a request, for as long as it is let."""
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await connect(target, source)
                writer.write(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n")
                await reader.read(1)
                writer.close()


async def connect(
    url: str, source: str = LOOPBACK
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
    return await asyncio.open_connection(host, int(port), local_addr=(source, 0))


def write_request(url: str, method: str, params: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return int(head.split()[1]), await reader.readexactly(int(length or 0))


async def be_hostile(league: str) -> None:
    """Attack until the standard input says stop."""
    os.nice(PRIORITY)
    attack = Attack(league)
    await attack.join()
    others = json.loads(await read_line())
    began = time.perf_counter()
    flood = asyncio.ensure_future(attack.attack(others))
    await read_line()
    flood.cancel()
    seconds = time.perf_counter() - began
    print(f"{attack.requests / seconds:.0f} requests/s, {attack.late} answered with E027")


async def be_ordinary(league: str) -> None:
    """Be ten players of ours until the standard input says stop."""
    names = [f"Guest {number}" for number in range(HOSTILE)]
    agents = [AgentSpec(Role.PLAYER, name, display_name=name, strategy="random") for name in names]
    over = asyncio.Event()
    bound = [(agent, bind(LOOPBACK, 0)) for agent in agents]
    playing = asyncio.ensure_future(run_members(bound, LeagueLink(league), over))
    await read_line()
    await read_line()
    over.set()
    with suppress(BaseExceptionGroup):
        await playing
    print("they only play")


async def read_line() -> str:
    return await asyncio.to_thread(sys.stdin.readline)


def main() -> int:
    """Measure and print; 1 if hostile players slow the others down more than the bar allows."""
    parser = argparse.ArgumentParser(prog="bench.hostile", description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--players", type=int, default=100)
    parser.add_argument("--rounds", type=int, help="the first rounds alone")
    parser.add_argument("--as", dest="kind", choices=["play", "attack"], help=argparse.SUPPRESS)
    parser.add_argument("league", nargs="?", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kind:
        run(be_hostile(options.league) if options.kind == "attack" else be_ordinary(options.league))
        return 0
    ratios = [compare(number, options.players, options.rounds) for number in range(options.runs)]
    all_rounds, later_rounds = (statistics.median(kind) for kind in zip(*ratios, strict=True))
    print(
        f"median of {options.runs} pairs: {all_rounds:.2f} (bar {BAR}); "
        f"after the first round: {later_rounds:.2f}"
    )
    return int(all_rounds > BAR)


def compare(number: int, players: int, rounds: int | None) -> list[float]:
    """Play a pair of leagues; return p99 with hostile players as a multiple of that without."""
    order = (False, True) if number % 2 else (True, False)
    found = {hostile: measure(players, rounds, is_hostile=hostile) for hostile in order}
    ratios = [one / other for one, other in zip(found[True], found[False], strict=True)]
    print(
        f"  with hostile players / without: {ratios[0]:.2f}, after the first round {ratios[1]:.2f}"
    )
    return ratios


if __name__ == "__main__":
    sys.exit(main())
