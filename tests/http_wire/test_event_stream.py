"""Answers that are streams of events: read as far as the answer, whatever comes around it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.http.connection import EventStream
from agent_league.http.exchange import HttpRequest, Response
from agent_league.protocol.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)
from http_wire.scripted_peer import Peer, ScriptedServer, peer

Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
OPEN_END = HEAD + b"\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def fed(*pieces: bytes) -> list[bytes]:
    stream = EventStream()
    return [data for piece in pieces for data in stream.feed(piece)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_event_ends_with_an_empty_line(end: bytes) -> None:
    lines = [b": a comment", b"event: message", b"id: 7", b"data: one", b"data:two", b"", b"x"]
    assert fed(end.join(lines)) == [b"one\ntwo"]


def test_an_event_without_data_is_none() -> None:
    assert fed(b"event: ping\n\n: nothing\n\n\n\ndata: x\n") == []


@given(st.lists(st.sampled_from([b"a", b"bc", b"{}"]), max_size=5), st.data())
def test_it_does_not_matter_how_a_stream_is_cut(events: list[bytes], data: st.DataObject) -> None:
    end = data.draw(st.sampled_from([b"\n", b"\r\n"]))
    whole = b"".join(b"data: %b%b%b" % (event, end, end) for event in events)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert fed(*pieces) == events


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def wanted(event: bytes) -> bool:
    return event.startswith(b"answer")


async def exchanged(server: ScriptedServer, within: float = 5.0) -> Response:
    parcel = HttpRequest(b"{}", {"x-one": "1", "accept": "text/event-stream"}, wanted)
    return await server.client.exchange(server.url, parcel, within)


def heard_from(run: Run, *reply: bytes, close: bool = False, within: float = 5.0) -> Response:
    def script(one: Peer) -> None:
        one.say(*reply)
        if close:
            one.transport.close()

    async def main() -> Response:
        async with peer(script) as server:
            return await exchanged(server, within)

    received: Response = run(main())
    return received


def test_the_answer_is_the_event_that_was_waited_for(run: Run) -> None:
    events = chunk(b"data: progress\n\n") + chunk(b"data: answer\n\n") + chunk(b"data: more\n\n")
    received = heard_from(run, CHUNKED + events + END)
    assert (received.status, received.body) == (200, b"answer")
    assert received.headers["content-type"] == "text/event-stream; charset=utf-8"


def test_a_stream_is_not_read_beyond_its_answer(run: Run) -> None:
    assert heard_from(run, CHUNKED + chunk(b"data: answer\n\n")).body == b"answer"


def test_a_connection_whose_stream_was_left_is_not_used_again(run: Run) -> None:
    async def main() -> int:
        async with peer(lambda one: one.say(CHUNKED + chunk(b"data: answer\n\n"))) as server:
            await exchanged(server)
            await exchanged(server)
            return len(server.connections)

    assert run(main()) == 2


def test_a_connection_whose_stream_ended_is_used_again(run: Run) -> None:
    async def main() -> int:
        whole = CHUNKED + chunk(b"data: answer\n\n") + END
        async with peer(lambda one: one.say(whole)) as server:
            await exchanged(server)
            await exchanged(server)
            return len(server.connections)

    assert run(main()) == 1


@pytest.mark.parametrize(
    ("reply", "close", "error"),
    [
        (CHUNKED + chunk(b"data: progress\n\n"), False, LateError),
        (CHUNKED + chunk(b"data: progress\n\n"), True, UnreachableError),
        (CHUNKED + chunk(b"data: progress\n\n" * 100_000), False, NonsenseError),
        (CHUNKED + chunk(b"data: " + b"x" * 2_000_000), False, NonsenseError),
    ],
)
def test_a_stream_without_an_answer_has_a_name(
    run: Run, reply: bytes, close: bool, error: type[NoAnswerError]
) -> None:
    with pytest.raises(error):
        heard_from(run, reply, close=close, within=0.3 if error is LateError else 5.0)


def test_a_stream_that_ends_with_its_connection_and_has_no_answer_is_empty(run: Run) -> None:
    assert heard_from(run, OPEN_END + b"data: progress\n\n", close=True).body == b""


def test_a_plain_answer_comes_with_its_headers(run: Run) -> None:
    reply = b"HTTP/1.1 404 Gone\r\nMcp-Session-Id:  abc \r\ncontent-length: 2\r\n\r\n{}"
    received = heard_from(run, reply)
    assert (received.status, received.body, received.headers["mcp-session-id"]) == (
        404,
        b"{}",
        "abc",
    )


def test_the_headers_of_a_parcel_are_the_only_ones_of_their_names() -> None:
    async def main() -> bytes:
        ok = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
        async with peer(lambda one: one.say(ok)) as server:
            await exchanged(server)
            return server.requests[0]

    head = asyncio.run(main()).partition(b"\r\n\r\n")[0].split(b"\r\n")
    names = [line.partition(b":")[0] for line in head[1:]]
    assert b"accept: text/event-stream" in head
    assert b"x-one: 1" in head
    assert len(names) == len(set(names))


def test_a_header_that_would_forge_another_is_not_sent() -> None:
    async def main() -> None:
        async with peer(lambda one: None) as server:
            parcel = HttpRequest(b"{}", {"mcp-session-id": "a\r\nx: y"}, wanted)
            with pytest.raises(UnreachableError, match="headers"):
                await server.client.exchange(server.url, parcel, 5.0)
            assert server.requests == []

    asyncio.run(main())
