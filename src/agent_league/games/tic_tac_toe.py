"""Tic-tac-toe: three in a row. Seat 0 begins; cells are numbered 0 to 8, row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from agent_league.game import Game, IllegalMoveError, OptionsError, Outcome
from agent_league.picture import Picture
from agent_league.vocabulary import Json, Seat

CELLS = range(9)
MARKS = "XO"
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


@dataclass(frozen=True)
class State:
    """Who owns each cell; None is nobody."""

    board: tuple[Seat | None, ...] = (None,) * len(CELLS)

    @property
    def turn(self) -> Seat:
        return (len(CELLS) - self.board.count(None)) % 2


class TicTacToe:
    """Who first has three cells in a row, a column or a diagonal wins; a full board is a draw."""

    seats = 2
    turns = 9

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        if options:
            raise OptionsError(f"unknown option {min(options)!r}: expected none")
        return State()

    def to_move(self, state: State) -> Sequence[Seat]:
        return () if self.outcome(state) else (state.turn,)

    def view(self, state: State, seat: Seat) -> Json:
        return {"board": list(state.board), "you": seat}

    def read_move(self, raw: Json) -> int:
        # A bool is an int to Python, but `true` is no cell.
        if type(raw) is not int or raw not in CELLS:
            raise IllegalMoveError(f"expected a cell from 0 to 8, got {raw!r}")
        return raw

    def legal(self, state: State, seat: Seat) -> Sequence[int]:
        if seat not in self.to_move(state):
            return ()
        return [cell for cell in CELLS if state.board[cell] is None]

    def play(self, state: State, moves: Mapping[Seat, int], rng: Random) -> State:
        ((seat, cell),) = moves.items()
        return State((*state.board[:cell], seat, *state.board[cell + 1 :]))

    def outcome(self, state: State) -> Outcome | None:
        for line in LINES:
            owner, *others = (state.board[cell] for cell in line)
            if owner is not None and others == [owner, owner]:
                return Outcome(owner, f"{{{owner}}} has three in a row")
        return None if None in state.board else Outcome(None, "The board is full")

    def record(self, state: State) -> dict[str, Json]:
        return {"board": list(state.board)}

    def restore(self, view: Json) -> State:
        return State(tuple(view["board"]))

    def picture(self, shown: Json) -> Picture:
        owners = enumerate(shown["board"])
        cells = [str(cell) if owner is None else MARKS[owner] for cell, owner in owners]
        side = f"you are {MARKS[shown['you']]}" if "you" in shown else ""
        return Picture([cells[0:3], cells[3:6], cells[6:9]], side)


game: Game[State, int] = TicTacToe()
