"""A server that follows a script, for clients to meet."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.listening import stop_listening

Script: TypeAlias = "Callable[[Peer], object]"
Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]

OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
)
ENDLESS = b"HTTP/1.1 200 OK\r\n\r\nto the end"


class Peer(asyncio.Protocol):
    """One connection of a scripted server; every request calls the script."""

    def __init__(self, script: Script, server: "ScriptedServer") -> None:
        self.script, self.server = script, server
        self.lost = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but name
        self.server.connections.append(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(None)

    def data_received(self, data: bytes) -> None:
        self.server.requests.append(data)
        self.script(self)

    def say(self, *chunks: bytes) -> None:
        for chunk in chunks:
            self.transport.write(chunk)

    def reset(self) -> None:
        sock = self.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


@dataclass
class ScriptedServer:
    """A server at a free port, a client to call it with, and what happened at it."""

    client: HttpClient
    url: str = ""
    connections: list[Peer] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)

    def post(self, body: bytes = b"{}", within: float = 5.0) -> Awaitable[Answer]:
        return self.client.post(self.url, body, within)


@asynccontextmanager
async def peer(
    script: Script, host: str = "127.0.0.1", **options: Any
) -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer(HttpClient(**options))
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Peer(script, server), host, 0)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"
    try:
        yield server
    finally:
        await server.client.close()
        await stop_listening([listening])
        for connection in server.connections:
            connection.transport.abort()
            await connection.lost
        await listening.wait_closed()


def answered(run: Run, *chunks: bytes, close: bool = False, **options: Any) -> Answer:
    """Return what the client makes of *chunks*."""

    def script(peer: Peer) -> None:
        peer.say(*chunks)
        if close:
            peer.transport.close()

    async def main() -> Answer:
        async with peer(script, **options) as server:
            return await server.post()

    answer = run(main())
    assert isinstance(answer, Answer)
    return answer
