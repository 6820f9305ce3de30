"""What the README says is run here, so that it cannot be wrong for long."""

import re
import shlex
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from agent_league.cli import COMMANDS, app
from agent_league.cli.endings import Exit
from agent_league.game import GAMES
from agent_league.protocol import MESSAGES, ErrorCode
from agent_league.strategy import STRATEGIES
from cli.league_command import league, line_with, running
from starters.programs import listening

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^    (league .+)$", README, re.MULTILINE)
PLAYED = [line for line in SHOWN if line.startswith("league play ") and "--guests" not in line]
"""Those with guests are played in `cli/test_guest_seats.py`: they wait for somebody."""
TERMINALS = [line for line in SHOWN if re.match(r"league (manager|referee|player)\b", line)]


@pytest.mark.parametrize("line", PLAYED)
def test_a_command_of_the_readme_plays(line: str, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "contrarian.py").write_text(code, encoding="utf-8")
    done = league(*shlex.split(line)[1:], "--port-base", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "playing a random legal move" not in done.stderr
    assert "Champion" in done.stdout or '"champion"' in done.stdout


def test_the_four_terminals_of_the_readme_play_a_league() -> None:
    manager, *members = [
        shlex.split(re.sub(r"--port \d+", "--port 0", line))[1:] for line in TERMINALS
    ]
    with ExitStack() as stack:
        league_manager = stack.enter_context(running(*manager))
        url = line_with(league_manager, "Waiting").split()[-1]
        for member in members:
            stack.enter_context(running(*member, "--league", url))
        said, _ = league_manager.communicate(timeout=30)
    assert "Champion" in said


def test_the_agent_of_the_readme_is_written_and_practises(tmp_path: Path) -> None:
    (new,) = [shlex.split(line)[1:] for line in SHOWN if line.startswith("league new ")]
    (practice,) = [shlex.split(line)[1:] for line in SHOWN if line.startswith("league practice ")]
    (start,) = re.findall(r"^    python (\S+)$", README, re.MULTILINE)
    assert league(*new, cwd=tmp_path).stdout.strip() == start
    with listening(tmp_path / start) as url:
        command = [url if word.startswith("http") else word for word in practice]
        done = league(*command, "-n", "5")
    assert done.returncode == 0, done.stderr
    assert "✓ 100 % protocol compliance" in done.stdout


def test_every_command_and_exit_code_is_in_the_readme() -> None:
    assert [name for name in COMMANDS if f"`league {name}" not in README] == []
    assert [code for code in Exit if not re.search(rf"\b{int(code)}\b", README)] == []


def test_every_flag_of_the_readme_exists() -> None:
    wide = Console(width=200, file=StringIO())
    for name in COMMANDS:
        app.help_print([name], console=wide)
    assert isinstance(wide.file, StringIO)
    helps = wide.file.getvalue()
    ours = [line for line in README.splitlines() if not line.startswith("    claude ")]
    flags = set(re.findall(r"--[a-z][a-z-]*", "\n".join(ours)))
    assert {flag for flag in flags if flag not in helps} == set()


def test_every_make_target_of_the_documents_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"`?make ([a-z-]+)`", page.read_text(encoding="utf-8")):
            assert f"\n{target}:" in makefile, f"{page.name}: make {target}"


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_message_and_every_code_is_documented() -> None:
    page = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
    assert [name for name in MESSAGES if f"`{name}`" not in page and name not in page] == []
    assert [code for code in ErrorCode if code not in page or code.name not in page] == []


def test_the_map_names_every_package_and_module_of_the_top() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    top = (ROOT / "src/agent_league").iterdir()
    names = [path.name for path in top if not path.name.startswith("_")]
    assert [name for name in names if f"`{name}" not in page] == []


def test_the_strategies_and_games_that_are_promised_are_there() -> None:
    promised = "random always_even always_odd alternating mirror frequency pattern markov"
    assert set(promised.split()) <= set(STRATEGIES)
    assert {"even_odd", "tic_tac_toe"} <= set(GAMES)
