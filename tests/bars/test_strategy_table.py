"""The table of all strategies in docs/writing-a-strategy.md is what the lab measures."""

import re
import runpy
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[2] / "scripts" / "strategy_table.py"


def test_the_page_has_the_points_that_the_lab_measures() -> None:
    script: dict[str, Any] = runpy.run_path(str(SCRIPT))
    assert script["main"](["--check"]) == 0, "make strategy-table writes what is measured now"


def test_the_skilled_lead_their_games() -> None:
    page = SCRIPT.parents[1] / "docs" / "writing-a-strategy.md"
    text = page.read_text(encoding="utf-8")
    best = {
        name for name, row in re.findall(r"^\| `(\w+)` \|(.*)$", text, re.MULTILINE) if "**" in row
    }
    assert {"minimax", "q_learning"} <= best
