"""A league with players that were made with the libraries of others; all start here."""

import asyncio
import shlex
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from agent_league.clock import system_clock
from agent_league.dialects.detection import detect_dialect
from agent_league.dialects.dialect import encode_message
from agent_league.dialects.mcp.client import McpClient
from agent_league.dialects.mcp.session import McpSession
from agent_league.dialects.mcp.transports import HttpTransport, StdioTransport, Transport
from agent_league.http.client import HttpClient
from agent_league.protocol import Patience, Role, read
from agent_league.protocol.play import MoveContext, ParityCall, ParityReply
from agent_league.season.roster import Entry
from agent_league.store.events import MatchEnded
from end_to_end.http_league import HttpLeague, played_with_programs
from end_to_end.test_sdk_guests import played as played_by_calling
from free_ports import free_port
from strangers.environments import CACHE, LIBRARIES, python_with

SERVERS = Path(__file__).parent / "servers"
CALM = Patience(join=20.0, move=30.0, game_over=20.0, report=10.0, generic=20.0)
STARTING = 60.0
OURS = ("markov", "random")

pytestmark = pytest.mark.timeout(300)


def command(name: str, port: int, mode: str) -> list[str]:
    """Return what starts one of the servers in its own environment."""
    return [str(python_with(LIBRARIES[name])), str(SERVERS / f"{name}.py"), str(port), mode]


@asynccontextmanager
async def running(name: str, mode: str = "as it comes") -> AsyncIterator[str]:
    """Run one of the servers, and give its address."""
    port = free_port()
    start = command(name, port, mode)
    with (CACHE / f"{name}.log").open("wb") as reply:
        process = await asyncio.create_subprocess_exec(*start, stdout=reply, stderr=reply)
        try:
            await _listening(process, port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _listening(process: asyncio.subprocess.Process, port: int) -> None:
    async with asyncio.timeout(STARTING):
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                return writer.close()
    raise AssertionError("the server has ended instead of listening")


def test_players_of_every_library_play_a_league_without_a_technical_loss() -> None:
    """Two of ours, three that are servers, and one that only calls: a client of the library."""

    async def script(league: HttpLeague) -> None:
        async with AsyncExitStack() as stack:
            urls = [await stack.enter_async_context(running(name)) for name in LIBRARIES]
            await league.add_referee()
            for strategy in OURS:
                await league.add_player(strategy)
            for url in urls:
                await league.add_endpoint(url)
            client = await stack.enter_async_context(Client(league.url))
            calling = asyncio.ensure_future(played_by_calling(client, "Caller"))
            await league.play()
            assert (await calling)["status"] == "LEAGUE_OVER"

    players = len(OURS) + len(LIBRARIES) + 1
    league = played_with_programs(script, awaited_players=players, patience=CALM)
    ended = [event for event in league.events if isinstance(event, MatchEnded)]
    assert len(ended) == players * (players - 1) // 2
    assert [event.technical_losses for event in ended] == [[]] * len(ended)
    assert {event.termination for event in ended} == {"completed"}
    spoken = [league.manager.peers.line(entry.endpoint).session.dialect for entry in roster(league)]
    assert spoken == ["league.v2"] * len(OURS) + ["mcp"] * len(LIBRARIES) + ["league.v2"]


def roster(league: HttpLeague) -> list[Entry]:
    return league.manager.season.roster.of(Role.PLAYER)


CALL = ParityCall(
    protocol="league.v2",
    sender="referee:REF01",
    timestamp="2025-01-15T10:30:00Z",
    conversation_id="conv-r1m1-001",
    match_id="R1M1",
    player_id="P07",
    game_type="even_odd",
    deadline="2025-01-15T10:30:30Z",
    context=MoveContext(opponent_id="P02", round_id=1),
)


async def chosen_by(carrier: Transport) -> object:
    """Ask for a move as a referee does, and return it."""
    speech = McpSession(McpClient(carrier), "P07", system_clock)
    reply = read(await speech.send(encode_message(CALL), STARTING))
    assert isinstance(reply, ParityReply)
    assert (reply.match_id, reply.player_id) == ("R1M1", "P07")
    return reply.move


@pytest.mark.parametrize("mode", ["as it comes", "stateless", "json", "stateless and json"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_server_is_found_out_and_asked_however_it_is_run(name: str, mode: str) -> None:
    async def main() -> object:
        wire = HttpClient()
        try:
            async with running(name, mode) as url:
                assert await detect_dialect(url, wire, STARTING) == "mcp"
                return await chosen_by(HttpTransport(url, wire.exchange))
        finally:
            await wire.close()

    assert asyncio.run(main()) in {"even", "odd"}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_server_is_asked_over_stdio(name: str) -> None:
    async def main() -> object:
        carrier = StdioTransport(shlex.join(command(name, 0, "stdio")))
        try:
            return await chosen_by(carrier)
        finally:
            await carrier.close()

    assert asyncio.run(main()) in {"even", "odd"}
