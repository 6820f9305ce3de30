"""The ladder: neighbours meet, and who wins stands above."""

from collections.abc import Sequence
from itertools import pairwise

from agent_league.tournament.pairing import History, Pairing, swap_seats
from agent_league.vocabulary import PlayerId


def ladder(players: Sequence[PlayerId], history: History, rounds: int) -> list[Pairing]:
    """Return the next round of a ladder.

    In turn the first meets the second and the second the third, and so on down the ladder.
    """
    number = len(history)
    if number >= rounds:
        return []
    neighbours = list(pairwise(climb(players, history)))
    pairings = [Pairing(one, other) for one, other in neighbours[number % 2 :: 2] or neighbours[:1]]
    return swap_seats(pairings) if number // 2 % 2 else pairings


def climb(players: Sequence[PlayerId], history: History) -> list[PlayerId]:
    """Return the players from the top of the ladder to its foot; at first they stand as in the list."""
    order, places = list(players), {player: place for place, player in enumerate(players)}
    for match in (match for matches in history for match in matches if match.counts):
        upper, lower = sorted((places[match.first], places[match.second]))
        if match.winner is not None and match.winner == order[lower]:
            order[upper], order[lower] = order[lower], order[upper]
            places[order[upper]], places[order[lower]] = upper, lower
    return order
