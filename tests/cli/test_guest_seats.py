"""`league play --guests`: seats for clients that only call, over real HTTP."""

import asyncio
import json
import re
import shlex
from pathlib import Path

import pytest

from agent_league.cli.launch import JOIN_PROMPT, list_join_steps
from agent_league.http.client import HttpClient
from cli.league_command import league, line_with, running
from guests.guest_box import Caller

README = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^    (league play .*--guests.*)$", README, re.MULTILINE)


def take_seats(url: str, guests: int) -> list[str]:
    """Play with so many guests until the league is over; return what each was told last."""

    async def main() -> list[str]:
        wire = HttpClient()

        async def post(body: bytes) -> bytes:
            return (await wire.post(url, body, 60.0)).body

        callers = [Caller(post, f"Claude {number}") for number in range(guests)]
        for one in callers:
            await one.join()
        ended = await asyncio.gather(*(one.play() for one in callers))
        await wire.close()
        return [over["status"] for over in ended]

    return asyncio.run(main())


def end_at_once(folder: Path) -> None:
    """Let the league of *folder* not wait at its end until its guests have read the table."""
    assert league("init", cwd=folder).returncode == 0
    (file,) = (folder / "SHARED" / "config" / "leagues").glob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"guests": {"linger_sec": 0}}))


@pytest.mark.parametrize("line", [*SHOWN, "league play --players 0 --guests 2 --json"])
def test_guests_take_the_seats_that_were_left_open(line: str, tmp_path: Path) -> None:
    guests = int(line.partition("--guests ")[2].split()[0])
    end_at_once(tmp_path)
    with running(*shlex.split(line)[1:], "--port-base", "0", cwd=tmp_path) as process:
        url = line_with(process, "claude mcp add").split()[-1]
        assert JOIN_PROMPT in line_with(process, "then say")
        assert take_seats(url, guests) == ["LEAGUE_OVER"] * guests
        reply, complained = process.communicate()
    assert process.returncode == 0, complained
    assert "Champion" in reply or '"champion"' in reply
    assert "0 technical losses" in reply or '"technical_losses": 0' in reply


def test_a_league_of_one_is_refused_with_what_to_type() -> None:
    done = league("play", "--players", "1")
    assert done.returncode == 2
    assert "hint: league play --players 1 --guests 1" in done.stderr


def test_the_readme_shows_the_command_and_the_sentence_that_the_league_prints() -> None:
    for line in list_join_steps("http://127.0.0.1:8000/mcp"):
        assert line.removeprefix('then say: "').removesuffix('"') in README


def test_a_bridge_to_nowhere_says_so() -> None:
    done = league("mcp-bridge", "http://127.0.0.1:9/mcp")
    assert done.returncode == 4
    assert "no league answers at http://127.0.0.1:9/mcp" in done.stderr
