"""What spectators cost a league: the same league with and without them, in turn.

The spectators are real connections to the live stream, in a process of their own; each reads all
that it is sent. CPU is that of the league's processes, not of the spectators.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys

from agent_league.running.league_run import LeagueRun, run_league
from bench.ours import Meter, keep_everything, make_spec

BAR = 0.9


class Crowd(Meter):
    """Lets spectators watch a run from its opening on."""

    def __init__(self, spectators: int) -> None:
        super().__init__()
        self._spectators = spectators
        self.report = "nobody watched"

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        """Start the spectators, in a process of their own."""
        url = league_run.url.removesuffix("/mcp")
        command = [sys.executable, "-m", "bench.spectators", "--watch", url, str(self._spectators)]
        if self._spectators:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def on_close(self) -> None:
        """Ask the spectators what they saw."""
        if self._spectators:
            self.report = self._process.communicate()[0].strip()


async def watch(url: str, spectators: int) -> None:
    """Read the live stream in many connections, until the league ends them."""
    host, port = url.removeprefix("http://").split(":")
    seen = {"open": 0, "pieces": 0, "bytes": 0}

    async def look() -> None:
        reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
        lines = ("GET /stream?live HTTP/1.1", f"host: {host}:{port}", "accept-encoding: gzip")
        writer.write("\r\n".join((*lines, "", "")).encode())
        seen["open"] += 1
        while chunk := await reader.read(1 << 18):
            seen["pieces"] += 1
            seen["bytes"] += len(chunk)

    await asyncio.gather(*(look() for _ in range(spectators)), return_exceptions=True)
    megabytes = seen["bytes"] / 1e6
    print(f"{seen['open']} spectators, {seen['pieces']} pieces, {megabytes:.1f} MB", flush=True)


def measure(players: int, spectators: int) -> tuple[float, float]:
    """Play one league, and return its matches per second on the wall and of CPU."""
    crowd = Crowd(spectators)
    with keep_everything() as folder:
        run_league(folder.save_spec(make_spec(players, at_once=20)), folder, crowd)
    cost = crowd.compute_cost()
    speed, rate = cost.matches / cost.wall_s, cost.matches / sum(cost.cpu_s.values())
    print(
        f"{spectators:>4} spectators: {speed:6.0f} matches/s, {rate:6.0f} per CPU-s ({crowd.report})",
        flush=True,
    )
    return speed, rate


def main() -> int:
    """Measure and print; 1 when a watched league is slower than the bar allows."""
    parser = argparse.ArgumentParser(prog="bench.spectators", description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--players", type=int, default=100)
    parser.add_argument("--spectators", type=int, default=200)
    parser.add_argument("--watch", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.watch:
        asyncio.run(watch(options.watch[0], int(options.watch[1])))
        return 0
    walls, rates = [], []
    for number in range(options.runs):
        order = (0, options.spectators) if number % 2 else (options.spectators, 0)
        found = {crowd: measure(options.players, crowd) for crowd in order}
        alone, watched = found[0], found[options.spectators]
        walls.append(watched[0] / alone[0])
        rates.append(watched[1] / alone[1])
    wall, rate = statistics.median(walls), statistics.median(rates)
    print(f"with spectators / without: wall {wall:.3f}, CPU {rate:.3f} (bar {BAR})")
    return int(wall < BAR)


if __name__ == "__main__":
    sys.exit(main())
