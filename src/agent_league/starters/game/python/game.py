"""The rules of a game for Agent League: ten stones, take one to three, the last one wins.

Rules only: no players, no messages, no clock. Run the file to see a game played at random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from agent_league.game import Game, IllegalMoveError, OptionsError, Outcome
from agent_league.vocabulary import Json, Seat


@dataclass(frozen=True)
class State:
    """Everything about a game in progress; a move makes a new one and leaves this one alone."""

    stones: int = 10
    turn: Seat = 0


class Rules:
    """Eight questions that a referee asks."""

    seats = 2
    turns = 10
    """How often, at most, somebody is asked to move."""

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        """Return the opening. All chance comes from *rng*, so that a match can be replayed."""
        if options:
            raise OptionsError(f"unknown option {min(options)!r}: expected none")
        return State()

    def to_move(self, state: State) -> Sequence[Seat]:
        """Return who must move now. Both seats at once is fine; nobody means it is over."""
        return (state.turn,) if state.stones else ()

    def view(self, state: State, seat: Seat) -> Json:
        """Return what *seat* may see. Hide here what it may not."""
        return {"stones": state.stones}

    def read_move(self, raw: Json) -> int:
        """Turn what a player sent into a move; it may have sent anything."""
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
        """Return what everybody may know of a finished game."""
        return {"stones": state.stones}


game: Game[State, int] = Rules()


def main() -> None:
    """Play one game at random, and say what happens."""
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
