"""Formats: functions from what was played so far to the pairings of the next round.

They have no state to save: after a crash, the rounds in the log are enough.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil, log2
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from agent_league.tournament.pairing import Pairing, Played
from agent_league.tournament.swiss import swiss
from agent_league.vocabulary import PlayerId

History: TypeAlias = Sequence[Sequence[Played]]
"""The rounds so far."""


def round_robin(players: Sequence[PlayerId], played: int, legs: int = 1) -> list[Pairing]:
    """Return the pairings after *played* rounds: all meet all, once in each leg.

    With an odd number of players, one has no match in each round. In a leg, everybody has seat 0
    as often as seat 1, give or take one match; the next leg swaps the seats.
    """
    if played >= total_rounds(len(players), legs):
        return []
    leg, turn = divmod(played, total_rounds(len(players)))
    pairings = _circle(players, turn)
    return _swap(pairings) if leg % 2 else pairings


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


def _swap(pairings: Sequence[Pairing]) -> list[Pairing]:
    return [Pairing(second, first) for first, second in pairings]


def knockout(players: Sequence[PlayerId], history: History, legs: int) -> list[Pairing]:
    """Return the next round of a cup: who loses is out.

    The first meet the last, so that the best meet late; where the number is no power of two, the
    first wait a round. A tie has *legs* matches; if they end level, the player who is earlier in
    the list goes on.
    """
    seeds: list[PlayerId | None] = _seed(players)
    stages, leg = divmod(len(history), legs)
    for stage in range(stages):
        matches = [one for part in history[stage * legs : (stage + 1) * legs] for one in part]
        seeds = [_find_winner(tie, matches, players) for tie in _list_ties(seeds)]
    if len(seeds) < 2:  # noqa: PLR2004 - a match takes two
        return []
    pairings = [Pairing(one, other) for one, other in _list_ties(seeds) if one and other]
    return _swap(pairings) if leg % 2 else pairings


def _seed(players: Sequence[PlayerId]) -> list[PlayerId | None]:
    """Return the places of a cup, in which neighbours meet; None is nobody."""
    places = [0]
    while len(places) < len(players):
        last = 2 * len(places) - 1
        places = [one for place in places for one in (place, last - place)]
    return [players[place] if place < len(players) else None for place in places]


def _list_ties(
    seeds: Sequence[PlayerId | None],
) -> list[tuple[PlayerId | None, PlayerId | None]]:
    return list(zip(seeds[::2], seeds[1::2], strict=True))


def _find_winner(
    tie: tuple[PlayerId | None, PlayerId | None],
    matches: Sequence[Played],
    players: Sequence[PlayerId],
) -> PlayerId | None:
    one, other = tie
    if one is None or other is None:
        return one or other
    wins = [match.winner for match in matches if {match.first, match.second} == {one, other}]
    if wins.count(one) != wins.count(other):
        return one if wins.count(one) > wins.count(other) else other
    return min(one, other, key=players.index)


def gauntlet(players: Sequence[PlayerId], history: History, legs: int) -> list[Pairing]:
    """Return the next round of a gauntlet: the first player meets each other one in turn."""
    first, *others = players
    leg, turn = divmod(len(history), len(others))
    if leg >= legs:
        return []
    return [Pairing(others[turn], first) if leg % 2 else Pairing(first, others[turn])]


def ladder(players: Sequence[PlayerId], history: History, rounds: int) -> list[Pairing]:
    """Return the next round of a ladder: neighbours meet, and who wins stands above.

    In turn the first meets the second and the second the third, and so on down the ladder.
    """
    order = list(players)
    for matches in history:
        for first, second, winner in matches:
            upper, lower = sorted((order.index(first), order.index(second)))
            if winner is not None and winner == order[lower]:
                order[upper], order[lower] = order[lower], order[upper]
    number = len(history)
    if number >= rounds:
        return []
    neighbours = list(pairwise(order))[number % 2 :: 2] or list(pairwise(order))[:1]
    pairings = [Pairing(one, other) for one, other in neighbours]
    return _swap(pairings) if number // 2 % 2 else pairings


class Format(NamedTuple):
    """Who meets whom in a league."""

    pair: Callable[[Sequence[PlayerId], History, int], list[Pairing]]
    """From the players, the rounds so far and a number to the next round; none once it is over."""
    count_rounds: Callable[[int, int], int]
    """From the number of players and that number to how many rounds there are."""
    count_matches: Callable[[int, int], int]
    number: str = "legs"
    """What the number is: how often a pair meets, or how many rounds there are."""
    foreseeable: bool = False
    """Whether the pairings do not depend on results, so that all can be announced at once."""


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
        ),
        "knockout": Format(
            knockout,
            lambda players, legs: ceil(log2(max(1, players))) * legs,
            lambda players, legs: (players - 1) * legs,
        ),
        "gauntlet": Format(
            gauntlet,
            lambda players, legs: (players - 1) * legs,
            lambda players, legs: (players - 1) * legs,
            foreseeable=True,
        ),
        "ladder": Format(
            ladder,
            lambda players, rounds: rounds,
            lambda players, rounds: sum(
                max(1, (players - number % 2) // 2) for number in range(rounds)
            ),
            "rounds",
        ),
    }
)
"""To add a format, write a function and put it in here."""
