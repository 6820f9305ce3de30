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

from agent_league.cli.exit_codes import Exit
from cli.league_command import document, league, line_with, running
from mcp_peer import McpPeer, ServedMcpPeer, even

STDIO = Path(__file__).parents[1] / "dialects" / "stdio_server.py"
NOBODY = "http://127.0.0.1:9/mcp"


@contextmanager
def served(server: McpPeer) -> Iterator[str]:
    """Serve *server* beside the test, and give its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    at_port = ServedMcpPeer(server)
    try:
        asyncio.run_coroutine_threadsafe(at_port.__aenter__(), loop).result()
        yield at_port.url
        asyncio.run_coroutine_threadsafe(at_port.__aexit__(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
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
            reply, _ = manager.communicate()
            player.communicate()
    assert "Champion" in reply
    assert player.returncode == 0
    assert [call["match_id"] for call in server.called("choose_parity")] == ["X", "R1M1"]


def test_a_server_that_wants_a_token_plays_behind_the_command_that_has_it() -> None:
    server = McpPeer(token="secret")
    with served(server) as url, running("manager", "--port", "0", "--players", "2") as manager:
        there = ("--league", line_with(manager, "Waiting").split()[-1])
        proof = ("--header", "Authorization: Bearer secret")
        with (
            running("referee", "--port", "0", *there),
            running("player", "--port", "0", "--mcp", url, *proof, *there) as ours,
            running("player", "--port", "0", "--strategy", "random", *there),
        ):
            reply, _ = manager.communicate()
            ours.communicate()
    assert "Champion" in reply
    assert len(server.called("choose_parity")) == 1


@pytest.mark.parametrize(
    ("proof", "reply"),
    [
        ((), "HTTP 401: it wants a token"),
        (("--header", "Authorization: Bearer wrong"), "HTTP 401: it wants a token"),
        (("--header", "sesame"), "a header is a name, a colon and a value"),
        (("--header", "Content-Length: 3"), "content-length"),
    ],
)
def test_a_missing_token_is_said_to_be_missing_and_never_shown(
    proof: tuple[str, ...], reply: str
) -> None:
    with served(McpPeer(token="secret")) as url:
        done = league("player", "--mcp", url, "--league", NOBODY, *proof)
    assert done.returncode == Exit.USAGE
    assert reply in done.stderr
    assert "hint:" in done.stderr
    assert "wrong" not in done.stderr
    assert "sesame" not in done.stderr


def test_a_tool_that_is_not_listed_is_called_with_a_token() -> None:
    with running("manager", "--port", "0", "--players", "2") as manager:
        organiser = ("--token", line_with(manager, "organiser's token").split()[-1])
        there = ("--league", line_with(manager, "Waiting").split()[-1])
        joined = json.loads(
            league("mcp", "call", "LM.join_league", '{"display_name": "Guest"}', *there).stdout
        )
        proof = ("--token", joined["auth_token"])
        waits = '{"max_wait_sec": 0.1}'
        waited = league("mcp", "call", "LM.wait_for_turn", waits, *there, *proof)
        assert json.loads(waited.stdout)["status"] == "NO_TURN_YET"
        query = '{"query_type": "GET_STANDINGS", "query_params": {}}'
        asked = league("mcp", "call", "LM.league_query", query, *there, *proof)
        assert json.loads(asked.stdout)["success"]
        listed = document("mcp", "ls", *there, *organiser, "--json")["agents"][0]["tools"]
        assert "LM.pause_league" in {tool["name"] for tool in listed}
        late = league("mcp", "call", "LM.wait_for_turn", *there, *proof, "--timeout", "0.2")
    assert late.returncode == Exit.UNREACHABLE
    assert "0.2 s" in late.stderr


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
    ("arguments", "reply", "code"),
    [
        (("player", "--mcp", NOBODY), "no MCP server", Exit.USAGE),
        (("player", "--mcp-command", "no-such-command-at-all"), "no MCP server", Exit.USAGE),
        (("player", "--mcp", NOBODY, "--mcp-command", "x"), "either", Exit.USAGE),
        (("mcp", "ls", "--league", NOBODY), "refused the connection", Exit.UNREACHABLE),
        (("mcp", "call", "P01.x", "--league", NOBODY), "refused the connection", Exit.UNREACHABLE),
    ],
)
def test_what_cannot_be_done_ends_with_a_sentence_and_a_hint(
    arguments: tuple[str, ...], reply: str, code: Exit
) -> None:
    done = league(*arguments)
    assert done.returncode == code
    assert reply in done.stderr
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
