"""What a game is. The games themselves are in `games/`, one file each."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from agent_league.catalogue import Catalogue
from agent_league.picture import Picture, draw_fields, draw_text
from agent_league.vocabulary import Json, Seat

State = TypeVar("State")
Move = TypeVar("Move")


class IllegalMoveError(ValueError):
    """The move is not one this seat may make now."""


class OptionsError(ValueError):
    """The game cannot be played with these options; the message says which and why."""


class RulesError(RuntimeError):
    """A game broke its own laws; the fault is in its file in `games/`."""


class Outcome(Struct, frozen=True):
    """How a game ended: the winning seat, or None for a draw, and why.

    In *reason*, `{0}` and `{1}` stand for the players in those seats, whom a game does not know.
    """

    winner: Seat | None
    reason: str
    scores: tuple[float, ...] | None = None
    """What each seat collected, in a game that counts something, such as chips."""


class Game(Protocol[State, Move]):
    """The rules of one game: pure functions from state to state.

    A state is an immutable value. All chance comes from the *rng* handed in, so a match
    replays from its seed and its moves. The docstrings of the module and of the class are the
    rules that players read: how it is played, and who wins.

    A game may have more: `judge`, `picture`, `restore` and `count_turns`, which the functions
    below look for.
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


@lru_cache(maxsize=100)
def find_game(name: str | None) -> AnyGame | None:
    """Return the game of that name, if it is known here; what is not there takes long to look for."""
    return GAMES.get(name) if name else None


LONGEST_SCHEMA = 100
"""A turn with more legal moves than this has no schema of them: a message may be 10 KB long."""


def explain_rules(game: AnyGame) -> str:
    """Return the rules in plain words, with who wins: the docstrings of the game."""
    written = getattr(game, "rules", None)
    if written is not None:
        return str(written)
    docs = (getattr(inspect.getmodule(type(game)), "__doc__", None), type(game).__doc__)
    return "\n\n".join(inspect.cleandoc(doc) for doc in docs if doc)


def draw_picture(game: AnyGame, shown: Json) -> Picture:
    """Return the picture of a view, or of the record of a finished game.

    It is drawn of what a seat may see, so that it cannot show more.
    """
    draw: Callable[[Json], Picture] = getattr(game, "picture", draw_fields)
    return draw(shown)


def find_restore(game: AnyGame) -> Callable[[Json], Any] | None:
    """Return the method `restore` of a game whose view shows all: it returns the state of a view."""
    return getattr(game, "restore", None)


def count_turns(game: AnyGame, options: Mapping[str, Json]) -> int:
    """Return how often, at most, somebody is asked to move in a game with these options."""
    count: Callable[[Mapping[str, Json]], int] | None = getattr(game, "count_turns", None)
    return count(options) if count else game.turns


def explain_view(game: AnyGame, state: Any, seat: Seat) -> Json:
    """Return the view of a seat with all that somebody needs who has never seen the game."""
    view = game.view(state, seat)
    if not isinstance(view, Mapping):
        return view
    legal = list(game.legal(state, seat))
    schema = {"answer_schema": {"enum": legal}} if len(legal) <= LONGEST_SCHEMA else {}
    picture = draw_text(draw_picture(game, view))
    return {**view, "rules": explain_rules(game), **schema, "picture": picture}


def read_counts(options: Mapping[str, Json], **bounds: tuple[int, int, int]) -> dict[str, int]:
    """Return options that are whole numbers; *bounds* are the default, the least and the most."""
    if unknown := sorted(options.keys() - bounds.keys()):
        known = " or ".join(map(repr, bounds))
        raise OptionsError(f"unknown option {unknown[0]!r}: expected {known}")
    found = {name: options.get(name, default) for name, (default, _, _) in bounds.items()}
    for name, (_, least, most) in bounds.items():
        # A bool is an int to Python, but never to a player.
        if type(found[name]) is not int or not least <= found[name] <= most:
            wanted = f"a whole number from {least} to {most}"
            raise OptionsError(f"{name!r}: expected {wanted}, got {found[name]!r}")
    return found
