"""A series of runs: what came of all of them, in a few lines."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from distributed.drill import Outcome


@dataclass
class Series:
    """The runs of one command; a run that broke off has begun, and has no outcome."""

    begun: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def describe(self) -> Iterator[str]:
        """Say how many runs were complete, what was lost or doubled, and how long nobody led."""
        outcomes, acknowledged = self.outcomes, sum(one.acknowledged for one in self.outcomes)
        lost, doubled = (
            sum(map(len, (one.lost for one in outcomes))),
            sum(one.doubled for one in outcomes),
        )
        verified = sum(one.verified for one in outcomes)
        complete = sum(one.is_complete for one in outcomes)
        yield f"complete {complete} of {self.begun}, verified {verified} of {self.begun}"
        yield f"acknowledged {acknowledged}, of these lost {lost}; doubled {doubled}"
        for fault, times in sorted(self._list_takeovers().items()):
            p95, longest = find_percentile(times, 95), max(times)
            spread = f"p95 {p95:.2f} s, longest {longest:.2f} s"
            yield f"standby leads after {fault} of the leader's host (runs: {len(times)}): {spread}"

    def _list_takeovers(self) -> dict[str, list[float]]:
        """Return how long nobody led, by kind of fault."""
        times: dict[str, list[float]] = defaultdict(list)
        for one in self.outcomes:
            if one.takeover_s is not None:
                times[one.plan.fault].append(one.takeover_s)
        return times


def find_percentile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value that *percent* of all do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


SERIES = Series()
"""The runs of this process."""
