"""The page of a match shows the end of its game, as the game draws it."""

import pytest

from agent_league.game import GAMES
from agent_league.web.drawing.game_picture import draw_record


def test_a_board_is_drawn_with_its_marks() -> None:
    board = [0, 0, 0, 1, 1, None, None, None, None]
    drawn = str(draw_record("tic_tac_toe", {"board": board}))
    assert drawn.startswith("<svg")
    assert drawn.count("<rect") == 9


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize(
    "record", [{}, {"board": "<script>"}, {"board": None, "drawn_number": []}, {"moves": 7}]
)
def test_a_record_that_makes_no_sense_is_not_drawn_as_markup(
    game: str, record: dict[str, object]
) -> None:
    assert "<script>" not in str(draw_record(game, record))


def test_a_game_that_nobody_knows_has_no_picture() -> None:
    assert str(draw_record("chess", {"board": []})) == ""
