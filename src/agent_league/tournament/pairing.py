"""Two players that meet, and how it ended."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from agent_league.vocabulary import PlayerId


class Pairing(NamedTuple):
    """Two players that meet; *first* takes seat 0."""

    first: PlayerId
    second: PlayerId


class Played(NamedTuple):
    """A match of an earlier round; without a winner it was a draw."""

    first: PlayerId
    second: PlayerId
    winner: PlayerId | None
    counts: bool = True
    """False if its result was voided, or if neither player played."""


History: TypeAlias = Sequence[Sequence[Played]]
"""The rounds so far."""


def swap_seats(pairings: Sequence[Pairing]) -> list[Pairing]:
    return [Pairing(second, first) for first, second in pairings]
