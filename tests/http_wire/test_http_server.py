import asyncio
import gc
import logging
import socket
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import msgspec
import pytest

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.http.site import MCP, Headers, Site
from http_wire.raw_caller import (
    Caller,
    Handler,
    Place,
    Run,
    echo,
    fail_later,
    fail_now,
    get,
    mixed,
    place,
    post,
    reply_to,
    slowly,
)


@pytest.mark.parametrize("handler", [echo, slowly])
@pytest.mark.parametrize("unusual", [(), ("expect: 100-continue",)])
def test_a_call_is_answered_on_a_connection_that_stays(
    run: Run, handler: Handler, unusual: tuple[str, ...]
) -> None:
    async def main() -> None:
        async with place(handler) as here:
            caller = await here.caller()
            for body in (b"one", b"two", b"three"):
                caller.send(post(body, "content-type: application/json; charset=utf-8", *unusual))
                reply = await caller.reply()
                if unusual:
                    assert reply.status == 100
                    reply = await caller.reply()
                assert (reply.status, reply.body) == (200, body)
                assert reply.headers["content-type"] == "application/json"
                assert "connection" not in reply.headers

    run(main())


def test_an_answer_at_once_makes_no_task(run: Run) -> None:
    seen: list[int] = []

    def count(body: bytes) -> Answer:
        seen.append(len(asyncio.all_tasks()))
        return echo(body)

    reply_to(run, post(b"x"), count)
    assert seen == [1]


@pytest.mark.parametrize("first", [b"slow", b"fast"])
def test_pipelined_calls_are_answered_in_order(run: Run, first: bytes) -> None:
    async def main() -> None:
        async with place(mixed) as here:
            caller = await here.caller()
            caller.send(post(first) + post(b"fast 2") + get("/") + post(b"slow 3") + post(b"4"))
            bodies = [(await caller.reply()).body for _ in range(5)]
            assert bodies == [first, b"fast 2", b'{"name":"P01"}', b"slow 3", b"4"]
            caller.send(post(b"after"))
            assert (await caller.reply()).body == b"after"

    run(main())


def test_a_call_in_small_pieces_is_one_call(run: Run) -> None:
    async def main() -> None:
        async with place() as here:
            caller = await here.caller()
            whole = post(b"hello")
            for at in range(len(whole)):
                caller.send(whole[at : at + 1])
                await asyncio.sleep(0)
            assert (await caller.reply()).body == b"hello"
            assert here.asked == [b"hello"]

    run(main())


@pytest.mark.parametrize(
    ("request_", "status", "body"),
    [
        (get("/"), 200, {"name": "P01"}),
        (get("/?x=y"), 200, {"name": "P01"}),
        (get("/a%20b"), 200, 1),
        (get("/none"), 404, {"error": "there is nothing at /none"}),
        (get("/mcp"), 405, {"error": "only POST is allowed here"}),
        (get("/", method="PUT"), 405, {"error": "only GET is allowed here"}),
        (post(b"{}", path="/else"), 404, {"error": "there is nothing at /else"}),
        (get("/", "origin: http://evil"), 403, None),
    ],
)
def test_pages(run: Run, request_: bytes, status: int, body: object) -> None:
    reply = reply_to(run, request_)
    assert reply.status == status
    if body is not None:
        assert msgspec.json.decode(reply.body) == body
    assert ("allow" in reply.headers) == (status == 405)


@pytest.mark.parametrize("status", [202, 204])
@pytest.mark.parametrize("unusual", [(), ("expect: 100-continue",)])
def test_some_answers_have_no_body(run: Run, status: int, unusual: tuple[str, ...]) -> None:
    async def main() -> None:
        async with place(lambda body: Answer(status, b"dropped")) as here:
            caller = await here.caller()
            for _ in range(2):
                caller.send(post(b"{}", *unusual))
                reply = await caller.reply()
                reply = await caller.reply() if reply.status == 100 else reply
                assert (reply.status, reply.body) == (status, b"")
                assert ("content-length" in reply.headers) == (status == 202)

    run(main())


@pytest.mark.parametrize(
    "request_", [post(b"x", version="1.0"), post(b"x", "connection: close")], ids=["1.0", "close"]
)
@pytest.mark.parametrize("handler", [echo, slowly])
def test_a_connection_is_closed_when_the_caller_says_so(
    run: Run, request_: bytes, handler: Handler
) -> None:
    async def main() -> None:
        async with place(handler) as here:
            caller = await here.caller()
            caller.send(request_)
            reply = await caller.reply()
            assert (reply.body, reply.headers["connection"]) == (b"x", "close")
            assert await caller.ended()

    run(main())


@pytest.mark.parametrize("handler", [fail_now, fail_later, lambda body: 0])
def test_a_handler_that_raises_is_an_internal_error_that_is_logged(
    run: Run, handler: Handler, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "agent_league"):
        reply = reply_to(run, post(b"{}"), handler)
    assert reply.status == 500
    assert msgspec.json.decode(reply.body)["error"]["code"] == -32603
    assert caplog.records[0].exc_info


def test_closing_lets_a_call_under_way_finish_and_rested_connections_go(run: Run) -> None:
    async def main() -> None:
        asked, go = asyncio.Event(), asyncio.Event()

        async def wait(body: bytes) -> Answer:
            asked.set()
            await go.wait()
            return echo(body)

        async with place(wait) as here:
            idle, half, busy = [await here.caller() for _ in range(3)]
            half.send(post(b"half")[:-1])
            busy.send(post(b"busy"))
            await asked.wait()
            closing = asyncio.ensure_future(here.server.close(5.0))
            assert await idle.ended()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", here.port)
            half.send(b"f")
            go.set()
            assert [(await caller.reply()).body for caller in (busy, half)] == [b"busy", b"half"]
            await closing

    run(main())


@pytest.mark.parametrize("turns", range(5))
def test_closing_ends_a_connection_that_has_just_been_accepted(run: Run, turns: int) -> None:
    async def main() -> socket.socket:
        async with place() as here:
            caller = socket.create_connection(("127.0.0.1", here.port), timeout=5.0)
            for _ in range(turns):
                await asyncio.sleep(0)
        return caller

    gc.disable()  # which would close it late
    try:
        with run(main()) as caller, suppress(ConnectionResetError):
            assert caller.recv(1) == b""
    finally:
        gc.enable()


@asynccontextmanager
async def hanging_call(*unusual: str) -> AsyncIterator[tuple[Place, Caller]]:
    """A server, and a caller that waits for an answer which never comes."""
    asked = asyncio.Event()

    async def hang(body: bytes) -> Answer:
        asked.set()
        await asyncio.Event().wait()
        return echo(body)

    async with place(hang) as here:
        caller = await here.caller()
        caller.send(post(b"x", *unusual))
        await asked.wait()
        yield here, caller


@pytest.mark.parametrize("unusual", [(), ("expect: 100-continue",)])
def test_closing_ends_what_takes_longer_than_grace(run: Run, unusual: tuple[str, ...]) -> None:
    async def main() -> None:
        async with hanging_call(*unusual) as (here, _):
            await here.server.close(0.05)

    run(main())


@pytest.mark.parametrize("turns", range(1, 7))
def test_closing_leaves_nothing_open_if_it_is_cancelled(run: Run, turns: int) -> None:
    async def main() -> None:
        async with hanging_call() as (here, caller):
            closing = asyncio.ensure_future(here.server.close(5.0))
            for _ in range(turns):
                await asyncio.sleep(0)
            closing.cancel()
            with suppress(asyncio.CancelledError):
                await closing
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", here.port)
            with suppress(ConnectionResetError):
                assert await caller.ended()

    run(main())


def test_a_caller_that_leaves_does_no_harm(run: Run) -> None:
    async def main() -> None:
        asked = asyncio.Event()

        async def wait(body: bytes) -> Answer:
            asked.set()
            return await slowly(body)

        async with place(wait) as here:
            for data in (
                post(b"gone"),
                post(b"gone")[:-1],
                post(b"x", "expect: 100-continue")[:-1],
            ):
                caller = await here.caller()
                caller.send(data)
                await caller.writer.drain()
                caller.writer.transport.abort()
            await asked.wait()
            assert (await here.send(post(b"still here"))).body == b"still here"

    run(main())


class Echo:
    """An agent that a site answers for."""

    def make_site(self) -> Site:
        return Site(self._answer, lambda path: None, lambda: Answer(413, b""))

    def _answer(self, body: bytes, headers: Headers) -> Answer:
        return Answer(200, body)


def test_an_idle_connection_does_not_hold_the_agent_that_answered_it(run: Run) -> None:
    async def main() -> None:
        echo = Echo()
        sites, gone = {"/leagues/cup/mcp": echo.make_site()}, weakref.ref(echo)
        del echo
        outer = replace(
            Echo().make_site(), find_site=lambda path: (sites[path], MCP) if path in sites else None
        )
        sock = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{sock.getsockname()[1]}/leagues/cup/mcp"
        server, client = await HttpServer.start(outer, sock), HttpClient()
        assert (await client.post(url, b"{}", 5.0)).body == b"{}"
        sites.clear()
        server.known_heads.clear()
        gc.collect()
        is_gone, connections = gone() is None, len(server.connections)
        await client.close()
        await server.close(0.2)
        assert (is_gone, connections) == (True, 1)

    run(main())


def test_a_server_is_called_by_the_address_at_which_it_listens(run: Run) -> None:
    async def main() -> int:
        try:
            sock = socket.create_server(("127.0.0.2", 0))
        except OSError:
            pytest.skip("this machine has only one address of its own")
        server, client = await HttpServer.start(Echo().make_site(), sock), HttpClient()
        answer = await client.post(f"http://127.0.0.2:{sock.getsockname()[1]}/mcp", b"{}", 5.0)
        await client.close()
        await server.close(0.2)
        return answer.status

    assert run(main()) == 200
