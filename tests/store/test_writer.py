"""When a writer begins a transaction, and what is in it; on a clock that the test owns."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from agent_league.store.codec import Rows
from agent_league.store.errors import StoreError
from agent_league.store.log import StoredEvent
from agent_league.store.schema import INSERT_EVENT
from agent_league.store.writer import GROUP_DELAY_S, Writer
from store.samples import recovered
from timewarp import now, run

COMMIT_S = 0.005


class SlowWriter(Writer):
    """Takes five milliseconds for each transaction, and remembers what was in it."""

    def __init__(self) -> None:
        super().__init__("a store", "cup")
        self.transactions: list[list[int]] = []
        self.broken = False

    async def commit(self, rows: Rows) -> None:
        await asyncio.sleep(COMMIT_S)
        if self.broken:
            raise StoreError("the disk is full")
        self.transactions.append([row[1] for row in rows[INSERT_EVENT]])

    async def disconnect(self) -> None:
        pass

    def take(self, seq: int, *, may_wait: bool = True) -> "asyncio.Future[None]":
        return self.keep(StoredEvent(seq, recovered(seq)), may_wait=may_wait)


def test_what_may_wait_is_written_after_a_moment_with_what_came_until_then() -> None:
    async def scenario() -> list[list[int]]:
        writer, started = SlowWriter(), now()
        first = writer.take(1)
        await asyncio.sleep(GROUP_DELAY_S / 2)
        writer.take(2)
        assert not first.done()
        await first
        assert now() - started < GROUP_DELAY_S + 2 * COMMIT_S
        return writer.transactions

    assert run(scenario()) == [[1, 2]]


def test_what_may_not_wait_is_written_at_once_with_what_waits() -> None:
    async def scenario() -> list[list[int]]:
        writer, started = SlowWriter(), now()
        for seq in (1, 2):
            writer.take(seq)
        for seq in (3, 4):
            writer.take(seq, may_wait=False)
        await writer.keep()
        assert now() - started < 2 * COMMIT_S
        return writer.transactions

    assert run(scenario()) == [[1, 2, 3, 4]]


def test_what_comes_during_a_transaction_waits_no_longer_than_it_may() -> None:
    async def scenario() -> list[float]:
        writer, started = SlowWriter(), now()
        kept_at: list[float] = []
        for seq, may_wait in ((1, False), (2, True)):
            writer.take(seq, may_wait=may_wait).add_done_callback(
                lambda _: kept_at.append(now() - started)
            )
            await asyncio.sleep(0.001)
        await writer.close()
        assert writer.transactions == [[1], [2]]
        return kept_at

    first, second = run(scenario())
    assert first < 2 * COMMIT_S
    assert second < GROUP_DELAY_S + 3 * COMMIT_S


def test_what_waits_is_told_of_a_failure() -> None:
    async def scenario() -> list[BaseException | None]:
        writer = SlowWriter()
        writer.broken = True
        failing = writer.take(1, may_wait=False)
        await asyncio.sleep(0.001)
        waiting = writer.take(2)
        await asyncio.wait({failing, waiting})
        await writer.close()
        return [failing.exception(), waiting.exception()]

    assert [str(error) for error in run(scenario())] == ["the disk is full"] * 2


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=30))
def test_everything_is_written_once_and_in_order(plan: list[tuple[bool, int]]) -> None:
    async def scenario() -> SlowWriter:
        writer = SlowWriter()
        kept = []
        for seq, (may_wait, pause_ms) in enumerate(plan, 1):
            kept.append(writer.take(seq, may_wait=may_wait))
            await asyncio.sleep(pause_ms / 1000)
        await writer.close()
        assert all(one.done() and one.exception() is None for one in kept)
        return writer

    written = [seq for transaction in run(scenario()).transactions for seq in transaction]
    assert written == list(range(1, len(plan) + 1))
