"""The calls of a referee to one player: how often it asks, and how long that takes."""

from random import Random
from typing import NamedTuple

from agent_league.peers.retry import compute_delay
from agent_league.protocol.play import Retry


class Called(NamedTuple):
    """How it went to ask a player for something."""

    seconds: float
    calls: int
    """Attempts, and what the player was told about those that failed."""
    answered: bool


def ask_player(
    rng: Random, retry: Retry, *, failures: float, patience: float, answer_s: float
) -> Called:
    """Return how long it takes until a player has answered, or has failed for good.

    As `peers.retry` has it: after each failed attempt but the last, the player is told that it
    did not answer, and is asked again after a while.
    """
    waited = 0.0
    for attempt in range(1, retry.attempts + 1):
        if rng.random() >= failures and answer_s < patience:
            return Called(waited + answer_s, 2 * attempt - 1, answered=True)
        waited += patience
        if attempt < retry.attempts:
            waited += compute_delay(retry, attempt, rng if retry.jitter else None)
    return Called(waited, 2 * retry.attempts - 1, answered=False)
