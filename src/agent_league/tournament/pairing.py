"""Two players that meet, and how it ended."""

from typing import NamedTuple

from agent_league.vocabulary import PlayerId


class Pairing(NamedTuple):
    """Two players that meet; *first* takes seat 0."""

    first: PlayerId
    second: PlayerId


class Played(NamedTuple):
    """A match of an earlier round; without a winner it was a draw, or nobody played."""

    first: PlayerId
    second: PlayerId
    winner: PlayerId | None
