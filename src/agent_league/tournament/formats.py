"""A format is a function from the number of rounds played to the next round.

There is no iterator to save: after a crash, count the rounds in the log and ask again.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from agent_league.vocabulary import PlayerId


class Pairing(NamedTuple):
    """Who meets whom; *first* takes seat 0."""

    first: PlayerId
    second: PlayerId


class Format(Protocol):
    def __call__(self, players: Sequence[PlayerId], played: int, legs: int = 1) -> list[Pairing]:
        """Return the round after *played* rounds, or nothing once the tournament is over."""
        ...


def round_robin(players: Sequence[PlayerId], played: int, legs: int = 1) -> list[Pairing]:
    """Return round number *played* of the circle method: all meet all, once in each leg.

    With an odd number of players, one sits out each round. In a leg, everybody sits first as
    often as second, give or take one match; the next leg swaps the seats.
    """
    if played >= total_rounds(len(players), legs):
        return []
    leg, turn = divmod(played, total_rounds(len(players)))
    pairings = _circle(players, turn)
    return [Pairing(second, first) for first, second in pairings] if leg % 2 else pairings


def total_rounds(players: int, legs: int = 1) -> int:
    """Return how many rounds a round robin has."""
    if players < 2:  # noqa: PLR2004 - a match takes two
        return 0
    return (players - 1 + players % 2) * legs


def total_matches(players: int, legs: int = 1) -> int:
    """Return how many matches a round robin has."""
    return players * (players - 1) // 2 * legs


def _circle(players: Sequence[PlayerId], turn: int) -> list[Pairing]:
    """Pair the places of a ring that are as far to the left of *turn* as to the right.

    A ring has an odd number of places. With an even number of players one is left over, and
    meets the one at *turn*, who has no partner and otherwise sits out.
    """
    left_over = 1 - len(players) % 2
    ring = players[left_over:]
    middle = ring[turn]
    # Odd steps name each pair once and seat everybody first and second by turns.
    pairings = [
        Pairing(ring[(turn + step) % len(ring)], ring[turn - step])
        for step in range(1, len(ring), 2)
    ]
    if not left_over:
        return pairings
    return [Pairing(middle, players[0]) if turn % 2 else Pairing(players[0], middle), *pairings]


FORMATS: Mapping[str, Format] = MappingProxyType({"round_robin": round_robin})
