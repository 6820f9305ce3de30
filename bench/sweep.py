"""How the cost of a match changes: with the players, with what is kept, with what is asked.

python -m bench.sweep [players concurrency store mcp database startup] [--json]
"""

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from agent_league.clock import system_clock
from agent_league.running.folder import STORE_FILE
from bench import mcp_bench
from bench.comparison import measure_in_turn
from bench.measurement import Cost, find_median_ratio, run_apart
from bench.ours import CAPACITY, StoreAlone, keep_nothing, make_spec, play_spec
from bench.recording import record
from bench.report import Document, make_table
from store.cluster import Cluster, hindrance

ENOUGH = 1000
"""Matches after which a league of a sweep may stop."""
PLAYERS = (10, 30, 100, 300)
TURNS = 5
"""How often each league of the sweep over players is played."""
AT_ONCE = (1, 10, 100, 1000)
"""A round has a match for every two players, so 1,000 matches at once take 2,000 players."""
Rows = list[dict[str, Any]]


def sweep_players() -> Rows:
    """Play leagues of more and more players, in turn; the median of the rounds counts."""
    costs: dict[int, list[Cost]] = {players: [] for players in PLAYERS}
    for _ in range(TURNS):
        for players, measured in costs.items():
            measured.append(run_apart(_play_some, players, CAPACITY))
    fewest = costs[PLAYERS[0]]
    return [
        {
            "players": players,
            **_describe(sorted(measured, key=lambda cost: cost.rate)[TURNS // 2]),
            "cost_to_fewest": find_median_ratio(fewest, measured),
        }
        for players, measured in costs.items()
    ]


def sweep_concurrency() -> Rows:
    """Let the process of the referees play more and more matches at once.

    A round must have that many matches, so there are more players too.
    """
    return [
        {
            "at_once": at_once,
            "players": players,
            **_describe(run_apart(_play_some, players, at_once)),
        }
        for at_once in AT_ONCE
        for players in [max(50, 2 * at_once)]
    ]


def _play_some(players: int, at_once: int) -> Cost:
    """Play the first rounds of a league, as many as are enough."""
    matches_of_a_round, rounds_of_a_leg = players // 2, players - 1
    rounds = -(-ENOUGH // matches_of_a_round)
    spec = make_spec(players, at_once=at_once, legs=-(-rounds // rounds_of_a_leg))
    return play_spec(spec, keep_nothing(), rounds)


def _describe(cost: Cost) -> dict[str, Any]:
    spent = {role: 1e6 * spent / cost.matches for role, spent in cost.cpu_s.items()}
    return {
        "matches": cost.matches,
        "matches_per_cpu_s": cost.rate,
        "matches_per_wall_s": cost.matches / cost.wall_s,
        "cpu_us_per_match": spent,
        "peak_mb": dict(cost.peak_mb),
    }


def sweep_store() -> Rows:
    """Keep nothing, the events, or everything."""
    costs = measure_in_turn(run_apart(record, 50), 3, ("plain", "durable", "logged"))
    return [
        {"keeps": name, **_describe(sorted(measured, key=lambda cost: cost.rate)[1])}
        for name, measured in costs.items()
    ]


def sweep_mcp() -> Rows:
    """Ask a player by a tool call of MCP, and in the league's own dialect."""
    costs = mcp_bench.measured(60)
    return [
        {
            "call": kind,
            "cpu_us": 1e6 * statistics.median(spent),
            "to_league": mcp_bench.find_ratio(spent, costs["league"]),
        }
        for kind, spent in costs.items()
    ]


def sweep_database() -> Rows:
    """Keep the events in SQLite, and in PostgreSQL; its own processes are not counted."""
    with TemporaryDirectory() as folder:
        rows = [{"store": "SQLite", **_keep_in(str(Path(folder) / STORE_FILE))}]
    why_not = hindrance()
    if why_not:
        return [*rows, {"store": "PostgreSQL", "skipped": why_not}]
    cluster = Cluster()
    cluster.start()
    try:
        rows.append({"store": "PostgreSQL", **_keep_in(cluster.address)})
    finally:
        cluster.remove()
    return rows


def _keep_in(address: str) -> dict[str, Any]:
    return _describe(run_apart(_play_kept, address))


def _play_kept(address: str) -> Cost:
    return play_spec(make_spec(50), nullcontext(StoreAlone(address=address)))


LEAGUE = (sys.executable, "-m", "agent_league")


def sweep_startup() -> Rows:
    """Start the commands that people wait for; the best of five."""
    version = min(_spend("--version") for _ in range(5))
    plays = [_start_league() for _ in range(5)]
    return [
        {"command": "league --version", "what": "CPU", "seconds": version},
        {
            "command": "league play --players 4",
            "what": "until the first match",
            "seconds": min(first for first, _ in plays),
        },
        {
            "command": "league play --players 4",
            "what": "until the champion",
            "seconds": min(all_of_it for _, all_of_it in plays),
        },
    ]


def _spend(*arguments: str) -> float:
    """Return the seconds of CPU that a command takes."""
    before = os.times()
    subprocess.run([*LEAGUE, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def _start_league() -> tuple[float, float]:
    """Return the seconds from the command to its first match, and to its end."""
    with TemporaryDirectory() as folder:
        shared = ("--shared", folder, "--port-base", "0", "--display", "none")
        began, began_at = time.perf_counter(), system_clock()
        command = [*LEAGUE, "play", "--players", "4", *shared]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took = time.perf_counter() - began
        with closing(sqlite3.connect(Path(folder) / STORE_FILE)) as database:
            query = "SELECT min(at) FROM events WHERE match_id IS NOT NULL"
            (first,) = database.execute(query).fetchone()
    return (datetime.fromisoformat(first) - began_at).total_seconds(), took


SWEEPS: Mapping[str, Callable[[], Rows]] = {
    "players": sweep_players,
    "concurrency": sweep_concurrency,
    "store": sweep_store,
    "mcp": sweep_mcp,
    "database": sweep_database,
    "startup": sweep_startup,
}


def _tabulate(*heads: str) -> Callable[[Rows], str]:
    """Return a function that makes a table with a column for each of *heads*."""
    return lambda rows: make_table(
        [head.replace("_", " ") for head in heads],
        [[_format(row.get(head, row.get("skipped", ""))) for head in heads] for row in rows],
    )


def _format(value: Any) -> str:
    if isinstance(value, Mapping):
        return " / ".join(map(_format, value.values()))
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"  # noqa: PLR2004 - digits enough
    return f"{value:,}" if isinstance(value, int) else str(value)


COSTS = ("matches", "matches_per_cpu_s", "cpu_us_per_match", "peak_mb")
SWEEP_TABLES: Mapping[str, Callable[[Rows], str]] = {
    "players": _tabulate("players", *COSTS, "cost_to_fewest"),
    "concurrency": _tabulate("at_once", "players", *COSTS),
    "store": _tabulate("keeps", *COSTS),
    "mcp": _tabulate("call", "cpu_us", "to_league"),
    "database": _tabulate("store", "matches_per_cpu_s", "matches_per_wall_s", "cpu_us_per_match"),
    "startup": _tabulate("command", "what", "seconds"),
}
"""The tables of the sweeps, by the name of their place in docs/performance.md."""


def run_sweeps(names: Sequence[str]) -> Document:
    return {name: SWEEPS[name]() for name in names}


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.sweep", description=__doc__)
    parser.add_argument("sweeps", nargs="*", help=f"some of: {', '.join(SWEEPS)}; by default all")
    parser.add_argument("--json", action="store_true", help="print one document, for a program")
    options = parser.parse_args()
    unknown = set(options.sweeps) - SWEEPS.keys()
    if unknown:
        parser.error(f"there is no sweep {', '.join(unknown)}; there are {', '.join(SWEEPS)}")
    document = run_sweeps(options.sweeps or list(SWEEPS))
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(document)).decode())
    else:
        for name, rows in document.items():
            print(f"{name}\n\n{SWEEP_TABLES[name](rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
