"""`league check` as a person runs it, against agents on real ports."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from agent_league.hosting import LOOPBACK, bound, url_of
from agent_league.transport.exchange import Answer
from agent_league.transport.http_server import HttpServer
from check.crooked_player import CROOKED, PlainPlayer
from cli.league_command import COMMAND, PLAIN
from scripted import hosted

pytestmark = pytest.mark.slow


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def check(
    agent: Callable[[bytes], Answer | Awaitable[Answer]],
    *arguments: str,
    encoding: str = "utf-8",
) -> Ended:
    """Serve *agent*, and run the command on it to its end."""

    async def main() -> Ended:
        sock = bound(LOOPBACK, 0)
        server = await HttpServer.start(hosted(agent), sock)
        try:
            return await _ran(url_of(sock), "--games", "3", *arguments, encoding=encoding)
        finally:
            await server.close(0.1)

    return asyncio.run(main())


async def _ran(*arguments: str, encoding: str = "utf-8") -> Ended:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        "check",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**PLAIN, "PYTHONIOENCODING": encoding},
    )
    out, err = await asyncio.wait_for(process.communicate(), 50)
    return Ended(process.returncode or 0, out.decode(encoding), err.decode(encoding))


def test_a_right_player_passes_line_by_line() -> None:
    done = check(PlainPlayer())
    assert done.code == os.EX_OK, done.err
    assert "✓ player.move.parity-choice" in done.out
    assert "\u2013 register.version" in done.out
    assert "✗" not in done.out
    assert "40/40, perfect compliance" in done.out
    assert "\x1b" not in done.out
    assert "bad input" in done.err


def test_a_broken_rule_is_shown_with_the_request_the_answer_the_text_and_the_fix() -> None:
    done = check(CROOKED["player.move.parity-choice"](), "--quiet")
    assert done.code == 1
    shown = done.out.partition("✗ player.move.parity-choice")[2].splitlines()[1:6]
    assert [line.split()[0] for line in shown] == ["wrong", "request", "answer", "text", "fix"]
    assert "'Even'" in shown[0]
    assert "CHOOSE_PARITY_CALL" in shown[1]
    assert '"parity_choice":"Even"' in shown[2]
    assert "003 6.2.2 (CHOOSE_PARITY_RESPONSE, Field Specifications)" in shown[3]
    assert "tkt_" not in done.out
    assert "10/40, major violations" in done.out
    assert done.err == ""


def test_one_json_document_and_nothing_else_goes_to_stdout() -> None:
    done = check(CROOKED["player.join-ack.in-time"](), "--json", "--role", "player")
    found = json.loads(done.out)
    assert done.code == 1
    assert found["schema_version"] == 1
    assert (found["role"], found["passed"]) == ("player", False)
    late = next(rule for rule in found["rules"] if rule["id"] == "player.join-ack.in-time")
    assert late["verdict"] == "broken"
    assert late["fix"]
    assert found["compliance"] == {"points": 0, "of": 40, "grade": "disqualified"}


def test_a_junit_file_is_written_beside(tmp_path: Path) -> None:
    file = tmp_path / "reports" / "check.xml"
    done = check(PlainPlayer(), "--junit", str(file))
    assert done.code == 0, done.err
    suite = ET.fromstring(file.read_bytes())  # noqa: S314 - we wrote it ourselves
    assert suite.attrib["failures"] == "0"
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))


def test_where_the_signs_cannot_be_shown_there_are_words() -> None:
    done = check(CROOKED["player.unicode"](), "--no-farewell", encoding="ascii")
    assert done.code == 1, done.err
    assert "ok player.move.parity-choice" in done.out
    assert "NO player.unicode" in done.out
    assert "-- player.notice.league-completed" in done.out


def test_an_address_where_nobody_is_ends_with_4_and_a_hint() -> None:
    with bound(LOOPBACK, 0) as sock:
        url = url_of(sock)
    done = asyncio.run(_ran(url))
    assert done.code == 4
    assert f"nobody answers at {url}" in done.err
    assert "hint: start the agent" in done.err


def test_an_agent_of_no_part_ends_with_5_and_a_hint() -> None:
    done = check(lambda body: Answer(200, b'{"status": "ok"}'))
    assert done.code == 5
    assert "hint: say what it is with --role" in done.err
