"""What people and models see of a game."""

from random import Random

from agent_league.game import GAMES, draw_picture, explain_view
from agent_league.picture import Picture, draw_fields, draw_svg, draw_text

RNG = Random(0)


def test_a_board_is_drawn_with_the_numbers_of_its_free_cells() -> None:
    board = [0, 1, None, None, 0, None, None, None, 1]
    drawn = draw_text(draw_picture(GAMES["tic_tac_toe"], {"board": board, "you": 0}))
    assert drawn == "X O 2\n3 X 5\n6 7 O\nyou are X"


def test_connect_four_is_drawn_with_the_numbers_of_its_columns() -> None:
    game = GAMES["connect_four"]
    state = game.play(game.start({}, RNG), {0: 3}, RNG)
    lines = draw_text(draw_picture(game, game.view(state, 1))).splitlines()
    assert lines[-3:] == [". . . X . . .", "0 1 2 3 4 5 6", "you are O"]


def test_a_finished_game_is_drawn_from_its_record() -> None:
    drawn = draw_picture(GAMES["even_odd"], {"drawn_number": 8, "number_parity": "even"})
    assert draw_text(drawn) == "8 is even\nthe number that was drawn"


def test_a_game_without_a_picture_shows_its_fields() -> None:
    assert draw_text(draw_fields({"stones": 7})) == "stones 7"
    assert draw_text(draw_fields([1, 2])) == "shown  [1, 2]"
    assert draw_text(draw_fields({"long": "x" * 100})).endswith("...")


def test_what_others_wrote_cannot_leave_its_cell() -> None:
    svg = draw_svg(Picture([["<script>"]], "a < b & c"))
    assert "<script>" not in svg
    assert "&lt;script&gt;" in svg
    assert "a &lt; b &amp; c" in svg


def test_a_view_that_is_no_object_is_shown_as_it_is() -> None:
    class Plain:
        def view(self, state: object, seat: int) -> list[int]:
            return [1, 2]

    assert explain_view(Plain(), None, 0) == [1, 2]  # type: ignore[arg-type]  # only what is asked
