"""`league check` as a person runs it, against agents on real ports."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.running.serve import LOOPBACK, bind, url_of
from check.crooked_player import CROOKED, PlainPlayer
from cli.league_command import running
from scripted import hosted


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def check(
    agent: Callable[[bytes], Answer | Awaitable[Answer]],
    *arguments: str,
    games: int = 3,
    encoding: str = "utf-8",
) -> Ended:
    """Serve *agent*, and run the command on it to its end."""

    async def main() -> Ended:
        sock = bind(LOOPBACK, 0)
        server = await HttpServer.start(hosted(agent), sock)
        try:
            return await _ran(url_of(sock), f"--games={games}", *arguments, encoding=encoding)
        finally:
            await server.close(0.1)

    return asyncio.run(main())


async def _ran(*arguments: str, encoding: str = "utf-8") -> Ended:
    with running("check", *arguments, encoding=encoding) as program:
        out, err = await asyncio.to_thread(program.communicate)
        return Ended(program.returncode or 0, out, err)


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
    done = check(CROOKED["player.move.parity-choice"](), "--json", "--role", "player")
    found = json.loads(done.out)
    assert done.code == 1
    assert found["schema_version"] == 1
    assert (found["role"], found["passed"]) == ("player", False)
    wrong = next(rule for rule in found["rules"] if rule["id"] == "player.move.parity-choice")
    assert wrong["verdict"] == "broken"
    assert wrong["fix"]
    assert found["compliance"] == {"points": 10, "of": 40, "grade": "major violations"}


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
    with bind(LOOPBACK, 0) as sock:
        url = url_of(sock)
    done = asyncio.run(_ran(url))
    assert done.code == 4
    assert f"nobody answers at {url}" in done.err
    assert "hint: start the agent" in done.err


def test_an_address_with_nothing_behind_it_is_no_manager() -> None:
    async def main() -> Ended:
        sock = bind(LOOPBACK, 0)
        server = await HttpServer.start(hosted(PlainPlayer()), sock)
        try:
            return await _ran(f"{url_of(sock).removesuffix('/mcp')}/wrong")
        finally:
            await server.close(0.1)

    done = asyncio.run(main())
    assert done.code == 4, done.out
    assert "/wrong (HTTP 404)" in done.err
    assert "hint: start the agent first, or give the address that it listens at" in done.err


def test_a_demand_for_fifty_games_is_not_judged_by_one() -> None:
    done = check(PlainPlayer(), games=1)
    assert done.code == 0, done.err
    (line,) = [line for line in done.out.splitlines() if "consecutive-games" in line]
    assert line.startswith("\u2013")
    assert line.endswith("(no fault, but only 1 was asked for: --games)")


def test_a_check_that_runs_out_of_time_gives_no_points() -> None:
    done = check(PlainPlayer(), "--timeout", "0.05", games=5000)
    assert done.code == 1, done.out
    assert "/40" not in done.out
    assert "not judged: the check ran out of time, give it more with --timeout" in done.out
    document = json.loads(check(PlainPlayer(), "--timeout", "0.05", "--json", games=5000).out)
    assert (document["passed"], document["compliance"]["points"]) == (False, None)


def test_an_agent_of_no_part_ends_with_5_and_a_hint() -> None:
    done = check(lambda body: Answer(200, b'{"status": "ok"}'))
    assert done.code == 5
    assert "hint: say what it is with --role" in done.err
