"""Models that see only the tools play a whole league, in hardly more calls than moves.

The model is a function; what carries its calls is real: the official library in each era, and an
agent framework in an environment of its own.
"""

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from agent_league.season.settings import GuestRules
from end_to_end.http_league import HttpLeague, played_with_programs
from strangers.environments import python_with
from strangers.models.fake_model import choose_call, summarize

MODELS = Path(__file__).parent / "models"
FRAMEWORK = "pydantic-ai-slim[mcp]==2.66.0"
MOST_CALLS_PER_MOVE = 1.3
OURS = 5
GAMES = ["even_odd", "tic_tac_toe"]

pytestmark = pytest.mark.timeout(300)
Play = Callable[[str], Awaitable[dict[str, int]]]


def with_library(era: Any) -> Play:
    async def play(url: str) -> dict[str, int]:
        answers: list[dict[str, Any]] = []
        called: list[str] = []
        async with Client(url, mode=era) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            while (chosen := choose_call(answers)) is not None:
                name, arguments = chosen
                assert name in listed
                result: Any = await client.call_tool(name, arguments)
                assert not result.is_error, result.content
                called.append(name)
                answers.append(json.loads(result.content[0].text))
        return summarize(called)

    return play


async def with_framework(url: str) -> dict[str, int]:
    python, program = str(python_with(FRAMEWORK)), str(MODELS / "pydantic_ai_model.py")
    process = await asyncio.create_subprocess_exec(python, program, url, stdout=PIPE)
    try:
        reply, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    summary: dict[str, int] = json.loads(reply)
    return summary


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    "play",
    [with_library("2026-07-28"), with_library("legacy"), with_framework],
    ids=["library, newer era", "library, older era", "framework"],
)
def test_a_model_that_sees_only_the_tools_plays_a_whole_league(play: Play, game: str) -> None:
    python_with(FRAMEWORK)  # fetched before the league waits for anybody
    summaries: list[dict[str, int]] = []

    async def script(league: HttpLeague) -> None:
        await league.add_referee(game_types=[game])
        for _ in range(OURS):
            await league.add_player(games=[game])
        playing = asyncio.ensure_future(play(league.url))
        await league.play()
        summaries.append(await playing)

    league = played_with_programs(
        script,
        awaited_players=OURS + 1,
        game_type=game,
        legs=2,
        guests=GuestRules(linger=2.0),
    )
    (summary,) = summaries
    assert summary["moves"] >= 2 * OURS
    assert summary["calls"] <= MOST_CALLS_PER_MOVE * summary["moves"]
    assert league.manager.season.tally["TECHNICAL_LOSS"] == 0
