"""Is one really better than the other? A sequential test: it stops as soon as the answer is certain enough.

Wald's sequential probability ratio test (1945), in the form for means that chess engines are
tested with: the log-likelihood ratio of "better by so many points a match" against "not better".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import log

from agent_league.practice.criteria import CONFIDENCE, Rate

ERROR = 0.05
"""How often, at most, an answer may be wrong."""
UPPER, LOWER = log((1 - ERROR) / ERROR), log(ERROR / (1 - ERROR))
FEWEST = 20
"""Observations before an answer: of fewer, the spread is not known well enough."""


class Answer(StrEnum):
    """What the test says."""

    FIRST = "the first is better"
    SECOND = "the second is better"
    NEITHER = "neither is better by that much"
    UNDECIDED = "undecided"


@dataclass
class SequentialTest:
    """The sums of the differences in points a match, first minus second, so far."""

    margin: float
    """The difference in points a match that matters."""
    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, differences: Iterable[float]) -> None:
        for one in differences:
            self.count += 1
            self.total += one
            self.squares += one * one

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def variance(self) -> float:
        """The variance of a difference; two made-up ones keep it from being nothing."""
        count = self.count + 2
        return (self.squares + 2) / count - (self.total / count) ** 2

    @property
    def interval(self) -> Rate:
        """The mean difference, with the 95 % interval of a test of this length."""
        reach = CONFIDENCE * (self.variance / max(1, self.count)) ** 0.5
        return Rate(self.mean, self.mean - reach, self.mean + reach)

    def weigh(self, sign: int) -> float:
        """Return the log-likelihood ratio of "better by the margin" against "not better"."""
        gain = sign * self.total - self.count * self.margin / 2
        return self.margin * gain / self.variance

    @property
    def answer(self) -> Answer:
        if self.count < FEWEST:
            return Answer.UNDECIDED
        first, second = self.weigh(1), self.weigh(-1)
        if first >= UPPER:
            return Answer.FIRST
        if second >= UPPER:
            return Answer.SECOND
        return Answer.NEITHER if max(first, second) <= LOWER else Answer.UNDECIDED
