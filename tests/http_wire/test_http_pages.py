"""Pages that are not JSON, answers that are sent piece by piece, and callers that are slow to read."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_league.http.exchange import Answer, StreamedAnswer
from agent_league.http.known_heads import KnownHeads
from agent_league.http.request_reader import RequestReader
from agent_league.http.routing import RefusalError
from agent_league.http.site import Site
from http_wire.raw_caller import Run, echo, get, place, post, slowly


def test_a_page_has_its_own_content_type_and_headers(run: Run) -> None:
    policy = (("content-security-policy", "default-src 'self'"),)
    page = Answer(200, b"<html>", "text/html; charset=utf-8", policy)

    async def main() -> None:
        async with place(pages={"/page": page}) as here:
            caller = await here.caller()
            for _ in range(2):
                caller.send(get("/page"))
                reply = await caller.reply()
                assert reply.body == b"<html>"
                assert reply.headers == {
                    "content-type": "text/html; charset=utf-8",
                    "content-security-policy": "default-src 'self'",
                    "content-length": "6",
                }

    run(main())


def test_a_head_request_gets_no_body(run: Run) -> None:
    async def main() -> None:
        async with place() as here:
            caller = await here.caller()
            caller.send(get("/", method="HEAD") + post(b"next"))
            head = await caller.reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 405 ")
            assert (await caller.reply()).body == b"next"

    run(main())


class Ticker:
    """A stream of events that ends when it is told to, or with its caller."""

    def __init__(self) -> None:
        self.go, self.ended = asyncio.Event(), asyncio.Event()

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            yield b"data: 1\n\n"
            await self.go.wait()
            yield b"data: 2\n\n"
        finally:
            self.ended.set()

    def answer(self) -> StreamedAnswer:
        return StreamedAnswer(self.chunks(), "text/event-stream", (("cache-control", "no-store"),))


HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"cache-control: no-store\r\ntransfer-encoding: chunked\r\n\r\n"
)
FIRST, SECOND = b"9\r\ndata: 1\n\n\r\n", b"9\r\ndata: 2\n\n\r\n"


def test_a_streamed_answer_is_sent_while_it_is_made(run: Run) -> None:
    async def main() -> None:
        ticker = Ticker()
        async with place(pages={"/events": ticker.answer()}) as here:
            caller = await here.caller()
            caller.send(get("/events") + post(b"next"))
            assert await caller.reader.readexactly(len(HEAD + FIRST)) == HEAD + FIRST
            ticker.go.set()
            rest = SECOND + b"0\r\n\r\n"
            assert await caller.reader.readexactly(len(rest)) == rest
            assert (await caller.reply()).body == b"next"

    run(main())


@pytest.mark.parametrize("who", ["caller", "server"])
def test_a_streamed_answer_ends_with_its_caller_and_with_its_server(run: Run, who: str) -> None:
    async def main() -> None:
        ticker = Ticker()
        async with place(pages={"/events": ticker.answer()}) as here:
            caller = await here.caller()
            caller.send(get("/events"))
            await caller.reader.readexactly(len(HEAD + FIRST))
            if who == "caller":
                caller.writer.close()
            else:
                await here.server.close(5.0)
            await asyncio.wait_for(ticker.ended.wait(), 5.0)

    run(main())


def test_a_caller_that_does_not_read_is_not_answered_without_end(run: Run) -> None:
    large = Answer(200, bytes(1 << 20))

    async def main() -> None:
        async with place(lambda body: large, patience=0.2) as here:
            caller = await here.caller()
            caller.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a full transport
            caller.send(100 * post(b"x"))
            (connection,) = here.server.connections
            await asyncio.wait_for(connection._outlet.lost.wait(), 10.0)
            assert len(here.asked) < 100

    run(main())


def test_whoever_expects_a_continue_behind_another_call_gets_it_in_its_turn(run: Run) -> None:
    async def main() -> None:
        async with place(slowly) as here:
            caller = await here.caller()
            second = post(b"second", "expect: 100-continue")
            caller.send(post(b"first") + second[:-6])
            assert (await caller.reply()).body == b"first"
            assert (await caller.reply()).status == 100
            caller.send(second[-6:])
            assert (await caller.reply()).body == b"second"

    run(main())


def test_a_part_of_a_head_is_not_taken_for_a_known_head(run: Run) -> None:
    async def main() -> None:
        async with place() as here:
            caller = await here.caller()
            whole = post(b"1") + post(b"22")
            cut = len(post(b"1")) + 20
            caller.send(whole[:cut])
            assert (await caller.reply()).body == b"1"
            caller.send(whole[cut:])
            assert (await caller.reply()).body == b"22"
            caller.send(whole[cut:])
            assert (await caller.reply()).status == 400

    run(main())


def read(pieces: list[bytes]) -> list[bytes | int]:
    """Return the bodies that are read from *pieces*, and the status of a refusal."""
    site = Site(lambda body, headers: echo(body), lambda path: None, lambda: Answer(413, b""), 50)
    reader, refused = RequestReader(site, KnownHeads()), []
    try:
        for piece in pieces:
            reader.feed(piece)
    except RefusalError as refusal:
        refused.append(refusal.answer.status)
    return [*(body for _, body, _ in reader.requests), *refused]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=4), st.sampled_from([b"", post(b"1")[:-9]]))
def test_no_bytes_at_all_break_the_server(noise: list[bytes], before: bytes) -> None:
    assert 500 not in read([before, *noise])


@settings(deadline=None)
@given(st.lists(st.binary(max_size=50), max_size=6), st.sets(st.integers(1, 600)))
def test_requests_read_the_same_however_they_are_cut(bodies: list[bytes], at: set[int]) -> None:
    whole = b"".join(map(post, bodies))
    edges = [0, *sorted(place for place in at if place < len(whole)), len(whole)]
    assert read([whole[a:b] for a, b in itertools.pairwise(edges)]) == bodies


def test_a_stream_that_fails_ends_the_connection_and_is_logged(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> AsyncIterator[bytes]:
        raise KeyError
        yield b""

    async def main() -> None:
        async with place(pages={"/events": StreamedAnswer(fail(), "text/plain")}) as here:
            caller = await here.caller()
            caller.send(get("/events"))
            await caller.reader.readuntil(b"\r\n\r\n")
            assert await caller.ended()

    run(main())
    assert "an answer failed" in caplog.text
