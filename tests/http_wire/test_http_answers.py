import asyncio
import itertools
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.http.connection import Connection, RawRequest
from agent_league.http.exchange import Answer
from agent_league.http.known_heads import KnownHeads
from agent_league.protocol.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)
from http_wire.scripted_peer import CHUNKED, ENDLESS, OK, Peer, Run, answered, peer


class Wire(asyncio.Transport):
    """A transport that goes nowhere."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Nobody listens."""

    def abort(self) -> None:
        """Nothing to close."""

    def is_closing(self) -> bool:
        return False


async def parsed(chunks: list[bytes]) -> Answer | str:
    connection = Connection(
        "peer",
        1000,
        set(),
        KnownHeads(),
        idle=deque(),
        repeat=lambda request, deadline, waiter: None,
    )
    connection.connection_made(Wire())
    deadline = asyncio.get_running_loop().time() + 5.0
    waiter = connection.ask(RawRequest(b"", 5.0), deadline)
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


def test_a_drip_fed_answer_is_late(run: Run) -> None:
    def drip(peer: Peer) -> None:
        peer.say(OK[:1])

        def more(at: int = 1) -> None:
            if not peer.transport.is_closing():
                peer.say(OK[at : at + 1])
                asyncio.get_running_loop().call_later(0.02, more, at + 1)

        more()

    async def main() -> None:
        async with peer(drip) as server:
            with pytest.raises(LateError, match=r"within 0\.2 s"):
                await server.post(within=0.2)
            await server.connections[0].lost

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
        async with peer(script) as server:
            with pytest.raises(UnreachableError, match="in the middle of its answer"):
                await server.post()

    run(main())


def test_a_page_of_html_is_an_answer_that_the_caller_judges(run: Run) -> None:
    page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>"
    assert answered(run, page) == Answer(200, b"<html>")


@pytest.mark.parametrize(
    "reply", [b"SSH-2.0-OpenSSH_9.6\r\n", b"\x00" * 20, b"HTTP/1.1 999999 x\r\n"]
)
def test_what_is_not_http_is_nonsense(run: Run, reply: bytes) -> None:
    with pytest.raises(NonsenseError, match="did not answer in HTTP"):
        answered(run, reply)


def test_a_switch_of_protocols_is_nonsense(run: Run) -> None:
    reply = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
    with pytest.raises(NonsenseError):
        answered(run, reply)


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n65\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\nx: " + b"x" * 70_000,
    ],
)
def test_an_oversize_answer_is_nonsense_at_once(run: Run, reply: bytes) -> None:
    with pytest.raises(NonsenseError, match="more than 100 bytes"):
        answered(run, reply, max_answer=100)


def test_an_answer_of_the_greatest_size_is_taken(run: Run) -> None:
    reply = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n" + b"x" * 100
    assert answered(run, reply, max_answer=100) == Answer(200, b"x" * 100)


def test_a_chunked_answer_is_put_together(run: Run) -> None:
    assert answered(run, CHUNKED) == Answer(200, b"abcde")


def test_an_answer_without_a_length_ends_with_the_connection(run: Run) -> None:
    assert answered(run, ENDLESS, close=True) == Answer(200, b"to the end")


@pytest.mark.parametrize("status", [202, 204, 400, 401, 404, 413, 422])
def test_other_statuses_are_answers(run: Run, status: int) -> None:
    reply = b"HTTP/1.1 %d x\r\n" % status + (b"" if status == 204 else b"content-length: 0\r\n")
    assert answered(run, reply + b"\r\n") == Answer(status, b"")


@pytest.mark.parametrize("status", [301, 304, 307, 429, 500, 503])
def test_redirects_and_servers_that_are_down_are_unreachable(run: Run, status: int) -> None:
    length = b"" if status == 304 else b"content-length: 0\r\n"
    reply = b"HTTP/1.1 %d x\r\nlocation: http://127.0.0.1:1/\r\n%b\r\n" % (status, length)
    with pytest.raises(UnreachableError, match=rf"127\.0\.0\.1:\d+ answered HTTP {status}"):
        answered(run, reply)


def test_an_announcement_is_not_the_answer(run: Run) -> None:
    assert answered(run, b"HTTP/1.1 100 Continue\r\n\r\n", OK) == Answer(200, b"{}")


def test_many_calls_at_once_each_get_their_own_answer(run: Run) -> None:
    def echo(peer: Peer) -> None:
        body = peer.server.requests[-1].partition(b"\r\n\r\n")[2]
        peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))

    async def main() -> None:
        async with peer(echo) as server:
            for _ in range(2):
                bodies = [b"%d" % number for number in range(100)]
                answers = await asyncio.gather(*map(server.post, bodies))
                assert [answer.body for answer in answers] == bodies
            assert len(server.connections) == 100

    run(main())


@pytest.mark.parametrize("status", [b"200 OK", b"405 No", b"503 Down", b"302 Away"])
def test_any_http_answer_counts_as_reached_even_one_without_end(run: Run, status: bytes) -> None:
    async def main() -> None:
        async with peer(lambda p: p.say(b"HTTP/1.1 %b\r\n\r\ndata: 1" % status)) as server:
            assert await server.client.reaches(server.url, 5.0)

    run(main())


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


@given(st.lists(st.binary(max_size=40), max_size=5), st.sampled_from([b"", OK[:30], CHUNKED[:60]]))
def test_no_bytes_at_all_break_the_client(noise: list[bytes], before: bytes) -> None:
    asyncio.run(parsed([before, *noise]))
