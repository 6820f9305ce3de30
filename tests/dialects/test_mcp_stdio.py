"""MCP servers that are commands."""

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from agent_league.dialects.mcp.client import McpClient
from agent_league.dialects.mcp.tools import Tool
from agent_league.dialects.mcp.transports import StdioTransport
from agent_league.protocol.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)

SERVER = Path(__file__).parent / "stdio_server.py"


def command(mood: str = "fine") -> str:
    return shlex.join([sys.executable, str(SERVER), "--mood", mood])


@asynccontextmanager
async def client_of(line: str) -> AsyncIterator[McpClient]:
    carrier = StdioTransport(line)
    try:
        yield McpClient(carrier)
    finally:
        await carrier.close()


async def said_by(client: McpClient, within: float = 300.0) -> object:
    return (await client.call_tool(Tool("choose_parity"), {"match_id": "R1M1"}, within)).answer


@pytest.mark.parametrize("mood", ["fine", "chatty"])
def test_a_command_is_started_and_its_tools_called(mood: str) -> None:
    async def main() -> object:
        async with client_of(command(mood)) as client:
            assert list((await client.list_tools(300.0)).tools) == ["choose_parity"]
            assert client.version == "2025-06-18"
            return await said_by(client)

    assert asyncio.run(main()) == "odd"


def test_many_calls_at_once_each_get_their_own_answer() -> None:
    async def main() -> list[object]:
        async with client_of(command()) as client:
            return await asyncio.gather(*(said_by(client) for _ in range(50)))

    assert asyncio.run(main()) == ["odd"] * 50


def test_a_server_that_has_ended_is_started_again() -> None:
    async def main() -> set[int]:
        carrier, pids = StdioTransport(command("dies")), set()
        client = McpClient(carrier)
        for _ in range(3):
            called = await client.call_tool(Tool("choose_parity"), {}, 300.0)
            pids.add(called.answer[0])
            assert carrier._reader_task is not None
            await carrier._reader_task
        await carrier.close()
        return pids

    assert len(asyncio.run(main())) == 3


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (command("mute"), LateError),
        (command("floods"), NonsenseError),
        ("there-is-no-such-command --at-all", UnreachableError),
        (f"{sys.executable} -c pass", UnreachableError),
        ('an "open quote', UnreachableError),
    ],
)
def test_a_command_that_does_not_answer_has_a_named_failure(
    line: str, error: type[NoAnswerError]
) -> None:
    async def main() -> None:
        async with client_of(line) as client:
            if error is LateError:
                await client.connect(300.0)
            with pytest.raises(error):
                await said_by(client, 0.2 if error is LateError else 300.0)

    asyncio.run(main())


def test_nothing_is_left_running_even_of_one_that_does_not_want_to_end() -> None:
    async def main() -> int:
        carrier = StdioTransport(command("stubborn"))
        await McpClient(carrier).connect(300.0)
        assert carrier._process is not None
        pid = carrier._process.pid
        await carrier.close()
        return pid

    assert not psutil.pid_exists(asyncio.run(main()))
