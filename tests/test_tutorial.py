"""The tutorial is followed here as a reader follows it: every file saved, every command typed."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from free_ports import free_ports
from terminals import Terminal, opened

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
STEP = re.compile(
    r"save this as `(?P<file>[\w.]+)`:\n\n```\w+\n(?P<code>.*?)^```\n"
    r"|\*\*Terminal (?P<terminal>\d)\*\*(?: \(JavaScript: `(?P<js>[^`]+)`\))?"
    r"|^```sh\n(?P<typed>.*?)\n```\n"
    r"|^```text\n(?P<screen>.*?)```\n"
    r"|^    (?P<edit>return [^\n]*)\n",
    re.MULTILINE | re.DOTALL,
)
SUFFIXES = {"python": ".py", "js": ".mjs"}


class Reader:
    """Does what the steps of the page say, in one of the two languages."""

    def __init__(self, language: str, folder: Path, terminals: dict[str, Terminal]) -> None:
        self.language, self.folder, self.terminals = language, folder, terminals
        row = free_ports(5)  # a manager, two referees, two players
        self.ports = {"8000": str(row[0]), "8101": str(row[3]), "8102": str(row[4])}
        self.options = {"league play": "--port-base 0", "league start": f"--port-base {row[0]}"}
        self.terminal = self.js = ""
        self.actions: dict[str | None, Callable[[re.Match[str]], None]] = {
            "code": self.save,
            "terminal": self.turn_to,
            "js": self.turn_to,
            "typed": self.type,
            "screen": self.see,
            "edit": self.edit,
        }

    def follow(self, page: str) -> None:
        page = re.sub("|".join(self.ports), lambda port: self.ports[port[0]], page)
        for step in STEP.finditer(page):
            self.actions[step.lastgroup](step)
        for terminal in self.terminals.values():
            terminal.finish()

    def save(self, step: re.Match[str]) -> None:
        if step["file"].endswith(SUFFIXES[self.language]):
            (self.folder / step["file"]).write_text(step["code"], encoding="utf-8")

    def turn_to(self, step: re.Match[str]) -> None:
        self.terminal, self.js = step["terminal"], step["js"] or ""

    def type(self, step: re.Match[str]) -> None:
        command = self.js if self.js and self.language == "js" else step["typed"]
        more = self.options.get(" ".join(command.split()[:2]), "")
        self.terminals[self.terminal].type(f"{command} {more}")

    def see(self, step: re.Match[str]) -> None:
        self.terminals[self.terminal].see(step["screen"])

    def edit(self, step: re.Match[str]) -> None:
        """Put the line in the place of that line of `choose` that begins with return."""
        player = self.folder / f"player{SUFFIXES[self.language]}"
        before, choose, after = re.split(
            r"(choose\(\) ?[:{])", player.read_text(encoding="utf-8"), maxsplit=1
        )
        after = re.sub(r"return .*", step["edit"], after, count=1)
        player.write_text(before + choose + after, encoding="utf-8")


@pytest.mark.processes
@pytest.mark.parametrize("language", SUFFIXES)
def test_a_reader_of_the_tutorial_writes_an_agent_that_passes_the_check_and_plays(
    language: str, tmp_path: Path
) -> None:
    if language == "js" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    folder = tmp_path / "my-agent"
    folder.mkdir()
    with opened("123", folder) as terminals:
        Reader(language, folder, terminals).follow(PAGE)


def test_the_programs_of_the_tutorial_import_only_what_the_languages_bring() -> None:
    programs = {found["file"]: found["code"] for found in STEP.finditer(PAGE) if found["file"]}
    assert sorted(programs) == [
        "join.mjs", "join.py", "player.mjs", "player.py", "rpc.mjs", "rpc.py",
    ]  # fmt: skip
    imported = set()
    for name, code in programs.items():
        pattern = r'from "([^"]+)"' if name.endswith(".mjs") else r"^(?:import|from) (\w+)"
        imported |= set(re.findall(pattern, code, re.MULTILINE))
    ours = {"player", "rpc", "./player.mjs", "./rpc.mjs"}
    standard = {"json", "http", "random", "datetime", "sys", "urllib", "node:http"}
    assert imported - ours <= standard


@pytest.mark.processes
def test_the_commands_of_the_first_step_give_the_command_league() -> None:
    typed = re.findall(r"^    (make .+|\. .+)$", PAGE, re.MULTILINE)
    assert len(typed) == 2
    shell = ["/bin/sh", "-ec", "\n".join([*typed, "command -v league"])]
    done = subprocess.run(shell, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(ROOT / ".venv" / "bin" / "league")
