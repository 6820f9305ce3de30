"""`league player --mcp`, `--mcp-command`, `league mcp ls` and `call`, as a person runs them."""

import asyncio
import json
import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_league.cli.endings import Exit
from cli.league_command import document, league, line_with, running
from mcp_peer import McpHouse, McpPeer, even

pytestmark = pytest.mark.slow

STDIO = Path(__file__).parents[1] / "mcp_client" / "stdio_server.py"
NOBODY = "http://127.0.0.1:9/mcp"


@contextmanager
def served(server: McpPeer) -> Iterator[str]:
    """Serve *server* beside the test, and give its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    house = McpHouse(server)
    try:
        asyncio.run_coroutine_threadsafe(house.__aenter__(), loop).result(10)
        yield house.url
        asyncio.run_coroutine_threadsafe(house.__aexit__(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def test_two_foreign_servers_play_a_league() -> None:
    server = McpPeer(properties={"choose_parity": ["match_id"]})
    command = shlex.join([sys.executable, str(STDIO)])
    with served(server) as url, running("manager", "--port", "0", "--players", "2") as manager:
        address = line_with(manager, "Waiting").split()[-1]
        there = ("--league", address)
        enlisted = league("player", "--mcp", url, "--name", "Foreign", *there)
        assert enlisted.returncode == 0, enlisted.stderr
        listed = document("mcp", "ls", *there, "--json")["agents"]
        assert [(one["agent_id"], [tool["name"] for tool in one["tools"]]) for one in listed][
            1
        ] == (
            "P01",
            ["P01.choose_parity"],
        )
        called = league("mcp", "call", "P01.choose_parity", '{"match_id": "X"}', *there)
        assert json.loads(called.stdout) == {"parity_choice": "even"}
        with (
            running("referee", "--port", "0", *there),
            running("player", "--port", "0", "--mcp-command", command, *there) as player,
        ):
            said, _ = manager.communicate(timeout=40)
            player.communicate(timeout=20)
    assert "Champion" in said
    assert player.returncode == 0
    assert [call["match_id"] for call in server.called("choose_parity")] == ["X", "R1M1"]


def test_the_tools_of_a_league_are_shown_as_a_table() -> None:
    with (
        served(McpPeer({"choose_parity": even, "e\x1b[2Jvil": even})) as url,
        running("manager", "--port", "0", "--players", "2") as manager,
    ):
        there = ("--league", line_with(manager, "Waiting").split()[-1])
        league("player", "--mcp", url, *there)
        shown = league("mcp", "ls", *there)
    assert shown.returncode == 0, shown.stderr
    assert "P01.choose_parity" in shown.stdout
    assert "\x1b" not in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (("player", "--mcp", NOBODY), "no MCP server", Exit.USAGE),
        (("player", "--mcp-command", "no-such-command-at-all"), "no MCP server", Exit.USAGE),
        (("player", "--mcp", NOBODY, "--mcp-command", "x"), "either", Exit.USAGE),
        (("mcp", "ls", "--league", NOBODY), "refused the connection", Exit.UNREACHABLE),
        (("mcp", "call", "P01.x", "--league", NOBODY), "refused the connection", Exit.UNREACHABLE),
    ],
)
def test_what_cannot_be_done_ends_with_a_sentence_and_a_hint(
    arguments: tuple[str, ...], said: str, code: Exit
) -> None:
    done = league(*arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert "hint:" in done.stderr


def test_a_server_without_the_tool_of_any_game_is_not_registered() -> None:
    with served(McpPeer({"weather": even})) as url:
        done = league("player", "--mcp", url, "--league", NOBODY)
    assert done.returncode == Exit.USAGE
    assert "weather" in done.stderr
    assert "choose_parity" in done.stderr


def test_a_call_that_cannot_be_made_says_why() -> None:
    with running("manager", "--port", "0", "--players", "2") as manager:
        there = ("--league", line_with(manager, "Waiting").split()[-1])
        unknown = league("mcp", "call", "P09.choose_parity", *there)
        broken = league("mcp", "call", "LM.get_standings", "{", *there)
    assert (unknown.returncode, broken.returncode) == (Exit.USAGE, Exit.USAGE)
    assert "league mcp ls" in unknown.stderr
    assert "JSON object" in broken.stderr
