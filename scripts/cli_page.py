"""Write docs/cli.md, the page of commands; with --check, only say whether it is current."""

import re
import sys
from pathlib import Path

from agent_league.cli.app import make_app
from agent_league.cli.commands import COMMANDS, GROUPS
from agent_league.cli.exit_codes import Exit

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
HEAD = """# Commands

Written by `make docs` from the commands themselves. Every option can also be given in the environment: `--players` of
`league play` is `LEAGUE_PLAY_PLAYERS`. What a program reads goes to stdout, everything else to stderr.
"""


def make_page() -> str:
    sections = _list_sections()
    parts = [HEAD, _make_overview(), _make_exit_codes()]
    for group, commands in GROUPS.items():
        parts += [f"## {group}\n", *(sections[name] for name in commands)]
    return "\n".join(parts)


def _make_overview() -> str:
    rows = ["| command | what it does |", "| --- | --- |"]
    for commands in GROUPS.values():
        rows += [
            f"| [`league {name}`](#league-{name}) | {line} |" for name, line in commands.items()
        ]
    return "\n".join(rows) + "\n"


def _make_exit_codes() -> str:
    meanings = "; ".join(f"{int(code)} {code.meaning}" for code in Exit)
    return f"Exit codes: {meanings}.\n"


def _list_sections() -> dict[str, str]:
    """Return the usage and the options of each command, as Markdown."""
    page = make_app(COMMANDS).generate_docs(heading_level=2)
    page = re.sub(r" \*\[default: (False|\(\))\]\*", "", page)
    page = re.sub(r"^league (\S+) \1\b", r"league \1", page, flags=re.MULTILINE)  # a usage of ours
    found = re.split(r"^### league (\S+)\n", page, flags=re.MULTILINE)
    return {
        name: f"### league {name}\n{text.rstrip()}\n"
        for name, text in zip(found[1::2], found[2::2], strict=True)
    }


def main(arguments: list[str]) -> int:
    wanted = make_page()
    if "--check" not in arguments:
        PAGE.write_text(wanted, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted:
        sys.stderr.write("docs/cli.md is not current\nhint: make docs\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
