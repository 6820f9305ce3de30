"""The cup: who loses is out, and who is left wins it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from agent_league.tournament.pairing import History, Pairing, Played, swap_seats
from agent_league.vocabulary import PlayerId

Place: TypeAlias = PlayerId | None
"""A place in a cup; None is nobody, so that the neighbour goes on without a match."""
Wins: TypeAlias = Counter[tuple[frozenset[PlayerId], PlayerId | None]]
"""How often each player won, by the tie that it was."""


def knockout(players: Sequence[PlayerId], history: History, legs: int) -> list[Pairing]:
    """Return the next round of a cup.

    The first meet the last, so that the best meet late; where the number is no power of two, the
    first wait a round. A tie has *legs* matches; if they end level, the player who is earlier in
    the list goes on.
    """
    *_, left = list_stages(players, history, legs)
    if len(left) < 2:  # noqa: PLR2004 - a match takes two
        return []
    pairings = [Pairing(one, other) for one, other in _list_ties(left) if one and other]
    return swap_seats(pairings) if len(history) % legs % 2 else pairings


def rank_cup(players: Sequence[PlayerId], history: History, legs: int) -> list[list[PlayerId]]:
    """Return the players in groups: who is left in the cup, then who went out last, and so on."""
    stages = [{one for one in stage if one} for stage in list_stages(players, history, legs)]
    gone = [before - after for before, after in pairwise(stages)]
    return [[one for one in players if one in group] for group in (stages[-1], *reversed(gone))]


def list_stages(players: Sequence[PlayerId], history: History, legs: int) -> list[list[Place]]:
    """Return who was left before each stage that is over, and who is left now."""
    stages, order = [_seed(players)], {player: place for place, player in enumerate(players)}
    for number in range(len(history) // legs):
        matches = [one for part in history[number * legs : (number + 1) * legs] for one in part]
        wins = Counter((_name_tie(one), one.winner) for one in matches if one.counts)
        later = {
            one for part in history[(number + 1) * legs :] for match in part for one in match[:2]
        }
        stages.append([_find_winner(tie, wins, later, order) for tie in _list_ties(stages[-1])])
    return stages


def _seed(players: Sequence[PlayerId]) -> list[Place]:
    """Return the places of a cup, in which neighbours meet."""
    places = [0]
    while len(places) < len(players):
        last = 2 * len(places) - 1
        places = [one for place in places for one in (place, last - place)]
    return [players[place] if place < len(players) else None for place in places]


def _list_ties(places: Sequence[Place]) -> list[tuple[Place, Place]]:
    return list(zip(places[::2], places[1::2], strict=True))


def _name_tie(match: Played) -> frozenset[PlayerId]:
    return frozenset((match.first, match.second))


def _find_winner(
    tie: tuple[Place, Place],
    wins: Wins,
    later: set[PlayerId],
    order: Mapping[PlayerId, int],
) -> Place:
    """Return who goes on; who has a match in a *later* stage did, even if a result is voided now."""
    one, other = tie
    if one is None or other is None:
        return one or other
    if (one in later) != (other in later):
        return one if one in later else other
    own = frozenset((one, other))
    if wins[own, one] != wins[own, other]:
        return one if wins[own, one] > wins[own, other] else other
    return min(one, other, key=order.__getitem__)
