"""Connect four: drop a disc into one of seven columns, numbered 0 to 6; it falls to the lowest free row.

The board has six rows. Seat 0 begins and plays X, seat 1 plays O.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from agent_league.game import Game, IllegalMoveError, OptionsError, Outcome
from agent_league.picture import Picture
from agent_league.vocabulary import Json, Seat

COLUMNS, ROWS = 7, 6
HEIGHT = ROWS + 1
"""Bits of a column: its rows, and one that stays free, so that no line runs over the edge."""
STEPS = (1, HEIGHT - 1, HEIGHT, HEIGHT + 1)
"""From one cell to the next: up, down to the right, to the right, up to the right."""
DISCS = "XO"


class State(NamedTuple):
    """The discs of each seat, one bit a cell, from the lowest of the first column upwards."""

    discs: tuple[int, int] = (0, 0)
    heights: tuple[int, ...] = (0,) * COLUMNS

    @property
    def turn(self) -> Seat:
        return sum(self.heights) % 2


class ConnectFour:
    """Who first has four discs in a line (upright, across or diagonal) wins; a full board is a draw."""

    seats = 2
    turns = COLUMNS * ROWS

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        if options:
            raise OptionsError(f"unknown option {min(options)!r}: expected none")
        return State()

    def to_move(self, state: State) -> Sequence[Seat]:
        return () if self.outcome(state) else (state.turn,)

    def view(self, state: State, seat: Seat) -> Json:
        return {"board": _list_rows(state), "you": seat}

    def read_move(self, raw: Json) -> int:
        # A bool is an int to Python, but `true` is no column.
        if type(raw) is not int or raw not in range(COLUMNS):
            raise IllegalMoveError(f"expected a column from 0 to {COLUMNS - 1}, got {raw!r}")
        return raw

    def legal(self, state: State, seat: Seat) -> Sequence[int]:
        if seat not in self.to_move(state):
            return ()
        return [column for column in range(COLUMNS) if state.heights[column] < ROWS]

    def play(self, state: State, moves: Mapping[Seat, int], rng: Random) -> State:
        ((seat, column),) = moves.items()
        heights, discs = list(state.heights), list(state.discs)
        discs[seat] |= 1 << (column * HEIGHT + heights[column])
        heights[column] += 1
        return State((discs[0], discs[1]), tuple(heights))

    def outcome(self, state: State) -> Outcome | None:
        for seat in (0, 1):
            if _has_line(state.discs[seat]):
                return Outcome(seat, f"{{{seat}}} has four in a line")
        full = sum(state.heights) == COLUMNS * ROWS
        return Outcome(None, "The board is full") if full else None

    def record(self, state: State) -> dict[str, Json]:
        return {"board": _list_rows(state)}

    def restore(self, view: Json) -> State:
        rows = view["board"][::-1]
        discs = [
            sum(
                1 << (column * HEIGHT + row)
                for row, cells in enumerate(rows)
                for column, owner in enumerate(cells)
                if owner == seat
            )
            for seat in (0, 1)
        ]
        heights = tuple(sum(row[column] is not None for row in rows) for column in range(COLUMNS))
        return State((discs[0], discs[1]), heights)

    def picture(self, shown: Json) -> Picture:
        rows = [["" if cell is None else DISCS[cell] for cell in row] for row in shown["board"]]
        side = f"you are {DISCS[shown['you']]}" if "you" in shown else ""
        return Picture([*rows, list(map(str, range(COLUMNS)))], side)


def _list_rows(state: State) -> list[list[Seat | None]]:
    """Return who owns each cell, row by row, the highest row first."""
    return [
        [_find_owner(state, column * HEIGHT + row) for column in range(COLUMNS)]
        for row in reversed(range(ROWS))
    ]


def _find_owner(state: State, cell: int) -> Seat | None:
    return next((seat for seat in (0, 1) if state.discs[seat] >> cell & 1), None)


def _has_line(discs: int) -> bool:
    for step in STEPS:
        pairs = discs & discs >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


game: Game[State, int] = ConnectFour()
