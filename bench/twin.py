"""Numbers that do not depend on how busy a machine is: function calls and instructions per match.

A league of one process is played over real HTTP, once with one leg and once with three. What the
longer one needs more, divided by its additional matches, is what one match needs.
"""

import argparse
import cProfile
import os
import pstats
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from agent_league.running.event_loop import run
from agent_league.season.season import Season
from agent_league.store.events import Event, SeasonEnded, SeasonStarted
from agent_league.store.sqlite import SqliteStore
from bench.in_process import HttpVenue, play_here
from bench.measurement import run_apart
from bench.ours import make_spec
from bench.recording import record

PLAYERS, SHORT, LONG = 16, 1, 3
NEVER = 3600.0
"""Seconds between two things that happen by the clock: longer than the league lasts."""
EXTRA_MATCHES = (LONG - SHORT) * PLAYERS * (PLAYERS - 1) // 2

PARTS: Mapping[str, str] = {
    "agent_league/protocol/": "codec",
    "agent_league/dialects/": "codec",
    "agent_league/clock": "codec",
    "agent_league/http/": "http",
    "agent_league/own_time": "http",
    "agent_league/serving/": "http",
    "agent_league/peers/": "dispatch",
    "agent_league/league/": "dispatch",
    "agent_league/season/": "fold",
    "agent_league/tournament/": "fold",
    "agent_league/store/": "append",
    "agent_league/referee/": "referee",
    "agent_league/player/": "player",
    "agent_league/strateg": "player",
    "agent_league/": "other parts of the league",
}
"""Which part of the work the functions of a file belong to; the first that fits counts."""
Place = tuple[str, int, str]
"""The file, the line and the name of a function; the file of one that is written in C is `~`."""
ELSEWHERE = "event loop and library"


@dataclass(frozen=True)
class Twin:
    """What one match needs."""

    messages: float
    """Those of the match itself, and its share of those to everybody."""
    calls: float
    calls_by_part: Mapping[str, float]
    instructions: float | None
    """None where valgrind is not installed."""
    durable_instructions: float | None
    """The same with a store in a file, and with the messages of every match in it."""


def play_twin(
    legs: int, profile: cProfile.Profile | None = None, *, is_durable: bool = False
) -> None:
    """Play the league, and let *profile* look at its season."""
    spec = make_spec(PLAYERS, legs=legs)
    settings = replace(spec.settings, table_interval=NEVER, heartbeat=NEVER)

    def note(event: Event, season: Season) -> None:
        if profile is not None and isinstance(event, SeasonStarted):
            profile.enable()
        if profile is not None and isinstance(event, SeasonEnded):
            profile.disable()

    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder, "league.db")) if is_durable else None
        run(play_here(replace(spec, settings=settings), HttpVenue(), note, store))


def count_calls(legs: int) -> Counter[str]:
    """Return the function calls of a season, by part."""
    profile = cProfile.Profile()
    play_twin(legs, profile)
    counts: Counter[str] = Counter()
    for part, calls in _attribute(pstats.Stats(profile)):
        counts[part] += calls
    return counts


def _attribute(stats: pstats.Stats) -> Iterator[tuple[str, int]]:
    """Yield calls with the part that they belong to; a call of a C function, to who called it."""
    found: Mapping[Place, Any] = vars(stats)["stats"]
    for (file, _, _), (_, calls, _, _, callers) in found.items():
        if file != "~":
            yield find_part(file), calls
            continue
        unknown = calls - sum(by[1] for by in callers.values())
        yield ELSEWHERE, unknown
        for (caller, _, _), (_, calls_of_it, _, _) in callers.items():
            yield find_part(caller), calls_of_it


def find_part(file: str) -> str:
    return next((part for path, part in PARTS.items() if path in file), ELSEWHERE)


def count_instructions(legs: int, *, is_durable: bool = False) -> int:
    """Return the instructions of a process that plays the league, as valgrind counts them."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    store = ["--durable"] if is_durable else []
    command = [*tool, sys.executable, "-m", "bench.twin", "--play", str(legs), *store]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if found is None:
        raise SystemExit(f"valgrind says:\n{done.stderr}")
    return int(found[1].replace(",", ""))


def measure_twin(*, with_instructions: bool = True) -> Twin:
    """Return what one match needs; the same code gives the same numbers within 0.5 %."""
    script = run_apart(record, PLAYERS)
    messages = sum(script.messages.values()) / script.matches
    short, long = run_apart(count_calls, SHORT), run_apart(count_calls, LONG)
    by_part = {part: (long[part] - short[part]) / EXTRA_MATCHES for part in long}
    by_part = dict(sorted(by_part.items(), key=lambda item: -item[1]))
    counts: list[float | None] = [None, None]
    if with_instructions and shutil.which("valgrind"):
        counts = [count_instructions_per_match(is_durable=kind) for kind in (False, True)]
    return Twin(messages, sum(by_part.values()), by_part, *counts)


def count_instructions_per_match(*, is_durable: bool) -> float:
    short, long = (count_instructions(legs, is_durable=is_durable) for legs in (SHORT, LONG))
    return (long - short) / EXTRA_MATCHES


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.twin", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--play", type=int, metavar="LEGS", help=argparse.SUPPRESS)
    parser.add_argument("--durable", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        play_twin(options.play, is_durable=options.durable)
        return 0
    twin = measure_twin()
    if options.json:
        print(msgspec.json.encode(twin).decode())
        return 0
    print(
        f"function calls per match: {twin.calls:,.0f}; per message: {twin.calls / twin.messages:.0f}"
    )
    for part, calls in twin.calls_by_part.items():
        print(f"  {part:26}{calls:8,.0f}  {calls / twin.messages:7,.1f} per message")
    for what, count in (
        ("instructions per match", twin.instructions),
        ("instructions per match, durable", twin.durable_instructions),
    ):
        print(f"{what}: {'valgrind is not here' if count is None else f'{count:,.0f}'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
