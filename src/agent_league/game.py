"""What a game is. The games themselves are in `games/`, one file each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeAlias, TypeVar

from agent_league.catalogue import Catalogue
from agent_league.vocabulary import Json, Seat

State = TypeVar("State")
Move = TypeVar("Move")


class IllegalMoveError(ValueError):
    """The move is not one this seat may make now."""


class OptionsError(ValueError):
    """The game cannot be played with these options; the message says which and why."""


class RulesError(RuntimeError):
    """A game broke its own laws; the fault is in its file in `games/`."""


@dataclass(frozen=True)
class Outcome:
    """How a game ended: the winning seat, or None for a draw, and why.

    In *reason*, `{0}` and `{1}` stand for the players in those seats, whom a game does not know.
    """

    winner: Seat | None
    reason: str


class Game(Protocol[State, Move]):
    """The rules of one game: pure functions from state to state.

    A state is an immutable value. All chance comes from the *rng* handed in, so a match
    replays from its seed and its moves.
    """

    seats: int
    turns: int
    """How often, at most, somebody is asked to move in one game."""

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        """Return the opening state, or raise `OptionsError`."""
        ...

    def to_move(self, state: State) -> Sequence[Seat]:
        """Return who must move now: several seats move at once, and none means it is over."""
        ...

    def view(self, state: State, seat: Seat) -> Json:
        """Return what *seat* may see. Whatever is hidden is left out here and nowhere else."""
        ...

    def read_move(self, raw: Json) -> Move:
        """Turn what a player sent into a move, or raise `IllegalMoveError`."""
        ...

    def legal(self, state: State, seat: Seat) -> Sequence[Move]:
        """Return every move *seat* may make."""
        ...

    def play(self, state: State, moves: Mapping[Seat, Move], rng: Random) -> State:
        """Return the state after *moves*, one for each seat in `to_move`."""
        ...

    def outcome(self, state: State) -> Outcome | None:
        """Return how the game ended, or None while someone is to move."""
        ...

    def record(self, state: State) -> dict[str, Json]:
        """Return what everybody may know of a finished game, such as the number drawn."""
        ...


Judge: TypeAlias = Callable[[Sequence[Json], Mapping[str, Json]], Outcome | None]
"""Returns the outcome of a game with these choices, by seat, and this record.

None if it does not follow from them.
"""


def find_judge(game: object) -> Judge | None:
    """Return the method `judge` of a game whose outcome follows from what is reported of it."""
    return getattr(game, "judge", None)


AnyGame: TypeAlias = Game[Any, Any]

GAMES: Catalogue[AnyGame] = Catalogue("agent_league.games", attribute="game")
