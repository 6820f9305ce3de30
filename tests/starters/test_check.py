"""Every starter that is an agent passes `league check`, from its registration on: all rules kept."""

from pathlib import Path

import pytest

from agent_league.cli import COMMANDS
from agent_league.hosting import LOOPBACK, bound
from cli.league_command import running
from starters.programs import PLAYERS, started, written

pytestmark = pytest.mark.slow

AGENTS = [*(("player", lang) for lang in PLAYERS), ("referee", "python-plain")]


def free_port() -> int:
    with bound(LOOPBACK, 0) as sock:
        return int(sock.getsockname()[1])


@pytest.mark.skipif("check" not in COMMANDS, reason="there is no league check yet")
@pytest.mark.parametrize(("kind", "lang"), AGENTS)
def test_a_starter_as_it_is_written_passes_the_check(kind: str, lang: str, tmp_path: Path) -> None:
    program = written(tmp_path, kind, "Ada", "--lang", lang)
    port, league = free_port(), free_port()
    # The program may start first: it waits for the league, which the check opens.
    with started(program, "--port", str(port), "--league", f"http://127.0.0.1:{league}/mcp"):
        url = f"http://127.0.0.1:{port}/mcp"
        check = ("check", url, "--role", kind, "--league-port", str(league), "--quiet")
        with running(*check) as judge:
            said, wrong = judge.communicate(timeout=50)
    assert judge.returncode == 0, said + wrong
    assert " 0 broken, 0 not judged" in said
