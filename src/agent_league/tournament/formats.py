"""Formats: functions from what was played so far to the pairings of the next round, and to the ranking.

They have no state to save: after a crash, the rounds in the log are enough.
"""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, log2
from types import MappingProxyType
from typing import NamedTuple

from agent_league.tournament.knockout import knockout
from agent_league.tournament.ladder import ladder
from agent_league.tournament.pairing import History, Pairing, swap_seats
from agent_league.tournament.ranking import Rank, rank_by_cup, rank_by_ladder, rank_by_rate
from agent_league.tournament.swiss import swiss
from agent_league.vocabulary import PlayerId


def round_robin(players: Sequence[PlayerId], played: int, legs: int = 1) -> list[Pairing]:
    """Return the pairings after *played* rounds: all meet all, once in each leg.

    With an odd number of players, one has no match in each round. In a leg, everybody has seat 0
    as often as seat 1, give or take one match; the next leg swaps the seats.
    """
    if played >= total_rounds(len(players), legs):
        return []
    leg, turn = divmod(played, total_rounds(len(players)))
    pairings = _circle(players, turn)
    return swap_seats(pairings) if leg % 2 else pairings


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


def gauntlet(players: Sequence[PlayerId], history: History, legs: int) -> list[Pairing]:
    """Return the next round of a gauntlet: the first player meets each other one in turn."""
    first, *others = players
    leg, turn = divmod(len(history), len(others))
    if leg >= legs:
        return []
    return [Pairing(others[turn], first) if leg % 2 else Pairing(first, others[turn])]


class Format(NamedTuple):
    """Who meets whom in a league, and who leads it."""

    pair: Callable[[Sequence[PlayerId], History, int], list[Pairing]]
    """From the players, the rounds so far and a number to the next round; none once it is over."""
    count_rounds: Callable[[int, int], int]
    """From the number of players and that number to how many rounds there are."""
    count_matches: Callable[[int, int], int]
    number: str = "legs"
    """What the number is: how often a pair meets, or how many rounds there are."""
    foreseeable: bool = False
    """Whether the pairings do not depend on results, so that all can be announced at once."""
    rank: Rank | None = None
    """The order of the table, if it is not that of the points."""
    ranked_by: str = "points"
    """What that order is, in words."""
    has_byes: bool = False
    """Whether who sits out a round gets the points of a win."""


def _repeat_round_robin(times: int) -> Format:
    return Format(
        lambda players, history, legs: round_robin(players, len(history), times * legs),
        lambda players, legs: total_rounds(players, times * legs),
        lambda players, legs: total_matches(players, times * legs),
        foreseeable=True,
    )


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "round_robin": _repeat_round_robin(1),
        "double_round_robin": _repeat_round_robin(2),
        "swiss": Format(
            swiss,
            lambda players, rounds: min(rounds, players - 1 + players % 2),
            lambda players, rounds: min(rounds, players - 1 + players % 2) * (players // 2),
            "rounds",
            has_byes=True,
        ),
        "knockout": Format(
            knockout,
            lambda players, legs: ceil(log2(max(1, players))) * legs,
            lambda players, legs: (players - 1) * legs,
            rank=rank_by_cup,
            ranked_by="how far each came in the cup, then points",
        ),
        "gauntlet": Format(
            gauntlet,
            lambda players, legs: (players - 1) * legs,
            lambda players, legs: (players - 1) * legs,
            foreseeable=True,
            rank=rank_by_rate,
            ranked_by="points a match, since the first player has the most matches",
        ),
        "ladder": Format(
            ladder,
            lambda players, rounds: rounds,
            lambda players, rounds: sum(
                max(1, (players - number % 2) // 2) for number in range(rounds)
            ),
            "rounds",
            rank=rank_by_ladder,
            ranked_by="the place on the ladder",
        ),
    }
)
"""To add a format, write a function and put it in here."""
