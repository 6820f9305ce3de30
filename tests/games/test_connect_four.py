from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.game import GAMES, Outcome
from agent_league.games.connect_four import State

GAME = GAMES["connect_four"]
RNG = Random(0)


def drop(columns: str) -> State:
    """Return the state after discs into *columns*, in turn."""
    state: State = GAME.start({}, RNG)
    for column in columns:
        (seat,) = GAME.to_move(state)
        state = GAME.play(state, {seat: int(column)}, RNG)
    return state


@pytest.mark.parametrize(
    ("columns", "winner"),
    [
        ("0101010", 0),
        ("0011223", 0),
        ("60102030", 1),
        ("001122", None),
        ("44556", None),  # the right edge is no neighbour of the left one
    ],
)
def test_four_in_a_line_win(columns: str, winner: int | None) -> None:
    outcome = GAME.outcome(drop(columns))
    assert (outcome and outcome.winner) == winner
    if winner is not None:
        assert outcome == Outcome(winner, f"{{{winner}}} has four in a line")


def test_a_full_column_takes_no_disc() -> None:
    assert GAME.legal(drop("333333"), 0) == [0, 1, 2, 4, 5, 6]


def test_the_board_is_shown_from_the_top() -> None:
    view = GAME.view(drop("30"), 0)
    assert view["board"][5] == [1, None, None, 0, None, None, None]
    assert view["board"][4] == [None] * 7


def has_line_by_looking(board: list[list[int | None]], seat: int) -> bool:
    cells = {(r, c) for r, row in enumerate(board) for c, one in enumerate(row) if one == seat}
    steps = ((0, 1), (1, 0), (1, 1), (1, -1))
    return any(
        all((r + n * down, c + n * right) in cells for n in range(4))
        for r, c in cells
        for down, right in steps
    )


@given(seed=st.integers(0, 10_000))
def test_a_line_is_seen_where_it_is_and_nowhere_else(seed: int) -> None:
    rng, state = Random(seed), GAME.start({}, RNG)
    while seats := GAME.to_move(state):
        state = GAME.play(state, {seats[0]: rng.choice(GAME.legal(state, seats[0]))}, rng)
    outcome, board = GAME.outcome(state), GAME.record(state)["board"]
    assert outcome
    assert [has_line_by_looking(board, seat) for seat in (0, 1)] == [
        outcome.winner == seat for seat in (0, 1)
    ]
