"""What a season costs: CPU of every process, time, memory; and how a measurement is kept apart."""

import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ParamSpec, TypeVar

import psutil

P = ParamSpec("P")
T = TypeVar("T")

SPAWN = multiprocessing.get_context("spawn")
LONGEST_RUN = 900.0
"""Seconds after which a league that was to be measured is given up."""
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "4194304"}
"""Keeps glibc from mapping memory for every receive of asyncio, which it does or not by chance."""
_SCHEDULER_CLOCK = 2
"""The kind of clock that Linux makes for a process: see clock_getcpuclockid(3)."""

os.environ.update(ALLOCATOR)  # every process that is measured inherits it


@dataclass(frozen=True)
class Cost:
    """What one season cost, from its first round to its last result."""

    matches: int
    wall_s: float
    cpu_s: Mapping[str, float]
    """Seconds of CPU, by role."""
    peak_mb: Mapping[str, float]
    """The largest memory that the processes of each role had, added up."""
    messages: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many messages of each type were sent, if they were counted."""
    latencies_ms: Sequence[float] = ()
    """How long the calls of the referee took, if that was measured."""

    @property
    def rate(self) -> float:
        """Matches per CPU-second of all processes."""
        return self.matches / sum(self.cpu_s.values())


@dataclass(frozen=True)
class Reading:
    """The clocks at one moment, and the memory of each process until then."""

    wall: float
    cpu: Mapping[str, float]
    peak_mb: Mapping[str, float]


def read_clocks(pids: Mapping[str, Sequence[int]]) -> Reading:
    """Read the clocks of the processes of each role."""
    cpu = {role: sum(map(_read_cpu, group)) for role, group in pids.items()}
    peak = {role: sum(map(_read_peak_mb, group)) for role, group in pids.items()}
    return Reading(time.perf_counter(), cpu, peak)


def compute_cost(matches: int, before: Reading, after: Reading) -> Cost:
    """Return what was spent between two readings."""
    cpu = {role: after.cpu[role] - before.cpu[role] for role in after.cpu}
    return Cost(matches, after.wall - before.wall, cpu, after.peak_mb)


def _read_cpu(pid: int) -> float:
    """Return the seconds of CPU of a process and all its threads.

    Linux has an exact clock for each process. Other numbers come in steps of 10 ms, which is 2 %
    of a league.
    """
    if sys.platform == "linux":
        return time.clock_gettime((~pid << 3) | _SCHEDULER_CLOCK)
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _read_peak_mb(pid: int) -> float:
    """Return the largest memory that a process had; where the system does not say, what it has."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def run_apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what *function* returns in a process of its own, which nothing ran in before."""
    ours, theirs = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=_send_result, args=(theirs, function, args, kwargs))
    process.start()
    theirs.close()
    try:
        if not ours.poll(LONGEST_RUN):
            raise SystemExit(f"{function.__name__} did not end within {LONGEST_RUN:.0f} s")
        result: T = ours.recv()
    except EOFError:
        raise SystemExit(f"{function.__name__} failed: see above") from None
    finally:
        process.join(10)
        if process.is_alive():
            process.kill()
    return result


def _send_result(
    connection: Connection,
    function: Callable[..., T],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> None:
    connection.send(function(*args, **kwargs))


def find_quantile(values: Sequence[float], share: float) -> float:
    """Return the value under which *share* of the *values* are."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def compare_rounds(ours: Sequence[Cost], theirs: Sequence[Cost]) -> list[float]:
    """Return how many times as fast ours is, round by round."""
    return [one.rate / other.rate for one, other in zip(ours, theirs, strict=True)]


def find_median_ratio(ours: Sequence[Cost], theirs: Sequence[Cost]) -> float:
    return statistics.median(compare_rounds(ours, theirs))
