"""A Swiss round for very many players, in a time that grows with their number and not with its square.

Who stands next to each other in the table meets (the Monrad system), unless they have met before. The
Dutch system of `swiss.py` compares every player with every other one of the same points.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent_league.tournament.pairing import History, Pairing
from agent_league.vocabulary import PlayerId

WIN, DRAW = 2, 1


def is_large(players: int, rounds: int, limit: int) -> bool:
    """Whether a round of so many players is paired here; there must be more of them than obstacles.

    For two players that have met there is always a pair to exchange opponents with: each has met
    at most *rounds* others, so at most twice as many pairs are in the way.
    """
    return players > limit and players // 2 - 1 > 2 * rounds


@dataclass
class Course:
    """What the pairing needs to know of the rounds so far."""

    points: Counter[PlayerId] = field(default_factory=Counter[PlayerId])
    met: dict[PlayerId, set[PlayerId]] = field(default_factory=dict[PlayerId, set[PlayerId]])
    firsts: Counter[PlayerId] = field(default_factory=Counter[PlayerId])
    """How much more often each has had seat 0 than seat 1."""
    byes: set[PlayerId] = field(default_factory=set[PlayerId])


def pair_neighbours(players: Sequence[PlayerId], history: History) -> list[Pairing]:
    """Return the next round; with an odd number, the last who has not sat out yet sits out."""
    course = read_course(players, history)
    order = sorted(
        players, key=lambda player: -course.points[player]
    )  # the list decides between equals
    if len(order) % 2:
        waiting = [number for number, one in enumerate(order) if one not in course.byes]
        del order[waiting[-1] if waiting else -1]
    pairs = _repair(_pair_down(order, course.met), course.met)
    return [_take_seats(one, other, course.firsts) for one, other in pairs]


def read_course(players: Sequence[PlayerId], history: History) -> Course:
    """Add up the rounds so far."""
    course = Course(met={player: set() for player in players})
    for matches in history:
        playing = set()
        for first, second, winner, counts in matches:
            playing |= {first, second}
            if not counts:
                continue
            course.met[first].add(second)
            course.met[second].add(first)
            course.firsts[first] += 1
            course.firsts[second] -= 1
            for player in (first, second):
                course.points[player] += DRAW if winner is None else WIN if winner == player else 0
        for player in course.met.keys() - playing:
            course.points[player] += WIN
            course.byes.add(player)
    return course


def _pair_down(
    order: Sequence[PlayerId], met: Mapping[PlayerId, set[PlayerId]]
) -> list[tuple[PlayerId, PlayerId]]:
    """Pair from the top: each with the next below whom it has not met; the last pairs may have met."""
    following = [*range(1, len(order)), None]
    pairs, left_over = [], []
    head: int | None = 0 if order else None
    while head is not None:
        one, before, found = order[head], head, following[head]
        while found is not None and order[found] in met[one]:
            before, found = found, following[found]
        after = following[head]
        if found is None:
            left_over.append(one)
        else:
            pairs.append((one, order[found]))
            following[before] = following[found]
            after = following[head]
        head = after
    return [*pairs, *zip(left_over[::2], left_over[1::2], strict=True)]


def _repair(
    pairs: list[tuple[PlayerId, PlayerId]], met: Mapping[PlayerId, set[PlayerId]]
) -> list[tuple[PlayerId, PlayerId]]:
    """Let pairs that have met exchange opponents with the nearest pair above that can."""
    for place in range(len(pairs) - 1, -1, -1):
        one, other = pairs[place]
        if other not in met[one]:
            continue
        for near in (*range(place - 1, -1, -1), *range(place + 1, len(pairs))):
            third, fourth = pairs[near]
            if third not in met[one] and fourth not in met[other]:
                pairs[place], pairs[near] = (one, third), (other, fourth)
                break
            if fourth not in met[one] and third not in met[other]:
                pairs[place], pairs[near] = (one, fourth), (other, third)
                break
    return pairs


def _take_seats(one: PlayerId, other: PlayerId, firsts: Mapping[PlayerId, int]) -> Pairing:
    """Return a pairing in which seat 0 is for who has had it less often."""
    return Pairing(one, other) if firsts[one] <= firsts[other] else Pairing(other, one)
