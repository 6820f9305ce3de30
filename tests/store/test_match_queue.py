"""The queue of matches in PostgreSQL: every job is played, by one worker or by the next."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent_league.protocol.play import Contestant, StartMatch
from agent_league.store import DeposedError, StoreError
from agent_league.store.postgres import PostgresStore
from agent_league.store.postgres_queue import PostgresQueue
from agent_league.store.queue import PoolJob, make_key
from store.cluster import Cluster
from store.samples import LEAGUE, OPENED_AT, SETTINGS

SOON = 60.0


def make_job(*match_ids: str) -> PoolJob:
    return PoolJob(LEAGUE, "REF01", "tok_REF01_secret", [make_order(one) for one in match_ids])


def make_order(match_id: str) -> StartMatch:
    return StartMatch(
        protocol="league.v2",
        sender="league_manager",
        timestamp="2025-01-15T10:30:00Z",
        conversation_id="conv",
        auth_token="",
        league_id=LEAGUE,
        round_id=1,
        match_id=match_id,
        game_type="even_odd",
        players=[Contestant(player_id="P01", endpoint="http://p1/mcp", ticket="tkt")] * 2,
        ticket=f"tkt_{match_id}",
        seed="seed",
    )


@asynccontextmanager
async def leading(address: str) -> AsyncIterator[tuple[PostgresStore, PostgresQueue]]:
    store = PostgresStore(address)
    try:
        await store.open(LEAGUE, OPENED_AT, SETTINGS)
        queue = store.open_queue()
        await queue.install()
        yield store, queue
    finally:
        await store.close()


@asynccontextmanager
async def joined(address: str) -> AsyncIterator[PostgresQueue]:
    queue = PostgresQueue(address, "the queue")
    try:
        await queue.install()
        yield queue
    finally:
        await queue.close()


def test_what_a_leader_puts_in_is_played_once(postgres: str) -> None:
    async def scenario() -> None:
        played, stop = list[list[str]](), asyncio.Event()

        async def play(job: PoolJob) -> None:
            played.append([order.match_id for order in job.orders])
            if len(played) == 2:
                stop.set()

        async with leading(postgres) as (_, queue), joined(postgres) as worker:
            jobs = [make_job("R1M1", "R1M2"), make_job("R1M3")]
            await queue.submit(jobs)
            await queue.submit(jobs)  # they are there already
            waiting = {make_key(one, f"tkt_{one}") for one in ("R1M1", "R1M2", "R1M3")}
            assert await queue.list_queued(LEAGUE) == waiting
            await asyncio.wait_for(worker.run(play, 4, stop), SOON)
            assert await queue.list_queued(LEAGUE) == set()
        assert sorted(played) == [["R1M1", "R1M2"], ["R1M3"]]

    asyncio.run(scenario())


def test_the_job_of_a_dead_worker_goes_to_another(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        begun, stop = asyncio.Event(), asyncio.Event()

        async def hang(job: PoolJob) -> None:
            begun.set()
            await asyncio.Event().wait()

        async def play(job: PoolJob) -> None:
            stop.set()

        async with (
            leading(postgres) as (_, queue),
            joined(postgres) as dead,
            joined(postgres) as on,
        ):
            await queue.submit([make_job("R1M1")])
            dying = asyncio.ensure_future(dead.run(hang, 2, asyncio.Event()))
            await asyncio.wait_for(begun.wait(), SOON)
            assert dead._pool
            dead._pool.terminate()  # nothing of it reaches PostgreSQL any more
            dead._address = "postgresql://127.0.0.1:1/nowhere"
            await asyncio.wait_for(on.run(play, 2, stop), SOON)
            dying.cancel()

    monkeypatch.setattr("agent_league.store.postgres_queue.JOB_LEASE_S", 1.0)
    asyncio.run(scenario())


def test_a_deposed_leader_puts_nothing_in(cluster: Cluster, postgres: str) -> None:
    async def scenario() -> None:
        async with leading(postgres) as (_, queue), cluster.connected() as other:
            await other.execute("UPDATE agent_league.leaders SET term = term + 1")
            with pytest.raises(DeposedError):
                await queue.submit([make_job("R1M1")])
            assert await queue.list_queued(LEAGUE) == set()

    asyncio.run(scenario())


def test_only_living_workers_have_seats(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr("agent_league.store.postgres_queue.COUNT_S", 0.0)
        async with leading(postgres) as (_, queue), joined(postgres) as worker:
            assert await queue.count_seats() == 0
            await worker.sign_on("one", 10)
            await worker.sign_on("two", 5)
            assert await queue.count_seats() == 15
            await worker.sign_off("two")
            assert await queue.count_seats() == 10
            monkeypatch.setattr("agent_league.store.postgres_queue.WORKER_LEASE_S", 0.0)
            assert await queue.count_seats() == 0

    asyncio.run(scenario())


def test_a_store_without_a_pool_has_no_seats(postgres: str) -> None:
    async def scenario() -> int:
        store = PostgresStore(postgres)
        await store.open(LEAGUE, OPENED_AT, SETTINGS)
        seats = await store.open_queue().count_seats()
        await store.close()
        return seats

    assert asyncio.run(scenario()) == 0


def test_many_workers_may_make_the_tables_at_once(postgres: str) -> None:
    async def install() -> None:
        async with joined(postgres):
            pass

    async def scenario() -> None:
        await asyncio.gather(*(install() for _ in range(5)))

    asyncio.run(scenario())


def test_a_queue_that_is_away_is_named() -> None:
    queue = PostgresQueue("postgresql://127.0.0.1:1/cup", "the queue")
    with pytest.raises(StoreError, match="the queue: PostgreSQL cannot be reached"):
        asyncio.run(queue.count_seats())
