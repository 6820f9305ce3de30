"""The rules of a game for Agent League: take one to three of ten stones; the last one wins.

This file has only rules: no players, no messages, no clock. Run it to see a random game.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from agent_league.game import Game, IllegalMoveError, OptionsError, Outcome
from agent_league.vocabulary import Json, Seat


@dataclass(frozen=True)
class State:
    """A game in progress. It never changes: a move returns a new state."""

    stones: int = 10
    turn: Seat = 0


class Rules:
    """Take one to three stones when it is your turn. Whoever takes the last stone wins.

    Players read this text, and the one at the top of the file: say how to play, and who wins.
    """

    seats = 2
    turns = 10
    """The maximum number of turns in one game."""

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        """Return the first state. Use only *rng* for random numbers: then a match can be replayed."""
        if options:
            raise OptionsError(f"unknown option {min(options)!r}: expected none")
        return State()

    def to_move(self, state: State) -> Sequence[Seat]:
        """Return the seats that must move now, one or both; none if the game is over."""
        return (state.turn,) if state.stones else ()

    def view(self, state: State, seat: Seat) -> Json:
        """Return what *seat* may see of the game."""
        return {"stones": state.stones, "you": seat}

    def read_move(self, raw: Json) -> int:
        """Return the move that a player sent. *raw* can be any JSON value."""
        if type(raw) is not int or raw not in (1, 2, 3):
            raise IllegalMoveError(f"expected 1, 2 or 3, got {raw!r}")
        return raw

    def legal(self, state: State, seat: Seat) -> Sequence[int]:
        return range(1, min(3, state.stones) + 1) if seat in self.to_move(state) else ()

    def play(self, state: State, moves: Mapping[Seat, int], rng: Random) -> State:
        """Return the state after *moves*, one for each seat that had to move."""
        return State(state.stones - moves[state.turn], 1 - state.turn)

    def outcome(self, state: State) -> Outcome | None:
        """Return who won and why; `{0}` and `{1}` become the players' names."""
        last = 1 - state.turn
        return None if state.stones else Outcome(last, f"{{{last}}} took the last stone")

    def record(self, state: State) -> dict[str, Json]:
        """Return the public facts about a finished game."""
        return {"stones": state.stones}

    def restore(self, view: Json) -> State:
        """Return the state of a view. Leave it out if a view does not show everything."""
        return State(view["stones"], view["you"])


game: Game[State, int] = Rules()


def main() -> None:
    """Play one game with random moves, and print it."""
    rng = Random()
    state = game.start({}, rng)
    while seats := game.to_move(state):
        moves = {seat: rng.choice(game.legal(state, seat)) for seat in seats}
        state = game.play(state, moves, rng)
        print(f"{moves} -> {game.view(state, 0)}")
    outcome = game.outcome(state)
    print(outcome.reason.format("first player", "second player") if outcome else "no outcome")


if __name__ == "__main__":
    main()
