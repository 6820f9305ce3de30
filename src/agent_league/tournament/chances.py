"""How sure one can be of a rate that was measured, and what the rules allow it to be."""

from collections.abc import Mapping
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple

CONFIDENCE = 1.959964
"""How many standard deviations hold 95 % of a normal distribution."""


class Rate(NamedTuple):
    """A measured share, and the 95 % interval in which the true one lies."""

    value: float
    low: float
    high: float


def rate(hits: int, tries: int) -> Rate:
    """Return the share of *hits* with Wilson's interval, which holds for few tries as well."""
    if not tries:
        return Rate(0.0, 0.0, 1.0)
    share, square = hits / tries, CONFIDENCE**2
    middle = (share + square / (2 * tries)) / (1 + square / tries)
    spread = share * (1 - share) / tries + square / (4 * tries**2)
    reach = CONFIDENCE * sqrt(spread) / (1 + square / tries)
    # Rounding must not push the interval past the share itself, nor past what a share can be.
    return Rate(share, max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach)))


class Ceiling(NamedTuple):
    """The best that any strategy can expect of a match."""

    win_rate: float
    points: float


PREDICTABLE = Ceiling(0.5, 1.5)
"""Even/Odd: calls that differ are a coin toss for 3 points, and one cannot do more than differ."""
UNPREDICTABLE = Ceiling(0.25, 1.25)
"""The same against chance: calls differ half the time, and draw 1 point the other half."""

_CEILINGS: Mapping[str, Mapping[str, Ceiling]] = MappingProxyType(
    {"even_odd": {"random": UNPREDICTABLE}}
)


def ceiling(game_type: str, opponent: str) -> Ceiling | None:
    """Return the best that can be expected against *opponent*; None where skill has no ceiling."""
    known = _CEILINGS.get(game_type)
    return known.get(opponent, PREDICTABLE) if known is not None else None
