"""The commands of the documents are run here, so that they stay right."""

import re
import shlex
from contextlib import ExitStack
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from agent_league.cli.app import make_app
from agent_league.cli.commands import COMMANDS
from agent_league.cli.exit_codes import Exit
from agent_league.game import GAMES
from agent_league.protocol import MESSAGES, ErrorCode
from agent_league.strategy import STRATEGIES
from cli.league_command import league, line_with
from cli.league_process import running
from starters.programs import listening

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "docs/writing-an-agent.md",
    "docs/running-a-league.md",
    "docs/comparing-agents.md",
)
TEXT = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
SHOWN = list(dict.fromkeys(re.findall(r"^    (league .+)$", TEXT, re.MULTILINE)))
PLAYED = [line for line in SHOWN if line.startswith("league play ") and "--guests" not in line]
"""Those with guests are played in `cli/test_guest_seats.py`: they wait for somebody."""
TERMINALS = [line for line in SHOWN if re.match(r"league (manager|referee|player) --port", line)]


@pytest.mark.parametrize("line", PLAYED)
def test_a_command_of_the_documents_plays(line: str, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "contrarian.py").write_text(code, encoding="utf-8")
    done = league(*shlex.split(line)[1:], "--port-base", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "playing a random legal move" not in done.stderr
    assert "Champion" in done.stdout or '"champion"' in done.stdout


@pytest.mark.processes
def test_the_four_terminals_of_the_documents_play_a_league() -> None:
    manager, *members = [
        shlex.split(re.sub(r"--port \d+", "--port 0", line))[1:] for line in TERMINALS
    ]
    with ExitStack() as stack:
        league_manager = stack.enter_context(running(*manager))
        url = line_with(league_manager, "Waiting").split()[-1]
        for member in members:
            stack.enter_context(running(*member, "--league", url))
        reply, _ = league_manager.communicate()
    assert "Champion" in reply


def test_the_agent_of_the_documents_is_written_practises_and_is_checked(tmp_path: Path) -> None:
    (new,) = [shlex.split(line)[1:] for line in SHOWN if line.startswith("league new ")]
    (start,) = re.findall(r"^    python (\S+)$", TEXT, re.MULTILINE)
    assert league(*new, cwd=tmp_path).stdout.strip() == start
    practices = [line for line in SHOWN if line.startswith("league practice ")]
    assert len(practices) == 3
    checks = [f"{line} --games 1" for line in SHOWN if line.startswith("league check ")]
    assert len(checks) == 1
    with listening(tmp_path / start) as url:
        for line in [re.sub(r" -n \d+|$", " -n 2", line, count=1) for line in practices] + checks:
            words = [url if word.startswith("http") else word for word in shlex.split(line)]
            done = league(*words[1:])
            assert done.returncode == 0, done.stderr


def test_every_command_and_exit_code_is_on_the_page_of_commands() -> None:
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"\n### league {name}\n" not in page] == []
    assert [code for code in Exit if not re.search(rf" {int(code)} ", page)] == []


def test_every_flag_of_the_documents_exists() -> None:
    wide = Console(width=200, file=StringIO())
    for name in COMMANDS:
        make_app([name]).help_print([name], console=wide)
    assert isinstance(wide.file, StringIO)
    helps = wide.file.getvalue()
    ours = [line for line in TEXT.splitlines() if not line.startswith(("    claude ", "    uvx "))]
    flags = set(re.findall(r"--[a-z][a-z-]*", "\n".join(ours)))
    assert {flag for flag in flags if flag not in helps} == set()


COMMAND_LINE = re.compile(
    r"`league ([a-z][^`]*)`|^    league ([a-z][^\n#]*)|^```sh\nleague ([a-z][^\n]*)", re.MULTILINE
)


def test_every_command_of_every_page_exists_with_its_flags() -> None:
    wrong = []
    for page in sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")} - {ROOT / "CHANGELOG.md"}):
        text = page.read_text(encoding="utf-8")
        shown = COMMAND_LINE.findall(text)
        for words in (" ".join("".join(each).split()) for each in shown):
            name, *rest = words.split(" ")
            flags = re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(rest))
            if name not in COMMANDS:
                wrong.append(f"{page.name}: league {words}")
            wrong += [
                f"{page.name}: league {name} {f}"
                for f in flags
                if f not in f"{help_of(name)} --help"
            ]
    assert wrong == []


@cache
def help_of(name: str) -> str:
    """Return the help of a command, and of the commands below it."""
    screen = StringIO()
    for below in ("", *BELOW.get(name, ())):
        words = [name, below] if below else [name]
        make_app([name]).help_print(words, console=Console(width=200, file=screen))
    return screen.getvalue()


BELOW = {"mcp": ("ls", "call"), "token": ("rotate",)}


def test_every_make_target_of_the_documents_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"`?make ([a-z-]+)`", page.read_text(encoding="utf-8")):
            assert f"\n{target}:" in makefile, f"{page.name}: make {target}"


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_mention_of_a_source_document_leads_to_the_page_that_introduces_them() -> None:
    for page in sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")}):
        if page.name in ("sources.md", "CHANGELOG.md"):
            continue
        unlinked = re.sub(r"\[[^]]*\]\(\S*sources\.md\)", "", page.read_text(encoding="utf-8"))
        assert re.findall(r"(?:documents?|\|) 00[0-4]\b.*", unlinked) == [], page.name


def test_every_heading_that_a_link_names_exists() -> None:
    for page in sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")}):
        for file, heading in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", page.read_text("utf-8")):
            target = page.parent / file if file else page
            headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
            assert heading in anchors, f"{page.name}: {file}#{heading}"


def test_every_message_and_every_code_is_documented() -> None:
    page = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
    assert [name for name in MESSAGES if f"`{name}`" not in page and name not in page] == []
    assert [code for code in ErrorCode if code not in page or code.name not in page] == []


def test_the_map_names_every_package_and_module_of_the_top() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    top = (ROOT / "src/agent_league").iterdir()
    names = [path.name for path in top if not path.name.startswith("_")]
    assert [name for name in names if f"`{name}" not in page] == []


def test_every_module_that_the_map_names_exists() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:[a-z_]+/)*([a-z_0-9]+\.py)`", page))
    assert named - {path.name for path in ROOT.glob("*/**/*.py")} == set()


def test_the_strategies_and_games_that_are_promised_are_there() -> None:
    promised = "random always_even always_odd alternating mirror frequency pattern markov"
    assert set(promised.split()) <= set(STRATEGIES)
    assert {"even_odd", "tic_tac_toe"} <= set(GAMES)
