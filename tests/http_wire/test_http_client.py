import asyncio
import socket
from contextlib import closing

import pytest
import uvloop

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.protocol.failures import LateError, UnreachableError
from free_ports import free_port
from http_wire.scripted_peer import OK, Peer, Run, peer


def test_a_call_is_an_ordinary_http_request(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as server:
            assert await server.client.post(server.url + "?a=b", b'{"x":1}', 5.0) == Answer(
                200, b"{}"
            )
            head, _, body = server.requests[0].partition(b"\r\n\r\n")
            lines = head.split(b"\r\n")
            assert lines[0] == b"POST /mcp?a=b HTTP/1.1"
            assert f"host: {server.url[7:-4]}".encode() in lines
            assert b"content-type: application/json" in lines
            assert b"accept: application/json" in lines
            assert b"user-agent: agent-league" in lines
            assert b"content-length: 7" in lines
            assert body == b'{"x":1}'

    run(main())


def test_a_get_has_no_body(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as server:
            assert await server.client.get(server.url, 5.0) == Answer(200, b"{}")
            assert server.requests[0].startswith(b"GET /mcp HTTP/1.1\r\n")
            assert server.requests[0].endswith(b"\r\n\r\n")

    run(main())


def test_a_connection_is_used_again(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as server:
            for _ in range(5):
                await server.post()
            assert len(server.connections) == 1

    run(main())


def test_a_connection_that_rested_too_long_is_not_used_again(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK), keep_idle=0.01) as server:
            await server.post()
            await server.connections[0].lost  # swept while nobody calls
            await server.post()
            assert len(server.connections) == 2

    run(main())


def test_a_connection_closed_while_it_rested_is_replaced(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as server:
            await server.post()
            server.connections[0].transport.close()
            assert await server.post() == Answer(200, b"{}")
            assert len(server.connections) == 2

    run(main())


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_connection_closed_just_as_it_is_used_again_is_replaced_once(run: Run, how: str) -> None:
    def script(peer: Peer) -> None:
        if len(peer.server.requests) % 2:
            peer.say(OK)
        elif how == "close":
            peer.transport.close()
        else:
            peer.reset()

    async def main() -> None:
        async with peer(script) as server:
            assert await server.post(b"1") == Answer(200, b"{}")
            assert await server.post(b"2") == Answer(200, b"{}")
            assert len(server.connections) == 2
            assert [r[-1:] for r in server.requests] == [b"1", b"2", b"2"]

    run(main())


def test_a_new_connection_that_closes_is_not_tried_again(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.transport.close()) as server:
            with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:\d+ closed .* without an"):
                await server.post()
            assert len(server.requests) == 1

    run(main())


def test_a_silent_peer_is_late_and_its_connection_is_not_kept(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: None) as server:
            with pytest.raises(LateError):
                await server.post(within=0.1)
            await server.connections[0].lost

    run(main())


def test_a_peer_that_takes_no_connection_is_late(run: Run) -> None:
    async def main() -> None:
        client = HttpClient()
        with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as full:
            port = full.getsockname()[1]
            crowd = [socket.socket() for _ in range(4)]
            for sock in crowd:  # fill the queue of connections nobody accepts
                sock.setblocking(False)
                sock.connect_ex(("127.0.0.1", port))
            with pytest.raises(LateError, match=r"within 0\.2 s"):
                await client.post(f"http://127.0.0.1:{port}/", b"", 0.2)
            for sock in crowd:
                sock.close()
        await client.close()

    run(main())


def test_a_refused_connection_names_the_peer(run: Run) -> None:
    async def main() -> None:
        client, port = HttpClient(), free_port()
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(UnreachableError, match=f"{host}:{port} refused the connection"):
                await client.post(f"http://{host}:{port}/mcp", b"", 5.0)
        await client.close()

    run(main())


def test_localhost_needs_no_resolver(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as server:
            url = server.url.replace("127.0.0.1", "localhost")
            loop = asyncio.get_running_loop()
            if not isinstance(loop, uvloop.Loop):
                monkeypatch.setattr(loop, "getaddrinfo", None)
            assert await server.client.post(url, b"", 5.0) == Answer(200, b"{}")

    run(main())


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
@pytest.mark.parametrize("name", ["[::1]", "localhost"])
def test_an_ipv6_address_works(run: Run, name: str) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK), host="::1") as server:
            url = server.url.replace("[::1]", name)
            assert await server.client.post(url, b"", 5.0) == Answer(200, b"{}")

    run(main())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mcp",
        "ftp://127.0.0.1/",
        "http://",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/\r\nx: y",
        "http://127.0.0.1\r\n/",
        "http://127.0.0.1/\t",
        "http://me@127.0.0.1/",
        "http://127.0.0.1/#part",
        "http://[::1/",
        "http://127.0.0.1/\u05d0",
    ],
)
def test_what_is_not_an_address_is_unreachable(url: str) -> None:
    async def main() -> None:
        client = HttpClient()
        with pytest.raises(UnreachableError, match="is not an address"):
            await client.post(url, b"", 1.0)
        assert not await client.reaches(url, 1.0)
        await client.close()

    asyncio.run(main())


def test_a_host_without_an_address_is_unreachable(run: Run) -> None:
    async def main() -> None:
        client = HttpClient()
        with pytest.raises(UnreachableError, match="has no address"):
            await client.post(f"http://{'a' * 64}.invalid/", b"", 5.0)
        await client.close()

    run(main())


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        OK + OK,
        OK + b"more",
    ],
)
def test_a_connection_that_cannot_be_trusted_is_not_used_again(run: Run, reply: bytes) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(reply)) as server:
            assert await server.post() == Answer(200, b"{}")
            assert await server.post() == Answer(200, b"{}")
            assert len(server.connections) == 2

    run(main())


def test_what_nobody_asked_for_ends_the_connection(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as server:
            await server.post()
            server.connections[0].say(OK)
            await server.connections[0].lost
            assert await server.post() == Answer(200, b"{}")

    run(main())


@pytest.mark.parametrize("reply", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"])
def test_cancelling_the_caller_closes_the_connection(run: Run, reply: bytes) -> None:
    async def main() -> None:
        asked = asyncio.Event()

        def script(peer: Peer) -> None:
            peer.say(reply)
            asked.set()

        async with peer(script) as server:
            call = asyncio.ensure_future(server.post())
            await asked.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await server.connections[0].lost

    run(main())


def test_silence_noise_and_absence_are_not_reached(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: None) as server:
            assert not await server.client.reaches(server.url, 0.1)
        async with peer(lambda p: p.say(b"hello\r\n")) as server:
            assert not await server.client.reaches(server.url, 5.0)
            assert not await server.client.reaches(f"http://127.0.0.1:{free_port()}/", 5.0)

    run(main())


def test_closing_the_client_ends_the_calls_under_way(run: Run) -> None:
    async def main() -> None:
        asked = asyncio.Event()
        async with peer(lambda p: asked.set()) as server:
            call = asyncio.ensure_future(server.post())
            await asked.wait()
            await server.client.close()
            with pytest.raises(UnreachableError):
                await call

    run(main())


def test_a_peer_without_tls_is_unreachable_over_https(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as server:
            with pytest.raises(UnreachableError, match="cannot be reached"):
                await server.client.post(server.url.replace("http:", "https:"), b"", 5.0)

    run(main())
