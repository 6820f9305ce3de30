"""What came of a lab: points a match of everybody against everybody, and how certain they are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import sqrt

from agent_league.lab.series import DRAW, LOSS, WIN, Met
from agent_league.practice.criteria import CONFIDENCE, Ceiling, Rate, ceiling, rate

POINTS = {LOSS: 0, DRAW: 1, WIN: 3}
_MIRRORED = bytes.maketrans(bytes([LOSS, DRAW, WIN]), bytes([WIN, DRAW, LOSS]))


@dataclass(frozen=True)
class Duel:
    """How the matches of one strategy against another ended, from its side."""

    opponent: str
    endings: bytes
    score: float
    """What it collected in all matches, in games that count something."""
    turns: int
    best: Ceiling | None
    """The best that any strategy can expect against this opponent, if that is known."""

    @property
    def points(self) -> Rate:
        return estimate_points(self.endings)


@dataclass(frozen=True)
class Row:
    """One strategy, and its duels with all others."""

    strategy: str
    duels: Sequence[Duel]

    @property
    def endings(self) -> bytes:
        return b"".join(duel.endings for duel in self.duels)

    @property
    def played(self) -> int:
        return sum(len(duel.endings) for duel in self.duels)

    @property
    def points(self) -> Rate:
        """Points a match, with the 95 % interval."""
        return estimate_points(self.endings)

    @property
    def win_rate(self) -> Rate:
        return rate(self.endings.count(WIN), self.played)

    @property
    def score(self) -> float:
        """What it collected a turn, in games that count something."""
        turns = sum(duel.turns for duel in self.duels)
        return sum(duel.score for duel in self.duels) / turns if turns else 0.0

    @property
    def ceiling(self) -> Ceiling | None:
        """The best that any strategy could expect against the same opponents."""
        known = [duel.best for duel in self.duels if duel.best]
        if len(known) < len(self.duels):
            return None
        count = len(known)
        wins, points = sum(one.win_rate for one in known), sum(one.points for one in known)
        return Ceiling(wins / count, points / count)

    def follow_points(self) -> list[float]:
        """Return the points a match after each match, in the order in which they were played."""
        by_match = zip(*(duel.endings for duel in self.duels), strict=True)
        sums = accumulate(sum(POINTS[one] for one in endings) for endings in by_match)
        return [total / (number * len(self.duels)) for number, total in enumerate(sums, 1)]


def estimate_points(endings: bytes) -> Rate:
    """Return the points a match, with the 95 % interval."""
    count = len(endings)
    if not count:
        return Rate(0.0, 0.0, 3.0)
    mean = sum(endings.count(one) * POINTS[one] for one in POINTS) / count
    square = sum(endings.count(one) * POINTS[one] ** 2 for one in POINTS) / count
    reach = CONFIDENCE * sqrt(max(0.0, square - mean * mean) / count)
    return Rate(mean, max(0.0, mean - reach), min(3.0, mean + reach))


def find_uncertain(rows: Sequence[Row]) -> list[int]:
    """Return the places, from 0, whose lead over the next may be chance: in 1 of 20 cases or more."""
    return [
        place
        for place, (one, other) in enumerate(pairwise(rows))
        if one.points.value - other.points.value
        < sqrt(_get_reach(one.points) ** 2 + _get_reach(other.points) ** 2)
    ]


def _get_reach(points: Rate) -> float:
    return (points.high - points.low) / 2


def make_rows(strategies: Iterable[str], results: Sequence[Met]) -> list[Row]:
    """Return the table, best first: by points, and in games that count something by the score."""
    rows = [Row(name, list(_list_duels(name, results))) for name in strategies]
    return sorted(rows, key=lambda row: (row.points.value, row.score), reverse=True)


def _list_duels(name: str, results: Sequence[Met]) -> Iterable[Duel]:
    for met in results:
        meeting = met.meeting
        if name == meeting.first:
            endings, score, opponent = met.endings, met.scores[0], meeting.second
        elif name == meeting.second:
            endings, score, opponent = (
                met.endings.translate(_MIRRORED),
                met.scores[1],
                meeting.first,
            )
        else:
            continue
        best = ceiling(meeting.game_type, opponent)
        yield Duel(opponent, endings, score, met.turns, best)
