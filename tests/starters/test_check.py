"""Every starter that is an agent passes `league check`, from its registration on: all rules kept."""

from pathlib import Path

import pytest

from agent_league.cli.commands import COMMANDS
from cli.league_process import running
from free_ports import free_ports
from starters.programs import PLAYERS, started, written

pytestmark = pytest.mark.slow

AGENTS = [*(("player", lang) for lang in PLAYERS), ("referee", "python-plain")]


@pytest.mark.skipif("check" not in COMMANDS, reason="there is no league check yet")
@pytest.mark.parametrize(("kind", "lang"), AGENTS)
def test_a_starter_as_it_is_written_passes_the_check(kind: str, lang: str, tmp_path: Path) -> None:
    program = written(tmp_path, kind, "Ada", "--lang", lang)
    port, league = free_ports(2)
    # The program may start first: it waits for the league, which the check opens.
    with started(program, "--port", str(port), "--league", f"http://127.0.0.1:{league}/mcp"):
        url = f"http://127.0.0.1:{port}/mcp"
        check = ("check", url, "--role", kind, "--league-port", str(league), "--quiet")
        with running(*check) as judge:
            reply, wrong = judge.communicate(timeout=50)
    assert judge.returncode == 0, reply + wrong
    assert " 0 broken, 0 not judged" in reply
