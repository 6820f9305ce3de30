"""How far the average of random samples may stray before a test should say that a law is broken."""

from math import log, sqrt

FALSE_ALARM = 1e-9
"""The probability that a law which holds is reported as broken."""


def margin(samples: int, span: float = 1.0, false_alarm: float = FALSE_ALARM) -> float:
    """Return how far from its expectation the average of so many samples may be.

    Each sample lies in a range of length *span*. This is Hoeffding's bound for both sides; by
    Azuma's it also holds if a sample depends on those before it, as with players that learn.
    """
    return span * sqrt(log(2 / false_alarm) / (2 * samples))
