import asyncio
import itertools
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_league.transport.exchange import Answer
from agent_league.transport.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)
from agent_league.transport.http_client import Connection, HttpClient, Question

Script: TypeAlias = "Callable[[Peer], object]"
Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]

OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
)
ENDLESS = b"HTTP/1.1 200 OK\r\n\r\nto the end"


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    return asyncio.run if request.param == "asyncio" else uvloop.run


class Peer(asyncio.Protocol):
    """One connection of a scripted server; every request calls the script."""

    def __init__(self, script: Script, house: "House") -> None:
        self.script, self.house = script, house
        self.lost = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.house.connections.append(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(None)

    def data_received(self, data: bytes) -> None:
        self.house.requests.append(data)
        self.script(self)

    def say(self, *chunks: bytes) -> None:
        for chunk in chunks:
            self.transport.write(chunk)

    def reset(self) -> None:
        sock = self.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


@dataclass
class House:
    client: HttpClient
    url: str = ""
    connections: list[Peer] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)

    def post(self, body: bytes = b"{}", within: float = 5.0) -> Awaitable[Answer]:
        return self.client.post(self.url, body, within)


@asynccontextmanager
async def peer(script: Script, host: str = "127.0.0.1", **options: Any) -> AsyncIterator[House]:
    house = House(HttpClient(**options))
    server = await asyncio.get_running_loop().create_server(lambda: Peer(script, house), host, 0)
    port = server.sockets[0].getsockname()[1]
    house.url = f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"
    try:
        yield house
    finally:
        await house.client.close()
        server.close()
        for connection in house.connections:
            connection.transport.abort()
            await connection.lost
        await server.wait_closed()


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as sock:
        return int(sock.getsockname()[1])


def answered(run: Run, *chunks: bytes, close: bool = False, **options: Any) -> Answer:
    """Return what the client makes of *chunks*."""

    def script(peer: Peer) -> None:
        peer.say(*chunks)
        if close:
            peer.transport.close()

    async def main() -> Answer:
        async with peer(script, **options) as house:
            return await house.post()

    answer = run(main())
    assert isinstance(answer, Answer)
    return answer


def test_a_call_is_an_ordinary_http_request(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as house:
            assert await house.client.post(house.url + "?a=b", b'{"x":1}', 5.0) == (200, b"{}")
            head, _, body = house.requests[0].partition(b"\r\n\r\n")
            lines = head.split(b"\r\n")
            assert lines[0] == b"POST /mcp?a=b HTTP/1.1"
            assert f"host: {house.url[7:-4]}".encode() in lines
            assert b"content-type: application/json" in lines
            assert b"accept: application/json" in lines
            assert b"user-agent: agent-league" in lines
            assert b"content-length: 7" in lines
            assert body == b'{"x":1}'

    run(main())


def test_a_get_has_no_body(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as house:
            assert await house.client.get(house.url, 5.0) == (200, b"{}")
            assert house.requests[0].startswith(b"GET /mcp HTTP/1.1\r\n")
            assert house.requests[0].endswith(b"\r\n\r\n")

    run(main())


def test_a_connection_is_used_again(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as house:
            for _ in range(5):
                await house.post()
            assert len(house.connections) == 1

    run(main())


def test_a_connection_that_rested_too_long_is_not_used_again(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK), keep_idle=0.01) as house:
            await house.post()
            await asyncio.wait_for(house.connections[0].lost, 5.0)  # swept while nobody calls
            await house.post()
            assert len(house.connections) == 2

    run(main())


def test_a_connection_closed_while_it_rested_is_replaced(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as house:
            await house.post()
            house.connections[0].transport.close()
            assert await house.post() == (200, b"{}")
            assert len(house.connections) == 2

    run(main())


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_connection_closed_just_as_it_is_used_again_is_replaced_once(run: Run, how: str) -> None:
    def script(peer: Peer) -> None:
        if len(peer.house.requests) % 2:
            peer.say(OK)
        elif how == "close":
            peer.transport.close()
        else:
            peer.reset()

    async def main() -> None:
        async with peer(script) as house:
            assert await house.post(b"1") == (200, b"{}")
            assert await house.post(b"2") == (200, b"{}")
            assert len(house.connections) == 2
            assert [r[-1:] for r in house.requests] == [b"1", b"2", b"2"]

    run(main())


def test_a_new_connection_that_closes_is_not_tried_again(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.transport.close()) as house:
            with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:\d+ closed .* without an"):
                await house.post()
            assert len(house.requests) == 1

    run(main())


def test_a_drip_fed_answer_is_late(run: Run) -> None:
    def drip(peer: Peer) -> None:
        peer.say(OK[:1])

        def more(at: int = 1) -> None:
            if not peer.transport.is_closing():
                peer.say(OK[at : at + 1])
                asyncio.get_running_loop().call_later(0.02, more, at + 1)

        more()

    async def main() -> None:
        async with peer(drip) as house:
            with pytest.raises(LateError, match=r"within 0\.2 s"):
                await house.post(within=0.2)
            await asyncio.wait_for(house.connections[0].lost, 5.0)

    run(main())


def test_a_silent_peer_is_late_and_its_connection_is_not_kept(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: None) as house:
            with pytest.raises(LateError):
                await house.post(within=0.1)
            await asyncio.wait_for(house.connections[0].lost, 5.0)

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
        async with peer(lambda p: p.say(OK)) as house:
            url = house.url.replace("127.0.0.1", "localhost")
            loop = asyncio.get_running_loop()
            if not isinstance(loop, uvloop.Loop):
                monkeypatch.setattr(loop, "getaddrinfo", None)
            assert await house.client.post(url, b"", 5.0) == (200, b"{}")

    run(main())


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
@pytest.mark.parametrize("name", ["[::1]", "localhost"])
def test_an_ipv6_address_works(run: Run, name: str) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK), host="::1") as house:
            assert await house.client.post(house.url.replace("[::1]", name), b"", 5.0) == (
                200,
                b"{}",
            )

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


@pytest.mark.parametrize("how", ["close", "reset"])
def test_an_answer_broken_off_is_unreachable(run: Run, how: str) -> None:
    half = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 10\r\n\r\n12345"

    def script(peer: Peer) -> None:
        peer.say(half)
        if how == "close":
            peer.transport.close()
        else:
            asyncio.get_running_loop().call_later(0.05, peer.reset)

    async def main() -> None:
        async with peer(script) as house:
            with pytest.raises(UnreachableError, match="in the middle of its answer"):
                await house.post()

    run(main())


def test_a_page_of_html_is_an_answer_that_the_caller_judges(run: Run) -> None:
    page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>"
    assert answered(run, page) == (200, b"<html>")


@pytest.mark.parametrize(
    "said", [b"SSH-2.0-OpenSSH_9.6\r\n", b"\x00" * 20, b"HTTP/1.1 999999 x\r\n"]
)
def test_what_is_not_http_is_nonsense(run: Run, said: bytes) -> None:
    with pytest.raises(NonsenseError, match="did not answer in HTTP"):
        answered(run, said)


def test_a_switch_of_protocols_is_nonsense(run: Run) -> None:
    said = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
    with pytest.raises(NonsenseError):
        answered(run, said)


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n65\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\nx: " + b"x" * 70_000,
    ],
)
def test_an_oversize_answer_is_nonsense_at_once(run: Run, said: bytes) -> None:
    with pytest.raises(NonsenseError, match="more than 100 bytes"):
        answered(run, said, max_answer=100)


def test_an_answer_of_the_greatest_size_is_taken(run: Run) -> None:
    said = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n" + b"x" * 100
    assert answered(run, said, max_answer=100) == (200, b"x" * 100)


def test_a_chunked_answer_is_put_together(run: Run) -> None:
    assert answered(run, CHUNKED) == (200, b"abcde")


def test_an_answer_without_a_length_ends_with_the_connection(run: Run) -> None:
    assert answered(run, ENDLESS, close=True) == (200, b"to the end")


@pytest.mark.parametrize("status", [202, 204, 400, 401, 404, 413, 422])
def test_other_statuses_are_answers(run: Run, status: int) -> None:
    said = b"HTTP/1.1 %d x\r\n" % status + (b"" if status == 204 else b"content-length: 0\r\n")
    assert answered(run, said + b"\r\n") == (status, b"")


@pytest.mark.parametrize("status", [301, 304, 307, 429, 500, 503])
def test_redirects_and_servers_that_are_down_are_unreachable(run: Run, status: int) -> None:
    length = b"" if status == 304 else b"content-length: 0\r\n"
    said = b"HTTP/1.1 %d x\r\nlocation: http://127.0.0.1:1/\r\n%b\r\n" % (status, length)
    with pytest.raises(UnreachableError, match=rf"127\.0\.0\.1:\d+ answered HTTP {status}"):
        answered(run, said)


def test_an_announcement_is_not_the_answer(run: Run) -> None:
    assert answered(run, b"HTTP/1.1 100 Continue\r\n\r\n", OK) == (200, b"{}")


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        OK + OK,
        OK + b"more",
    ],
)
def test_a_connection_that_cannot_be_trusted_is_not_used_again(run: Run, said: bytes) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(said)) as house:
            assert await house.post() == (200, b"{}")
            assert await house.post() == (200, b"{}")
            assert len(house.connections) == 2

    run(main())


def test_what_nobody_asked_for_ends_the_connection(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as house:
            await house.post()
            house.connections[0].say(OK)
            await asyncio.wait_for(house.connections[0].lost, 5.0)
            assert await house.post() == (200, b"{}")

    run(main())


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"])
def test_cancelling_the_caller_closes_the_connection(run: Run, said: bytes) -> None:
    async def main() -> None:
        asked = asyncio.Event()

        def script(peer: Peer) -> None:
            peer.say(said)
            asked.set()

        async with peer(script) as house:
            call = asyncio.ensure_future(house.post())
            await asked.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await asyncio.wait_for(house.connections[0].lost, 5.0)

    run(main())


def test_many_calls_at_once_each_get_their_own_answer(run: Run) -> None:
    def echo(peer: Peer) -> None:
        body = peer.house.requests[-1].partition(b"\r\n\r\n")[2]
        peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))

    async def main() -> None:
        async with peer(echo) as house:
            for _ in range(2):
                bodies = [b"%d" % number for number in range(100)]
                answers = await asyncio.gather(*map(house.post, bodies))
                assert [answer.body for answer in answers] == bodies
            assert len(house.connections) == 100

    run(main())


@pytest.mark.parametrize("status", [b"200 OK", b"405 No", b"503 Down", b"302 Away"])
def test_any_http_answer_counts_as_reached_even_one_without_end(run: Run, status: bytes) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(b"HTTP/1.1 %b\r\n\r\ndata: 1" % status)) as house:
            assert await house.client.reaches(house.url, 5.0)

    run(main())


def test_silence_noise_and_absence_are_not_reached(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: None) as house:
            assert not await house.client.reaches(house.url, 0.1)
        async with peer(lambda p: p.say(b"hello\r\n")) as house:
            assert not await house.client.reaches(house.url, 5.0)
            assert not await house.client.reaches(f"http://127.0.0.1:{free_port()}/", 5.0)

    run(main())


def test_closing_the_client_ends_the_calls_under_way(run: Run) -> None:
    async def main() -> None:
        asked = asyncio.Event()
        async with peer(lambda p: asked.set()) as house:
            call = asyncio.ensure_future(house.post())
            await asked.wait()
            await house.client.close()
            with pytest.raises(UnreachableError):
                await call

    run(main())


def test_a_peer_without_tls_is_unreachable_over_https(run: Run) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(OK)) as house:
            with pytest.raises(UnreachableError, match="cannot be reached"):
                await house.client.post(house.url.replace("http:", "https:"), b"", 5.0)

    run(main())


class Wire(asyncio.Transport):
    """A transport that goes nowhere."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Nobody listens."""

    def abort(self) -> None:
        """Nothing to close."""

    def is_closing(self) -> bool:
        return False


async def parsed(chunks: list[bytes]) -> Answer | str:
    connection = Connection("peer", 1000, set())
    connection.connection_made(Wire())
    deadline = asyncio.get_running_loop().time() + 5.0
    waiter = connection.ask(Question(b"", 5.0, deadline, only_status=False))
    for chunk in chunks:
        connection.data_received(chunk)
    connection.eof_received()
    connection.connection_lost(None)
    try:
        return await waiter
    except NoAnswerError as error:
        return type(error).__name__


def cut(whole: bytes, at: set[int]) -> list[bytes]:
    edges = [0, *sorted(at), len(whole)]
    return [whole[a:b] for a, b in itertools.pairwise(edges) if a < b]


@settings(deadline=None)
@given(
    whole=st.sampled_from(
        [OK, CHUNKED, ENDLESS, b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"HTTP/1.1 204 x\r\n\r\n"]
    ),
    at=st.sets(st.integers(1, 80)),
)
def test_an_answer_reads_the_same_however_it_is_cut(whole: bytes, at: set[int]) -> None:
    pieces = cut(whole, {place for place in at if place < len(whole)})
    answer = asyncio.run(parsed(pieces))
    assert isinstance(answer, Answer)
    assert answer == asyncio.run(parsed([whole]))


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=5), st.sampled_from([b"", OK[:30], CHUNKED[:60]]))
def test_no_bytes_at_all_break_the_client(noise: list[bytes], before: bytes) -> None:
    asyncio.run(parsed([before, *noise]))
