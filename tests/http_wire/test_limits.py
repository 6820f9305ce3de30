"""A server holds as many connections as its files allow, and no stream for ever."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import count

import pytest

from agent_league.http import limits, server
from agent_league.http.exchange import Answer, StreamedAnswer
from agent_league.http.limits import ConnectionLimit, Worth
from agent_league.http.server import HttpServer
from agent_league.http.site import Receive, Scope, Send, Site, Streams
from http_wire.raw_caller import Caller, Run, echo, get, place, post

MOMENTS = map(float, count())


class Peer:
    def __init__(
        self, address: str = "127.0.0.1", *, idle: bool = True, worth: Worth | None = None
    ) -> None:
        self.address, self.aborted = address, False
        self.worth = worth or (Worth.NOTHING if idle else Worth.AN_ANSWER)
        self.used_at = next(MOMENTS)

    def find_worth(self) -> Worth:
        return self.worth

    def abort(self) -> None:
        self.aborted = True


def test_the_connection_that_was_idle_longest_makes_room() -> None:
    limit = ConnectionLimit(3)
    first, second, third, fourth = (Peer() for _ in range(4))
    assert all(limit.admit(one) for one in (first, second, third))
    first.used_at = next(MOMENTS)
    assert limit.admit(fourth)
    assert [one.aborted for one in (first, second, third)] == [False, True, False]


def test_nobody_who_waits_for_an_answer_makes_room() -> None:
    limit = ConnectionLimit(2)
    busy = [Peer(idle=False), Peer(idle=False)]
    assert all(map(limit.admit, busy))
    assert not limit.admit(Peer())
    limit.remove(busy[0])
    limit.remove(busy[0])
    assert limit.admit(Peer())


def test_live_pages_and_half_requests_make_room_if_nobody_is_idle() -> None:
    limit = ConnectionLimit(3)
    half, page = Peer(worth=Worth.HALF_A_REQUEST), Peer(worth=Worth.A_LIVE_PAGE)
    busy = Peer(idle=False)
    assert all(map(limit.admit, (half, page, busy)))
    assert limit.admit(Peer(idle=False))
    assert (page.aborted, half.aborted) == (True, False)
    assert limit.admit(Peer(idle=False))
    assert half.aborted
    assert not limit.admit(Peer())
    assert not busy.aborted


def test_one_machine_cannot_take_the_place_of_the_others() -> None:
    limit = ConnectionLimit(100, from_one_peer=2)
    honest, flood = Peer("10.0.0.1"), [Peer("10.0.0.2") for _ in range(5)]
    assert limit.admit(honest)
    assert all(map(limit.admit, flood))
    assert not honest.aborted
    assert [one.aborted for one in flood] == [True, True, True, False, False]
    busy = [Peer("10.0.0.3", idle=False) for _ in range(3)]
    assert [limit.admit(one) for one in busy] == [True, True, False]


def test_the_agents_of_this_machine_share_the_limit_for_all() -> None:
    limit = ConnectionLimit(100, from_one_peer=2)
    assert all(limit.admit(Peer("::1", idle=False)) for _ in range(50))


def test_the_operator_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    limit = ConnectionLimit(1)
    for _ in range(5):
        limit.admit(Peer())
    assert [record.getMessage() for record in caplog.records] == [
        "1 connections are the limit; idle ones are closed"
    ]


def test_a_full_server_closes_idle_connections_and_answers_on_new_ones(run: Run) -> None:
    async def main() -> None:
        async with place() as here:
            here.server.limit = ConnectionLimit(2)
            idle = [await here.caller() for _ in range(2)]
            for caller in idle:
                caller.send(post(b"x"))
                await caller.reply()
            assert (await here.send(post(b"new"))).body == b"new"
            assert await idle[0].ended()
            idle[1].send(post(b"again"))
            assert (await idle[1].reply()).body == b"again"

    run(main())


def test_a_server_that_is_busy_on_all_connections_says_so_to_the_next(run: Run) -> None:
    async def main() -> None:
        asked, done = asyncio.Event(), asyncio.Event()

        async def wait(body: bytes) -> Answer:
            asked.set()
            await done.wait()
            return echo(body)

        async with place(wait) as here:
            here.server.limit = ConnectionLimit(1)
            busy = await here.caller()
            busy.send(post(b"x"))
            await asked.wait()
            refused = await here.caller()
            assert (await refused.reply()).status == 503
            assert await refused.ended()
            done.set()
            assert (await busy.reply()).body == b"x"

    run(main())


async def tick() -> AsyncIterator[bytes]:
    yield b"data: 1\n\n"
    await asyncio.Event().wait()


def test_no_stream_lasts_for_ever(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "STREAM_LIFETIME", 0.05)

    async def main() -> None:
        pages = {"/live": StreamedAnswer(tick(), "text/event-stream")}
        async with place(patience=0.1, pages=pages) as here:
            caller = await here.caller()
            caller.send(get("/live"))
            assert b"data: 1" in await caller.reader.readuntil(b"\n\n")
            assert await caller.reader.read() is not None

    run(main())


def test_a_stream_that_does_not_begin_is_answered_and_closed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STREAM_PATIENCE", 0.05)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def close(grace: float) -> None:
        """Leave the stream alone."""

    async def main() -> None:
        site = Site(
            answer=lambda body, headers: None,
            find_page=lambda path: None,
            too_large=lambda: Answer(413, b"{}"),
            body_patience=0.1,
            streams=Streams(app, lambda headers: True, close),
        )
        sock = socket.create_server(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        serving = await HttpServer.start(site, sock)
        caller = Caller(*await asyncio.open_connection("127.0.0.1", port))
        caller.send(post(b""))
        assert (await caller.reply()).status == 503
        assert await caller.ended()
        caller.writer.close()
        await serving.close(0.2)

    run(main())


CRAMPED = """
import asyncio, resource, sys
from agent_league.http import limits
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
assert limits.raise_file_limit() == 128
assert limits.make_limit().total == 64

from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.http.site import Site
from agent_league.running.event_loop import run
from agent_league.running.serve import LOOPBACK, bind


async def main():
    site = Site(answer=lambda body, headers: Answer(200, body), find_page=lambda path: {},
                too_large=lambda: Answer(413, b"{}"))
    sock = bind(LOOPBACK, 0)
    server = await HttpServer.start(site, sock)
    print(sock.getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    open("/dev/null").close()  # the store and the logs still have files
    await server.close()


run(main())
"""


@pytest.mark.processes
def test_more_connections_than_files_harm_nobody() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CRAMPED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = ("127.0.0.1", int(process.stdout.readline()))
        crowd = [socket.create_connection(address, timeout=20) for _ in range(300)]
        with socket.create_connection(address, timeout=20) as caller:
            caller.sendall(post(b"still there"))
            assert b"still there" in caller.recv(1000)
        _, complaints = process.communicate("\n", timeout=20)
        for connection in crowd:
            connection.close()
    assert process.returncode == 0, complaints


def test_the_limit_leaves_files_to_the_rest_of_the_process() -> None:
    assert 0 < limits.make_limit().total <= limits.raise_file_limit() // 2
