import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

import pytest

from agent_league.http import client as client_module
from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.local_socket import connect_locally, listen_locally
from agent_league.http.server import HttpServer
from agent_league.protocol.failures import UnreachableError
from http_wire.scripted_peer import OK, Run, peer
from scripted import hosted

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such sockets")


class Calls:
    """Which connections a client made over Unix sockets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.families: list[object] = []
        monkeypatch.setattr(client_module, "connect_locally", self._connect)

    def _connect(self, host: str, port: int) -> socket.socket | None:
        sock = connect_locally(host, port)
        self.families.append(sock and sock.family)
        return sock


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(monkeypatch)


@asynccontextmanager
async def serve(sock: socket.socket) -> AsyncIterator[tuple[HttpServer, HttpClient, int]]:
    """Serve an echo on *sock*; gives the server, a client, and the port."""
    server, client = (
        await HttpServer.start(hosted(lambda body: Answer(200, body)), sock),
        HttpClient(),
    )
    try:
        yield server, client, sock.getsockname()[1]
    finally:
        await client.close()
        await server.close(0.2)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])  # noqa: S104 - closed at once
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_an_agent_of_this_machine_is_called_over_a_unix_socket(
    run: Run, calls: Calls, host: str, name: str
) -> None:
    async def main() -> None:
        async with serve(socket.create_server((host, 0))) as (_, client, port):
            answers = [await client.post(f"http://{name}:{port}/mcp", b"{}", 5.0) for _ in "ab"]
            assert [answer.status for answer in answers] == [200, 200]

    run(main())
    assert calls.families == [socket.AF_UNIX]


def test_an_agent_that_has_only_a_port_is_called_there(run: Run, calls: Calls) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as server:
            assert (await server.client.post(server.url, b"{}", 5.0)).status == 200

    run(main())
    assert calls.families == [None]


def test_a_unix_socket_of_another_user_is_not_used(
    run: Run, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with serve(socket.create_server(("127.0.0.1", 0))) as (_, client, port):
            monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
            assert (await client.post(f"http://127.0.0.1:{port}/mcp", b"{}", 5.0)).status == 200

    run(main())
    assert calls.families == [None]


def test_an_agent_whose_name_is_taken_serves_at_its_port(run: Run, calls: Calls) -> None:
    async def main() -> None:
        sock = socket.create_server(("127.0.0.1", 0))
        squatter = listen_locally(sock)
        assert squatter is not None
        with closing(squatter):
            async with serve(sock) as (_, client, port):
                assert (await client.post(f"http://127.0.0.1:{port}/mcp", b"{}", 5.0)).status == 200

    run(main())
    assert calls.families == [None]


def test_a_closed_agent_has_neither_a_port_nor_a_unix_socket(run: Run, calls: Calls) -> None:
    async def main() -> None:
        async with serve(socket.create_server(("127.0.0.1", 0))) as (_, _, port):
            pass
        client = HttpClient()
        with pytest.raises(UnreachableError, match="refused the connection"):
            await client.post(f"http://127.0.0.1:{port}/mcp", b"{}", 5.0)
        await client.close()
        with closing(socket.create_server(("127.0.0.1", port))) as sock:
            again = listen_locally(sock)
            assert again is not None
            again.close()

    run(main())
    assert calls.families == [None]


@pytest.mark.parametrize("host", ["192.0.2.1", "::1", "league.example"])
def test_another_machine_is_never_called_over_a_unix_socket(host: str) -> None:
    assert connect_locally(host, 80) is None


def test_callers_over_a_unix_socket_share_the_limit_of_their_machine(run: Run) -> None:
    async def main() -> None:
        async with serve(socket.create_server(("127.0.0.1", 0))) as (server, client, port):
            await client.post(f"http://127.0.0.1:{port}/mcp", b"{}", 5.0)
            assert [connection.address for connection in server.connections] == ["127.0.0.1"]

    run(main())
