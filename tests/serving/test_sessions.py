"""The sessions of MCP clients: a flood of new ones locks nobody out, and a lost stream begins anew."""

import asyncio
import json
from typing import Any

import pytest

from agent_league.serving import sdk_server
from agent_league.serving.site import make_site
from end_to_end.http_league import HttpLeague
from serving.callers import BOTH, begun, in_league, sent

LEGACY = {"content-type": "application/json", "accept": BOTH, "mcp-protocol-version": "2025-11-25"}


def frame(method: str, number: int | None = 1, **params: Any) -> bytes:
    named = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **named}).encode()


HELLO = frame(
    "initialize",
    protocolVersion="2025-11-25",
    capabilities={},
    clientInfo={"name": "t", "version": "1"},
)


async def opened(league: HttpLeague) -> dict[str, str]:
    """Open a session, and return the headers of a request in it."""
    got = await sent(league.url, HELLO, LEGACY)
    assert got.status == 200
    return {**LEGACY, "mcp-session-id": got.headers["mcp-session-id"]}


async def is_alive(league: HttpLeague, session: dict[str, str]) -> bool:
    return (await sent(league.url, frame("ping"), session)).status == 200


def test_a_flood_of_new_sessions_takes_the_place_of_those_that_nobody_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sdk_server, "_MAX_SESSIONS", 5)

    async def script(league: HttpLeague) -> None:
        guest = await opened(league)
        await sent(league.url, frame("notifications/initialized", None), guest)
        assert await is_alive(league, guest)
        flood = [await opened(league) for _ in range(30)]
        assert await is_alive(league, guest)
        assert not await is_alive(league, flood[0])
        assert await is_alive(league, flood[-1])

    in_league(script)


def test_a_session_with_an_open_stream_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk_server, "_MAX_SESSIONS", 3)

    async def script(league: HttpLeague) -> None:
        session = await opened(league)
        reader, writer = await begun(league.url, b"", session, "GET")
        assert b" 200 " in await reader.readline()
        for _ in range(10):
            await opened(league)
        assert await is_alive(league, session)
        writer.close()

    in_league(script)


def test_a_session_that_its_client_ends_counts_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk_server, "_MAX_SESSIONS", 2)

    async def script(league: HttpLeague) -> None:
        first, second = await opened(league), await opened(league)
        assert (await sent(league.url, b"", second, "DELETE")).status == 200
        await opened(league)
        assert await is_alive(league, first)

    in_league(script)


def test_a_stream_that_is_taken_up_again_begins_anew() -> None:
    async def script(league: HttpLeague) -> None:
        session = await opened(league)
        reader, writer = await begun(league.url, b"", {**session, "last-event-id": "7"}, "GET")
        assert b" 200 " in await reader.readline()
        writer.close()

    in_league(script)


def test_the_sdk_is_loaded_once_before_a_client_comes_if_clients_are_expected() -> None:
    async def main() -> None:
        async with HttpLeague() as league:
            streams = make_site(league.manager).streams
            assert streams is not None
            loading: Any = streams.warm_up()
            assert streams.warm_up() is loading
            assert await loading
            await streams.close(0.0)

    asyncio.run(main())


BODILESS = [
    ("accept: text/event-stream",),
    ("accept: text/event-stream", "content-type: application/json"),
    ("accept: text/event-stream", "content-length: 0"),
    (f"accept: {BOTH}", "content-type: application/json"),
    (f"accept: {BOTH}", "content-type: application/json", "mcp-protocol-version: 2026-07-28"),
    ("accept: text/event-stream", "connection: upgrade", "upgrade: h2c"),
]


@pytest.mark.parametrize("headers", BODILESS, ids=str)
def test_a_post_without_a_body_is_answered(headers: tuple[str, ...]) -> None:
    async def script(league: HttpLeague) -> None:
        port = int(league.url.rpartition(":")[2].partition("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = ["POST /mcp HTTP/1.1", "host: localhost", *headers, "", ""]
        writer.write("\r\n".join(head).encode())
        status = int((await reader.readline()).split()[1])
        assert 400 <= status < 500
        writer.close()

    in_league(script)
