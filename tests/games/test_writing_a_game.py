"""The game in docs/writing-a-game.md is a game."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_league.game import AnyGame
from agent_league.vocabulary import Json
from games.laws import LAWS

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-game.md"


@pytest.fixture
def written(tmp_path: Path) -> dict[str, Json]:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "nim.py"
    file.write_text(code, encoding="utf-8")
    return runpy.run_path(str(file))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_documented_game_keeps_the_law(
    written: dict[str, Json], law: Callable[[AnyGame], None]
) -> None:
    law(written["game"])
