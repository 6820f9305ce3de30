"""On a machine that is busy with other work, nobody loses a match by our slowness."""

import asyncio
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from agent_league.http.client import HttpClient
from agent_league.protocol import Patience
from agent_league.running.event_loop import run
from agent_league.store.events import AgentSuspended, MatchEnded
from end_to_end.http_league import HttpLeague
from misbehaving import Body, Rascal, send

LOAD = int(os.environ.get("CHAOS_LOAD", "20"))
PLAYERS = 6
WINDOW = 5.0
PATIENCE = Patience(join=WINDOW, move=WINDOW, game_over=WINDOW, report=10.0, generic=10.0)


@contextmanager
def busy_machine(processes: int) -> Iterator[None]:
    """Keep so many processes busy while a context lasts."""
    program = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(program) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


async def nearly_late(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Give the right answer after 90 % of the time."""
    await asyncio.sleep(0.9 * WINDOW)
    send(writer, rascal.honest(request))


def be_players(league_url: str) -> None:
    """Be players that need 90 % of their time, one half to join and the other half to move."""
    asyncio.run(_be_players(league_url))


async def _be_players(league_url: str) -> None:
    wire = HttpClient()
    for number in range(PLAYERS):
        slow = Rascal(nearly_late, ("GAME_INVITATION", "CHOOSE_PARITY_CALL")[number % 2])
        endpoint = await slow.server.open()
        frame = {"jsonrpc": "2.0", "method": "register_player", "id": 1}
        body = msgspec.json.encode({**frame, "params": slow.application(endpoint)})
        answer = await wire.post(league_url, body, 60.0)
        slow.player_id = msgspec.json.decode(answer.body)["result"]["player_id"]
    await asyncio.Event().wait()


async def play() -> HttpLeague:
    context = multiprocessing.get_context("spawn")
    async with HttpLeague(awaited_players=PLAYERS, patience=PATIENCE) as league:
        await league.add_referee()
        players = context.Process(target=be_players, args=(league.url,), daemon=True)
        players.start()
        try:
            await league.play()
        finally:
            players.kill()
            players.join()
        return league


@pytest.mark.timeout(300)
def test_players_that_use_nearly_all_their_time_lose_nothing_on_a_busy_machine() -> None:
    with busy_machine(LOAD):
        league = run(play())
    ended = [event for event in league.events if isinstance(event, MatchEnded)]
    assert len(ended) == PLAYERS * (PLAYERS - 1) // 2
    assert {event.match_id: event.termination for event in ended if event.forfeits} == {}
    assert [event for event in league.events if isinstance(event, AgentSuspended)] == []
