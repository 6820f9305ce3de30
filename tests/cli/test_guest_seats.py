"""`league play --guests`: seats for clients that only call, in real processes over real HTTP."""

import asyncio
import re
import shlex
from pathlib import Path

import pytest

from agent_league.cli.invitation import SENTENCE, how_to_join
from agent_league.transport.http_client import HttpClient
from cli.league_command import league, line_with, running
from guests.lounge import Caller

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


@pytest.mark.parametrize("line", [*SHOWN, "league play --players 0 --guests 2 --json"])
def test_guests_take_the_seats_that_were_left_open(line: str) -> None:
    guests = int(line.partition("--guests ")[2].split()[0])
    with running(*shlex.split(line)[1:], "--port-base", "0") as process:
        url = line_with(process, "claude mcp add").split()[-1]
        assert SENTENCE in line_with(process, "then say")
        assert take_seats(url, guests) == ["LEAGUE_OVER"] * guests
        said, complained = process.communicate(timeout=30)
    assert process.returncode == 0, complained
    assert "Champion" in said or '"champion"' in said
    assert "0 technical losses" in said or '"technical_losses": 0' in said


def test_a_league_of_one_is_refused_with_what_to_type() -> None:
    done = league("play", "--players", "1")
    assert done.returncode == 2
    assert "hint: league play --players 1 --guests 1" in done.stderr


def test_the_readme_shows_the_command_and_the_sentence_that_the_league_prints() -> None:
    for line in how_to_join("http://127.0.0.1:8000/mcp"):
        assert line.removeprefix('then say: "').removesuffix('"') in README


def test_a_bridge_to_nowhere_says_so() -> None:
    done = league("mcp-bridge", "http://127.0.0.1:9/mcp")
    assert done.returncode == 4
    assert "nobody answers at http://127.0.0.1:9/mcp" in done.stderr
