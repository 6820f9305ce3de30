"""Games of OpenSpiel: the laws for a few, and one match of each that is for two, through a referee."""

from pathlib import Path

import pytest

from agent_league.game import GAMES
from bars.openspiel_table import PAGE, try_games, write_page
from games.laws import LAWS

SOME = ("tic_tac_toe", "kuhn_poker", "goofspiel(num_cards=4)", "breakthrough", "liars_dice")


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_game_of_the_library_keeps_the_laws(name: str, law: object) -> None:
    assert callable(law)
    law(GAMES[f"openspiel:{name}"])


def test_all_games_for_two_that_load_play_to_the_end_but_those_on_the_page() -> None:
    found = write_page(list(try_games()))
    page = Path(PAGE).read_text(encoding="utf-8")
    assert found in page, f"put this on the page:\n{found}"
