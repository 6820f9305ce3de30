"""Write the table of rules of docs/check.md; with --check, only say whether it is current."""

import re
import sys
from pathlib import Path

from agent_league.check import RULES, Rule
from agent_league.check.report import section
from agent_league.protocol import Role

PAGE = Path(__file__).parent.parent / "docs" / "check.md"
GENERATED = re.compile(r"(<!-- generated: rules -->\n).*?(<!-- end -->)", re.DOTALL)
PEOPLE = {Role.PLAYER: "player", Role.REFEREE: "referee", Role.LEAGUE: "manager"}


def rules_table() -> str:
    heads = ["rule", "for", "what it asks", "where it is written", "if broken", "recorded as"]
    rows = [heads, ["---"] * len(heads), *map(_row, RULES)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(rule: Rule) -> list[str]:
    people = ", ".join(PEOPLE[role] for role in rule.roles)
    recorded = ", ".join(f"`{violation}`" for violation in rule.recorded)
    return [f"`{rule.id}`", people, rule.title, section(rule), rule.gravity.value, recorded]


def current(page: str) -> str:
    """Return *page* with the table as the code says it now."""
    return GENERATED.sub(lambda found: f"{found[1]}\n{rules_table()}\n{found[2]}", page)


def main(arguments: list[str]) -> int:
    said = PAGE.read_text(encoding="utf-8")
    wanted = current(said)
    if "--check" not in arguments:
        PAGE.write_text(wanted, encoding="utf-8")
    elif said != wanted:
        sys.stderr.write("docs/check.md is not current\nhint: make docs\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
