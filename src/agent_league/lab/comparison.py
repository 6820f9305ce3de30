"""Two players compared: they meet, or both meet the same opponents, until the answer is certain."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agent_league.lab.crosstable import POINTS
from agent_league.lab.series import SERIES, Meeting, play_meeting
from agent_league.lab.sprt import Answer, SequentialTest
from agent_league.vocabulary import Json

Play = Callable[[Meeting], bytes]
"""Plays a meeting, and returns how its matches ended for the first."""


@dataclass(frozen=True)
class ComparisonPlan:
    """Who is compared, in what, and when to give up."""

    game_type: str
    first: str
    second: str
    seed: str
    against: Sequence[str] = ()
    """Opponents that both meet; without any, the two meet each other."""
    margin: float = 0.1
    """The difference in points a match that matters."""
    most: int = 20_000
    """How many matches each plays at most."""
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])


def play_in_process(meeting: Meeting) -> bytes:
    return play_meeting(meeting).endings


def compare(
    plan: ComparisonPlan,
    play: Play = play_in_process,
    progress: Callable[[SequentialTest], None] = lambda test: None,
) -> SequentialTest:
    """Play series after series until the test has an answer, or there were enough matches."""
    test = SequentialTest(plan.margin)
    for begin in range(0, plan.most, SERIES):
        test.add(_list_differences(plan, begin, min(SERIES, plan.most - begin), play))
        progress(test)
        if test.answer is not Answer.UNDECIDED:
            break
    return test


def _list_differences(
    plan: ComparisonPlan, begin: int, matches: int, play: Play
) -> Iterator[float]:
    """Yield the difference in points of each match, or of each pair of matches with one opponent."""

    def meet(first: str, second: str) -> bytes:
        seed = f"{plan.seed}|{second}"  # both meet an opponent with the same luck
        return play(
            Meeting(plan.game_type, first, second, matches, seed, plan.options, SERIES, begin)
        )

    if not plan.against:
        for ending in meet(plan.first, plan.second):
            yield POINTS[ending] - POINTS[2 - ending]
        return
    opponent = plan.against[begin // SERIES % len(plan.against)]
    pairs = zip(meet(plan.first, opponent), meet(plan.second, opponent), strict=True)
    for one, other in pairs:
        yield POINTS[one] - POINTS[other]
