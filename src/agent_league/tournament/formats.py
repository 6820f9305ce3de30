"""Formats: functions from the number of rounds played to the pairings of the next round.

They have no state to save: after a crash, the number of rounds in the log is enough.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from agent_league.vocabulary import PlayerId


class Pairing(NamedTuple):
    """Two players that meet; *first* takes seat 0."""

    first: PlayerId
    second: PlayerId


def round_robin(players: Sequence[PlayerId], played: int, legs: int = 1) -> list[Pairing]:
    """Return the pairings after *played* rounds: all meet all, once in each leg.

    With an odd number of players, one has no match in each round. In a leg, everybody has seat 0
    as often as seat 1, give or take one match; the next leg swaps the seats.
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
    """Return the pairings of one round by the circle method.

    The players stand in a ring of odd size. Each meets the one at the same distance on the other
    side of *turn*. The player at *turn* has no match, unless the number of players is even: then
    one player is not in the ring, and meets it.
    """
    left_over = 1 - len(players) % 2
    ring = players[left_over:]
    middle = ring[turn]
    # Odd steps name each pair once, and give everybody both seats in turn.
    pairings = [
        Pairing(ring[(turn + step) % len(ring)], ring[turn - step])
        for step in range(1, len(ring), 2)
    ]
    if not left_over:
        return pairings
    return [Pairing(middle, players[0]) if turn % 2 else Pairing(players[0], middle), *pairings]


FORMATS: Mapping[str, Callable[[Sequence[PlayerId], int, int], list[Pairing]]] = MappingProxyType(
    {"round_robin": round_robin}
)
"""From players, rounds played and legs to the next pairings; none once the tournament is over."""
