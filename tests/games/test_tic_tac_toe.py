from random import Random

import pytest

from agent_league.game import IllegalMoveError, OptionsError, Outcome
from agent_league.games.tic_tac_toe import LINES, State, game
from agent_league.vocabulary import Json


def play(*cells: int) -> State:
    """Return the state after these moves, seat 0 first."""
    rng = Random(0)
    state = game.start({}, rng)
    for cell in cells:
        (seat,) = game.to_move(state)
        state = game.play(state, {seat: cell}, rng)
    return state


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("seat", [0, 1])
def test_three_in_a_row_win(line: tuple[int, ...], seat: int) -> None:
    state = State(tuple(seat if cell in line else None for cell in range(9)))
    assert game.outcome(state) == Outcome(seat, f"{{{seat}}} has three in a row")
    assert game.to_move(state) == ()


def test_a_full_board_without_a_row_is_a_draw() -> None:
    drawn = play(0, 1, 2, 4, 3, 5, 7, 6, 8)
    assert game.outcome(drawn) == Outcome(None, "The board is full")
    assert game.record(drawn) == {"board": [0, 1, 0, 0, 1, 1, 1, 0, 0]}


def test_a_row_that_fills_the_board_still_wins() -> None:
    assert game.outcome(play(0, 1, 2, 3, 4, 5, 7, 6, 8)) == Outcome(0, "{0} has three in a row")


def test_the_seats_take_turns() -> None:
    assert [game.to_move(play(*range(made)))[0] for made in range(5)] == [0, 1, 0, 1, 0]


def test_a_seat_sees_the_board_and_which_seat_it_is() -> None:
    board = [None, None, None, None, 0, None, None, None, None]
    assert game.view(play(4), 1) == {"board": board, "you": 1}


def test_a_taken_cell_is_not_legal_and_nothing_is_out_of_turn() -> None:
    assert game.legal(play(4), 1) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert game.legal(play(4), 0) == ()


@pytest.mark.parametrize("raw", [-1, 9, True, 4.0, "4", None, [4]])
def test_only_the_numbers_of_cells_are_moves(raw: Json) -> None:
    with pytest.raises(IllegalMoveError, match="expected a cell from 0 to 8, got"):
        game.read_move(raw)


def test_there_are_no_options() -> None:
    with pytest.raises(OptionsError, match="unknown option 'size': expected none"):
        game.start({"size": 4}, Random(0))
