"""A field of strategies in the lab: everybody meets everybody, on all cores."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import combinations, groupby
from multiprocessing import get_context

from agent_league.lab.series import SERIES, Meeting, Met, play_meeting
from agent_league.vocabulary import Json

CHUNK = 10 * SERIES
"""How many matches a process plays at once, about; a chunk never divides a series."""


@dataclass(frozen=True)
class LabPlan:
    """Which strategies meet in which game, and how often each pair does."""

    game_type: str
    strategies: Sequence[str]
    matches: int
    seed: str
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    series: int = SERIES

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.strategies, 2))

    def divide(self) -> Iterator[Meeting]:
        """Yield the meetings of all pairs, in parts that processes can play side by side."""
        chunk = max(1, CHUNK // self.series) * self.series
        for first, second in self.pairs:
            for begin in range(0, self.matches, chunk):
                matches = min(chunk, self.matches - begin)
                yield Meeting(
                    self.game_type,
                    first,
                    second,
                    matches,
                    f"{self.seed}|{first}|{second}",
                    self.options,
                    self.series,
                    begin,
                )


Progress = Callable[[int], None]
"""Called now and then with how many matches are played."""


def run_lab(
    plan: LabPlan, progress: Progress = lambda played: None, cores: int | None = None
) -> list[Met]:
    """Play all meetings, and return one result for each pair, in the order of the pairs."""
    meetings, played, parts = list(plan.divide()), 0, []
    for met in _play_side_by_side(meetings, cores or os.cpu_count() or 1):
        parts.append(met)
        played += met.meeting.matches
        progress(played)
    parts.sort(key=lambda met: (plan.pairs.index(_get_pair(met)), met.meeting.begin))
    return [_join(list(group)) for _, group in groupby(parts, _get_pair)]


def _play_side_by_side(meetings: Sequence[Meeting], cores: int) -> Iterator[Met]:
    if cores == 1 or len(meetings) == 1:
        yield from map(play_meeting, meetings)
        return
    # A process that is forked from one with threads may hang, so none is.
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(play_meeting, one) for one in meetings]):
            yield future.result()


def _get_pair(met: Met) -> tuple[str, str]:
    return met.meeting.first, met.meeting.second


def _join(parts: Sequence[Met]) -> Met:
    """Return the parts of one meeting as one."""
    return Met(
        parts[0].meeting,
        b"".join(part.endings for part in parts),
        (sum(part.scores[0] for part in parts), sum(part.scores[1] for part in parts)),
        sum(part.turns for part in parts),
        (sum(part.fallbacks[0] for part in parts), sum(part.fallbacks[1] for part in parts)),
    )
