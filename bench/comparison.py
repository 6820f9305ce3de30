"""Our league and its references, measured in turn, round after round."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.in_process import play_without_http
from bench.latency import time_referee
from bench.measurement import Cost, find_median_ratio, run_apart
from bench.ours import MODES, play
from bench.recording import Script, record
from bench.references.nginx_wrk import find_hindrance, play_nginx
from bench.references.run import STACKS, play_reference

SEED_ROUNDS = 6
"""The rounds that the seed's stack plays: a whole season takes it half a minute."""

Run = Callable[[Script], Cost]


def _run_ours(mode: str) -> Run:
    return lambda script: run_apart(play, script.players, mode)


def _run_reference(name: str) -> Run:
    rounds = SEED_ROUNDS if name == "seed_stack" else None
    return lambda script: play_reference(name, script, rounds)


RUNS: Mapping[str, Run] = {
    **{mode: _run_ours(mode) for mode in MODES},
    "without_http": lambda script: run_apart(play_without_http, script.players),
    **{name: _run_reference(name) for name in STACKS},
    "nginx_wrk": play_nginx,
}
"""Everything that can be measured, in the order of a round."""

RATIOS: Mapping[str, tuple[str, str]] = {
    "nginx_wrk": ("plain", "nginx_wrk"),
    "raw_asyncio": ("plain", "raw_asyncio"),
    "raw_uvloop": ("plain", "raw_uvloop"),
    "starlette_aiohttp": ("plain", "starlette_aiohttp"),
    "seed_stack": ("plain", "seed_stack"),
    "durable_to_plain": ("durable", "plain"),
    "logged_to_plain": ("logged", "plain"),
    "own_process_to_shared": ("own_process", "plain"),
    "without_http_to_plain": ("without_http", "plain"),
}
"""What is divided by what."""


@dataclass(frozen=True)
class Comparison:
    """Everything that one run of the bench measured."""

    script: Script
    costs: Mapping[str, Sequence[Cost]]
    """By what was measured; one for each round."""
    latencies_ms: Mapping[str, Sequence[float]]
    """How long the calls of a referee took."""
    skipped: Mapping[str, str]
    """What could not be measured here, and why."""

    @property
    def ratios(self) -> dict[str, float | None]:
        """How many times as fast: the median of the rounds; None if it could not be measured."""
        return {
            name: find_median_ratio(self.costs[one], self.costs[other])
            if one in self.costs and other in self.costs
            else None
            for name, (one, other) in RATIOS.items()
        }


def compare(players: int, rounds: int, wanted: Sequence[str]) -> Comparison:
    """Measure what is *wanted*, as far as that is possible here."""
    script = run_apart(record, players)
    hindrance = find_hindrance() if "nginx_wrk" in wanted else None
    skipped = {"nginx_wrk": hindrance} if hindrance else {}
    names = [name for name in RUNS if name in wanted and name not in skipped]
    costs = measure_in_turn(script, rounds, names)
    latencies = {"plain": run_apart(time_referee, players)} if "plain" in names else {}
    latencies |= dict(_list_latencies(costs))
    return Comparison(script, costs, latencies, skipped)


def measure_in_turn(script: Script, rounds: int, names: Sequence[str]) -> dict[str, list[Cost]]:
    """Measure one after the other, again and again: a busy moment spoils a round, and no ratio."""
    costs: dict[str, list[Cost]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            costs[name].append(RUNS[name](script))
    return costs


def _list_latencies(costs: Mapping[str, Sequence[Cost]]) -> Iterator[tuple[str, list[float]]]:
    for name, measured in costs.items():
        found = [latency for cost in measured for latency in cost.latencies_ms]
        if found:
            yield name, found
