"""Both wires of the product behind one interface, so that the same test runs over both."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple, TypeAlias, TypeVar

import timewarp
from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer, Wire
from agent_league.http.memory import Network
from agent_league.http.server import HttpServer
from scripted import hosted

T = TypeVar("T")
Peer: TypeAlias = Callable[[bytes], Answer | Awaitable[Answer]]
Served: TypeAlias = AbstractAsyncContextManager[tuple[str, Wire]]


@asynccontextmanager
async def serve_in_memory(peer: Peer) -> AsyncIterator[tuple[str, Wire]]:
    network, url = Network(), "http://p01/mcp"
    network.host(url, hosted(peer))
    yield url, network


@asynccontextmanager
async def serve_over_http(peer: Peer) -> AsyncIterator[tuple[str, Wire]]:
    sock = socket.create_server(("127.0.0.1", 0))
    server, client = await HttpServer.start(hosted(peer), sock), HttpClient()
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/mcp", client
    finally:
        await client.close()
        await server.close()


class Wiring(NamedTuple):
    """A way to serve a peer and to call it."""

    serve: Callable[[Peer], Served]
    grace: float
    """Real seconds that a socket is given before the clock jumps."""

    def run(self, peer: Peer, main: Callable[[str, Wire], Awaitable[T]]) -> T:
        """Return what *main* returns, called with the URL of *peer* and the wire to it."""

        async def serve_and_run() -> T:
            async with self.serve(peer) as (url, wire):
                return await main(url, wire)

        return timewarp.run(serve_and_run(), grace=self.grace)


WIRINGS = {"memory": Wiring(serve_in_memory, 0.0), "http": Wiring(serve_over_http, 0.05)}
