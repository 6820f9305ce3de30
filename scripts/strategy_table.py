"""Measure every strategy in every game in the lab, and write the table of docs/writing-a-strategy.md.

The seed is fixed, so that the same code gives the same table on every machine. With --check, only
say whether the page has it.
"""

import re
import sys
from pathlib import Path

from agent_league.lab.crosstable import make_rows
from agent_league.lab.tournament import LabPlan, run_lab
from agent_league.strategy import STRATEGIES, suits

PAGE = Path(__file__).parent.parent / "docs" / "writing-a-strategy.md"
MEASURED = re.compile(r"(<!-- measured: strategies -->\n).*?(<!-- end -->)", re.DOTALL)
MATCHES = {
    "even_odd": 1000,
    "matching_pennies": 300,
    "rock_paper_scissors": 300,
    "prisoners_dilemma": 200,
    "kuhn_poker": 200,
    "tic_tac_toe": 200,
    "connect_four": 10,
}
"""How often each pair meets; a game takes the longer, the more there is to think about."""
SEED = "2025"


def measure(game: str, matches: int) -> dict[str, float]:
    """Return the points a match of every strategy that has a skill in *game*."""
    field = [name for name in STRATEGIES if suits(STRATEGIES[name], game)]
    results = run_lab(LabPlan(game, field, matches, SEED))
    return {row.strategy: row.points.value for row in make_rows(field, results)}


def make_table() -> str:
    """Return the table: a row for each strategy, a column for each game."""
    found = {game: measure(game, matches) for game, matches in MATCHES.items()}
    heads = [f"`{game}`" for game in MATCHES]
    lines = [f"| strategy | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(heads)}"]
    for name in STRATEGIES:
        cells = [_format(name, column) for column in found.values()]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _format(name: str, column: dict[str, float]) -> str:
    if name not in column:
        return ""
    text = f"{column[name]:.2f}"
    return f"**{text}**" if column[name] == max(column.values()) else text


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    table = make_table()
    new = MEASURED.sub(lambda found: f"{found[1]}{table}{found[2]}", page)
    if "--check" in arguments:
        return 0 if new == page else 1
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
