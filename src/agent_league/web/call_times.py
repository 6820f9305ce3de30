"""How long the calls of referees took, counted in buckets from the transcripts of ended matches.

Matches are counted when somebody asks for the numbers, so playing them costs nothing more. Of very
many matches since the last time only the latest are read; how many were left out is counted too.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from agent_league.protocol import Patience
from agent_league.web.exchanges import read_exchanges
from agent_league.web.records import Entry, Records

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""The upper ends of the durations that are counted, in seconds."""
AT_ONCE = 1000
"""How many matches are read for one answer."""


class Histogram:
    """How many durations there were of each length."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds

    def list_buckets(self) -> list[tuple[str, float]]:
        """Return each upper end with the number of durations up to it, as Prometheus wants them."""
        total, pairs = 0, []
        for edge, count in zip((*map(str, BUCKETS), "+Inf"), self.counts, strict=True):
            total += count
            pairs.append((edge, float(total)))
        return pairs


class CallTimes:
    """The calls of all matches that were measured, by the kind of message."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self.by_kind: defaultdict[str, Histogram] = defaultdict(Histogram)
        self.failures: Counter[str] = Counter()
        """The calls that got no usable answer."""
        self.left_out = 0
        """The matches that were not read, because there were too many at once."""

    async def measure(self, records: Records, match_ids: Sequence[str]) -> None:
        """Add the calls of these matches, which have ended."""
        latest = match_ids[-AT_ONCE:]
        self.left_out += len(match_ids) - len(latest)
        transcripts = await records.read_transcripts(latest) if latest else {}
        for entries in transcripts.values():
            self._add(entries)

    def _add(self, entries: Iterable[Entry]) -> None:
        asked: dict[str, str] = {}
        for one in read_exchanges(list(entries), self._patience):
            if one.sender.startswith("referee:"):
                asked[one.receiver] = one.type
            elif kind := asked.get(one.sender):
                if one.kind == "error":
                    self.failures[kind] += 1
                elif one.took_ms is not None:
                    self.by_kind[kind].add(max(0.0, one.took_ms / 1000))
