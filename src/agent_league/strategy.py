"""What a strategy is. The strategies themselves are in `strategies/`, one file each."""

from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct

from agent_league.catalogue import Catalogue
from agent_league.vocabulary import Json


class Situation(Struct, frozen=True):
    """All that a strategy may know when it is asked for a move."""

    view: Json
    """What the game shows this seat."""
    legal: Sequence[Json]
    """Every move that may be made now."""
    rng: Random
    """Chance, seeded for this turn: the same turn of the same match gives the same numbers."""
    mine: Sequence[Json] = ()
    """My own moves in earlier matches, oldest first."""
    theirs: Sequence[Json] = ()
    """This opponent's moves against me, oldest first."""
    everyone: Sequence[Json] = ()
    """Every opponent's moves against me, oldest first."""
    game: str | None = None
    """The name of the game."""
    opponent: str | None = None
    """The id of the opponent."""


class FinishedMatch(NamedTuple):
    """A match that is over, from the side of this player."""

    match_id: str
    opponent: str | None
    mine: Json
    """My last move in it."""
    theirs: Json
    won: bool | None
    """None for a draw."""


Strategy: TypeAlias = Callable[[Situation], Json | Awaitable[Json]]
"""Chooses one of the legal moves; may be a coroutine function.

A class is a strategy too: each player has an instance of its own, which may learn.
"""


@runtime_checkable
class Learner(Protocol):
    """A strategy that learns from finished matches, and is kept from one league to the next."""

    def __call__(self, situation: Situation, /) -> Json: ...

    def learn(self, played: FinishedMatch) -> None:
        """Take in a match that is over."""
        ...

    def save(self) -> Json:
        """Return all that was learned."""
        ...

    def load(self, saved: Json) -> None:
        """Go on from what an earlier instance saved; anything else is ignored."""
        ...


Anything = TypeVar("Anything", bound=Callable[..., Any])


def made_for(*games: str, forgets: bool = False) -> Callable[[Anything], Anything]:
    """Mark a strategy that has a skill in *games*; in any other it plays at random.

    One that *forgets* looks only at the view and the legal moves, never at earlier matches.
    """

    def mark(strategy: Anything) -> Anything:
        strategy.games = games  # type: ignore[attr-defined]  # read by `suits`
        strategy.forgets = forgets  # type: ignore[attr-defined]  # read by `is_forgetful`
        return strategy

    return mark


def suits(strategy: Strategy, game: str) -> bool:
    """Whether *strategy* has a skill in *game*: it is made for it, or for any game."""
    games: Sequence[str] | None = getattr(strategy, "games", None)
    return games is None or game in games


def is_forgetful(strategy: Strategy) -> bool:
    """Whether *strategy* never looks at earlier matches."""
    return bool(getattr(strategy, "forgets", False))


def instantiate(strategy: Strategy) -> Strategy:
    """Return the strategy of one player: its own instance, if the strategy is a class."""
    made: Strategy = strategy() if isinstance(strategy, type) else strategy
    return made


STRATEGIES: Catalogue[Strategy] = Catalogue("agent_league.strategies", attribute="strategy")
