"""Deadlines count our own time only: what passes while this process is late is not the peer's."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

import pytest

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.own_time import TICK, Deadline, own_clock, own_time, timeout_at
from agent_league.protocol.failures import LateError
from agent_league.running.event_loop import run
from agent_league.running.serve import LOOPBACK, bind, url_of
from scripted import hosted
from timewarp import TimewarpLoop, now
from timewarp import run as run_in_virtual_time

T = TypeVar("T")


def be_late(seconds: float) -> None:
    """Let so many seconds pass in which the virtual loop does not run."""
    loop = cast("TimewarpLoop", asyncio.get_running_loop())
    loop._jumping.now += seconds


async def expiry(seconds: float, *delays: tuple[float, float]) -> float:
    """Return when a deadline of so many seconds passes, if the loop is late as in *delays*.

    A delay is the moment at which it begins, and how long it takes.
    """
    loop, expired = asyncio.get_running_loop(), asyncio.Event()
    deadline = Deadline(expired.set)
    for moment, length in delays:
        loop.call_at(moment, be_late, length)
    deadline.set(own_time() + seconds)
    with own_clock().measured():
        await expired.wait()
    return now()


def test_a_deadline_passes_on_time_while_we_are_on_time() -> None:
    assert run_in_virtual_time(expiry(5.0)) == 5


@pytest.mark.parametrize("moment", [0.1, 2.0, 4.0, 4.7, 4.99])
def test_a_deadline_is_extended_by_the_time_that_we_lost(moment: float) -> None:
    passed_at = run_in_virtual_time(expiry(5.0, (moment, 40.0)))
    assert 45 - TICK <= passed_at <= 45 + TICK


def test_several_delays_add_up_and_each_counts_once() -> None:
    passed_at = run_in_virtual_time(expiry(5.0, (1.0, 3.0), (6.0, 2.0), (9.5, 1.0)))
    assert 11 - 3 * TICK <= passed_at <= 11 + TICK


def test_a_peer_that_never_answers_is_late_even_if_we_always_are() -> None:
    delays = [(moment / 4, 0.2) for moment in range(200)]
    assert run_in_virtual_time(expiry(5.0, *delays)) < 60


def test_a_block_may_use_our_own_time_and_no_more() -> None:
    async def main() -> list[float]:
        passed = []
        for delay in (0.0, 30.0):
            began = now()
            asyncio.get_running_loop().call_later(1.0, be_late, delay)
            with pytest.raises(TimeoutError):
                async with timeout_at(own_time() + 2.0):
                    await asyncio.Event().wait()
            passed.append(now() - began)
        return passed

    on_time, late = run_in_virtual_time(main())
    assert on_time == 2
    assert 31 <= late <= 32.5


def test_nothing_is_measured_while_nobody_waits() -> None:
    async def main() -> float:
        with own_clock().measured():
            await asyncio.sleep(1)
        await asyncio.sleep(1)
        be_late(50)
        await asyncio.sleep(1)
        return own_time()

    assert run_in_virtual_time(main()) == 53


class Peer(threading.Thread):
    """A server in a loop of its own, which answers after so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self._seconds = seconds
        self._sock = bind(LOOPBACK, 0)
        self.url = url_of(self._sock)
        self.ready = threading.Event()
        self._done: Callable[[], object] = lambda: None

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        done = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._done = lambda: loop.call_soon_threadsafe(done.set)
        server = await HttpServer.start(hosted(self._answer), self._sock)
        self.ready.set()
        await done.wait()
        await server.close()

    async def _answer(self, body: bytes) -> Answer:
        await asyncio.sleep(self._seconds)
        return Answer(200, b"{}")

    def close(self) -> None:
        self._done()
        self.join(10)


def on_either_loop(main: Coroutine[Any, Any, T], *, fast: bool) -> T:
    return run(main) if fast else asyncio.run(main)


async def post_and_stand_still(peer: Peer, moment: float, seconds: float) -> Answer:
    """Return the answer of *peer*, which has half a second; we stand still for so many seconds."""
    client = HttpClient()
    try:
        call = asyncio.ensure_future(client.post(peer.url, b"{}", 0.5))
        await asyncio.sleep(moment)
        threading.Event().wait(seconds)
        return await call
    finally:
        await client.close()


@pytest.mark.parametrize("moment", [0.0, 0.1], ids=["before we ask", "before it answers"])
@pytest.mark.parametrize("fast", [True, False], ids=["uvloop", "asyncio"])
def test_an_answer_counts_though_the_deadline_passed_while_we_stood_still(
    fast: bool, moment: float
) -> None:
    peer = Peer(0.2)
    peer.start()
    peer.ready.wait(30)
    try:
        call = post_and_stand_still(peer, moment, 0.8)
        assert on_either_loop(call, fast=fast).status == 200
    finally:
        peer.close()


def test_an_answer_that_never_comes_is_late_also_after_a_delay() -> None:
    async def main() -> None:
        client = HttpClient()
        try:
            asyncio.get_running_loop().call_later(0.05, threading.Event().wait, 0.3)
            with pytest.raises(LateError):
                await client.post(peer.url, b"{}", 0.1)
        finally:
            await client.close()

    peer = Peer(60)
    peer.start()
    peer.ready.wait(30)
    try:
        run(main())
    finally:
        peer.close()
