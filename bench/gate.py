"""Fails when a league has become slower than it was when its speed was recorded.

Two numbers are compared. The ratio to raw asyncio is recorded as the median of several rounds in
turn, and held if the best round reaches it: a busy machine does not matter much. The function calls
of a match do not depend on the machine at all.
"""

import argparse
import platform
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.comparison import measure_in_turn
from bench.measurement import compare_rounds, run_apart
from bench.recording import record
from bench.twin import measure_twin

RECORDED = Path(__file__).parent / "recorded.json"
PLAYERS, ROUNDS = 50, 5
TOLERANCE = 0.15
"""How much worse a number may be than the recorded one."""


class Speed(msgspec.Struct, frozen=True):
    """The two numbers that are held."""

    python: str
    """The version that the calls were counted with: every version of Python counts others."""
    raw_asyncio: float
    """Ours to raw asyncio: the median of the rounds."""
    best_raw_asyncio: float
    """The same in the best of the rounds."""
    calls_per_match: float


def measure_speed(rounds: int) -> Speed:
    script = run_apart(record, PLAYERS)
    costs = measure_in_turn(script, rounds, ("plain", "raw_asyncio"))
    ratios = compare_rounds(costs["plain"], costs["raw_asyncio"])
    version = ".".join(platform.python_version_tuple()[:2])
    calls = measure_twin(with_instructions=False).calls
    return Speed(version, statistics.median(ratios), max(ratios), calls)


def list_complaints(recorded: Speed, now: Speed) -> Iterator[str]:
    """Yield a sentence for each number that is too much worse than the recorded one."""
    if now.best_raw_asyncio < recorded.raw_asyncio * (1 - TOLERANCE):
        yield (
            f"the ratio to raw asyncio is at best {now.best_raw_asyncio:.3f}, "
            f"recorded {recorded.raw_asyncio:.3f}"
        )
    is_same_python = now.python == recorded.python
    if is_same_python and now.calls_per_match > recorded.calls_per_match * (1 + TOLERANCE):
        yield (
            f"a match needs {now.calls_per_match:,.0f} function calls, "
            f"recorded {recorded.calls_per_match:,.0f}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.gate", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--record", action="store_true", help="record the speed that it has now")
    options = parser.parse_args()
    now = measure_speed(options.rounds)
    print(
        f"ours to raw asyncio {now.raw_asyncio:.3f} (best of {options.rounds} rounds "
        f"{now.best_raw_asyncio:.3f}), "
        f"{now.calls_per_match:,.0f} calls per match (Python {now.python})"
    )
    if options.record:
        RECORDED.write_bytes(msgspec.json.format(msgspec.json.encode(now)) + b"\n")
        return 0
    recorded = msgspec.json.decode(RECORDED.read_bytes(), type=Speed)
    if now.python != recorded.python:
        print(f"the calls were recorded with Python {recorded.python}, and are not compared")
    complaints = list(list_complaints(recorded, now))
    for complaint in complaints:
        print(f"slower: {complaint}; allowed are {TOLERANCE:.0%}")
    if complaints:
        print(
            "hint: python -m bench.twin shows which part needs more calls; make bench-record accepts it"
        )
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
