"""The strategy in docs/writing-a-strategy.md plays, and the page names all there are."""

import re
import runpy
from pathlib import Path
from random import Random
from typing import cast

import pytest

from agent_league.game import GAMES
from agent_league.strategy import STRATEGIES, Situation, Strategy

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-strategy.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture
def written(tmp_path: Path) -> Strategy:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    file = tmp_path / "contrary.py"
    file.write_text(code, encoding="utf-8")
    return cast("Strategy", runpy.run_path(str(file))["strategy"])


@pytest.mark.parametrize("seed", range(8))
def test_the_documented_strategy_differs_from_the_last_move(written: Strategy, seed: int) -> None:
    legal = ("even", "odd")
    assert written(Situation(None, legal, Random(seed))) in legal
    assert written(Situation(None, legal, Random(seed), theirs=["odd", "even"])) == "odd"
    assert written(Situation(None, legal, Random(seed), theirs=["even", "odd"])) == "even"


@pytest.mark.parametrize("name", GAMES)
def test_the_documented_strategy_plays_every_game_to_its_end(written: Strategy, name: str) -> None:
    game, rng = GAMES[name], Random(1)
    state = game.start({}, rng)
    while seats := game.to_move(state):
        asked = {s: Situation(game.view(state, s), game.legal(state, s), rng) for s in seats}
        moves = {seat: game.read_move(written(situation)) for seat, situation in asked.items()}
        state = game.play(state, moves, rng)
    assert game.outcome(state)


def test_the_view_on_the_page_is_the_view_of_the_game() -> None:
    game = GAMES["even_odd"]
    (shown,) = re.findall(r"such as `(\{.*?\})`", TEXT)
    assert str(game.view(game.start({}, Random(0)), 0)).replace("'", '"') == shown


def test_the_page_explains_every_field_and_names_every_strategy() -> None:
    fields = re.findall(
        r"^\| `(\w+)` \|", TEXT.split("## The built-in strategies")[0], re.MULTILINE
    )
    assert fields == list(Situation.__struct_fields__)
    assert [name for name in STRATEGIES if f"`{name}`" not in TEXT] == []
