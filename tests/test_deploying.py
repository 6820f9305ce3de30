"""The pages about deployment and capacity show commands that are there, and those that can be run are."""

import re
import shlex
from pathlib import Path

import pytest

from agent_league.cli.app import make_app
from cli.league_command import league

ROOT = Path(__file__).parent.parent
PAGES = ("docs/deploying.md", "docs/capacity.md", "docs/scaling.md")
TEXT = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
COMMANDS = sorted(
    {
        re.sub(r"^.*?league (?=\w)", "league ", line)
        for text in TEXT.values()
        for block in re.findall(r"```(?:sh)?\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
        if re.match(r"(league/bin/)?league \w", line)
    }
)
DEPLOYING = TEXT["docs/deploying.md"]


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_these_pages_is_a_real_one(line: str) -> None:
    make_app().parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)


def test_the_variables_of_the_service_are_options_of_the_manager() -> None:
    pairs = re.findall(r"^LEAGUE_MANAGER_(\w+)=(\S+)$", DEPLOYING, re.MULTILINE)
    assert len(pairs) == 5
    flags = [f"--{name.lower().replace('_', '-')}={value}" for name, value in pairs]
    make_app().parse_args(["manager", *flags], exit_on_error=False, print_error=False)


def test_the_backup_of_the_page_is_made_and_restored(tmp_path: Path) -> None:
    played = ("play", "--players", "2", "--port-base", "0", "--display", "none")
    assert league(*played, cwd=tmp_path).returncode == 0
    (block,) = re.findall(r"```sh\n(league backup monday.*?)```", DEPLOYING, re.DOTALL)
    for line in (*block.splitlines(), "league standings --store monday.db"):
        done = league(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_simulation_of_the_page_says_what_the_page_shows() -> None:
    """One that is quick: the number of matches and rows does not depend on the machine."""
    page = TEXT["docs/capacity.md"]
    (shown,) = re.findall(
        r"```sh\n(league simulate 100 --think 2)\n```\n\n```text\n(.*?)```", page, re.DOTALL
    )
    command, output = shown
    now, then = league(*shlex.split(command)[1:]).stdout, output
    for name in ("Matches", "Rows", "Store"):
        (line,) = re.findall(rf"^{name} .*$", now, re.MULTILINE)
        assert line.split() == re.findall(rf"^{name} .*$", then, re.MULTILINE)[0].split()
