"""What a strategy is. The strategies themselves are in `strategies/`, one file each."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from agent_league.catalogue import Catalogue
from agent_league.vocabulary import Json


@dataclass(frozen=True)
class Situation:
    """All that a strategy may know when it is asked for a move."""

    view: Json
    """What the game shows this seat."""
    legal: Sequence[Json]
    """Every move that may be made now."""
    rng: Random
    """Chance, seeded for this turn: the same turn of the same match gives the same numbers."""
    mine: Sequence[Json] = field(default=())
    """My own moves in earlier matches, oldest first."""
    theirs: Sequence[Json] = field(default=())
    """This opponent's moves against me, oldest first."""
    everyone: Sequence[Json] = field(default=())
    """Every opponent's moves against me, oldest first."""


Strategy: TypeAlias = Callable[[Situation], Json | Awaitable[Json]]
"""Chooses one of the legal moves; may be a coroutine function."""

STRATEGIES: Catalogue[Strategy] = Catalogue("agent_league.strategies", attribute="strategy")
