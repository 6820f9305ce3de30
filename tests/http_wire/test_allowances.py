"""Whoever asks too often, or is refused too often, has to wait; nobody else does."""

import asyncio

import pytest

from agent_league.http import allowances
from agent_league.http.allowances import (
    BURST,
    LOCAL_RATE,
    LOCAL_REFUSAL_BURST,
    LOCAL_REFUSAL_COST,
    LONGEST_WAIT,
    REMOTE_RATE,
    REMOTE_REFUSAL_BURST,
    REMOTE_REFUSAL_COST,
    SHORTEST_WAIT,
    SLOW_BURST,
    SLOW_WAIT,
    Allowance,
    Allowances,
)
from agent_league.http.exchange import Answer
from agent_league.http.limits import ConnectionLimit
from http_wire.raw_caller import Run, echo, place, post

OTHER = "192.0.2.7"


def test_a_caller_may_spend_its_burst_and_then_its_rate() -> None:
    allowance = Allowance(rate=10, burst=100, now=0.0)
    assert [allowance.spend(1, 0.0) for _ in range(100)] == [0.0] * 100
    assert allowance.spend(1, 0.0) == SHORTEST_WAIT
    assert allowance.spend(1, 0.9) == 0.0


def test_nobody_waits_longer_than_a_second() -> None:
    allowance = Allowance(rate=10, burst=100, now=0.0)
    for _ in range(100_000):
        wait = allowance.spend(1, 0.0)
    assert wait == LONGEST_WAIT
    assert allowance.spend(1, 1.2) == 0.0


def test_all_connections_of_another_machine_share_one_allowance() -> None:
    shared = Allowances()
    assert shared.find(OTHER, 0.0) is shared.find(OTHER, 0.0)
    assert shared.find(OTHER, 0.0) is not shared.find("192.0.2.8", 0.0)
    assert shared.find("2001:db8::1", 0.0) is shared.find("2001:db8::ffff:2", 0.0)
    assert shared.find("2001:db8::1", 0.0) is not shared.find("2001:db8:0:1::1", 0.0)


def test_each_local_connection_has_an_allowance_of_its_own() -> None:
    shared = Allowances()
    assert shared.find("127.0.0.1", 0.0) is not shared.find("127.0.0.1", 0.0)
    greedy, modest = shared.find("127.0.0.1", 0.0), shared.find("::1", 0.0)
    for _ in range(BURST + 1):
        wait = greedy.spend(1, 0.0)
    assert wait
    assert not modest.spend(1, 0.0)


def test_a_private_league_is_faster_than_any_agent_of_it_can_ask() -> None:
    assert LOCAL_RATE >= 20_000
    assert REMOTE_RATE >= 5_000


def test_who_is_refused_often_waits_sooner() -> None:
    allowance = Allowances().find(OTHER, 0.0)
    for _ in range(BURST // REMOTE_REFUSAL_COST):
        assert not allowance.spend(1, 0.0)
        allowance.charge_refusal(0.0)
    assert allowance.spend(1, 0.0)


def test_in_a_local_flood_a_new_connection_waits_after_its_first_refusal() -> None:
    shared = Allowances()
    for _ in range(LOCAL_REFUSAL_BURST + 1):
        shared.find("127.0.0.1", 0.0).charge_refusal(0.0)
    flooding, honest = shared.find("127.0.0.1", 0.0), shared.find("127.0.0.1", 0.0)
    flooding.charge_refusal(0.0)
    assert flooding.spend(1, 0.0) == LONGEST_WAIT
    assert not honest.spend(1, 0.0)


def test_in_a_flood_of_refusals_another_machine_waits_after_a_few_of_them() -> None:
    shared = Allowances()
    for number in range(REMOTE_REFUSAL_BURST):
        shared.find(f"10.0.0.{number}", 0.0).charge_refusal(0.0)
    honest, clumsy = shared.find(OTHER, 0.0), shared.find("192.0.2.8", 0.0)
    for _ in range(2):
        assert not clumsy.spend(1, 0.0)
        clumsy.charge_refusal(0.0)
    assert clumsy.spend(1, 0.0)
    assert not honest.spend(1, 0.0)


def test_a_live_page_comes_late_for_a_machine_that_asks_too_often_and_never_locally() -> None:
    shared = Allowances()
    there, here = shared.find(OTHER, 0.0), shared.find("127.0.0.1", 0.0)
    waits = [there.slow.spend(1, 0.0) for _ in range(SLOW_BURST + 100)]
    assert waits[:SLOW_BURST] == [0.0] * SLOW_BURST
    assert max(waits) == SLOW_WAIT
    assert not there.spend(1, 0.0), "its other requests are answered"
    assert not any(here.slow.spend(1, 0.0) for _ in range(1000))


def test_the_memory_for_machines_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowances, "MOST_MACHINES", 10)
    shared = Allowances()
    for number in range(100):
        shared.find(f"10.0.0.{number}", 0.0)
    assert len(shared._by_machine) <= 10


def make_poor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowances, "BURST", 3 * LOCAL_REFUSAL_COST)
    monkeypatch.setattr(allowances, "LOCAL_RATE", LOCAL_REFUSAL_COST)


def test_a_caller_over_its_allowance_gets_429_late_and_is_answered_again_afterwards(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make_poor(monkeypatch)

    def refuse(body: bytes) -> Answer:
        return Answer(200, b"no", is_refusal=True) if body == b"wrong" else echo(body)

    async def main() -> None:
        async with place(refuse) as here:
            here.server.limit = ConnectionLimit(100)
            caller, other = await here.caller(), await here.caller()
            statuses = []
            for _ in range(6):
                caller.send(post(b"wrong"))
                statuses.append((await caller.reply()).status)
            assert statuses[:3] == [200, 200, 200]
            assert 429 in statuses[3:]
            other.send(post(b"right"))
            assert (await other.reply()).body == b"right"
            async with asyncio.timeout(10):
                while True:
                    caller.send(post(b"right"))
                    if (await caller.reply()).status == 200:
                        break

    run(main())
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1
    assert "a program on this machine sends too many requests" in told[0]
