"""Who leads a league in PostgreSQL: one program at a time, and the next one when it is gone."""

import asyncio
from collections.abc import Callable

import pytest

from agent_league.store import DeposedError, EventLog, NotLeadingError, StoredEvent, StoreError
from agent_league.store.addresses import store_at
from agent_league.store.postgres import PostgresStore
from agent_league.store.postgres_writer import PostgresWriter
from store.books import kept, opened, writing
from store.cluster import Cluster
from store.samples import LEAGUE, OPENED_AT, SETTINGS, recovered

SOON = 20.0


async def lead(store: PostgresStore) -> PostgresWriter:
    writer = await store.open(LEAGUE, OPENED_AT, SETTINGS)
    assert isinstance(writer, PostgresWriter)
    return writer


def stop(writer: PostgresWriter) -> None:
    """Let a writer no longer say that it lives, as if its process were stopped."""
    assert writer._renewing
    writer._renewing.cancel()


def shorten_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_league.store.postgres.LEASE_S", 0.2)
    monkeypatch.setattr("agent_league.store.postgres.TURN_S", 0.05)


def test_who_waits_gets_its_turn_at_once_when_the_leader_ends(postgres: str) -> None:
    async def scenario() -> None:
        async with opened(postgres) as waiting:
            async with writing(postgres):
                turn = asyncio.ensure_future(waiting.wait_for_turn(LEAGUE))
                done, _ = await asyncio.wait({turn}, timeout=0.3)
                assert not done
            await asyncio.wait_for(turn, SOON)

    asyncio.run(scenario())


def test_every_leader_has_a_higher_term(postgres: str) -> None:
    async def scenario() -> list[int]:
        terms = []
        for _ in range(3):
            store = PostgresStore(postgres)
            terms.append((await lead(store)).term)
            await store.close()
        return terms

    assert asyncio.run(scenario()) == [1, 2, 3]


def test_a_leader_that_says_nothing_is_deposed_and_writes_nothing_more(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        old, new, failures = PostgresStore(postgres), PostgresStore(postgres), list[StoreError]()
        writer = await lead(old)
        writer.on_failure = failures.append
        log = EventLog(writer)
        await log.append(recovered(0))
        await old.save_snapshot(LEAGUE, 1, "old")
        stop(writer)
        shorten_lease(monkeypatch)
        await asyncio.wait_for(new.wait_for_turn(LEAGUE), SOON)
        successor = await lead(new)
        await successor.announce("http://new:8000/mcp")
        await successor.keep(StoredEvent(2, recovered(7)))
        with pytest.raises(DeposedError, match="another manager at http://new:8000/mcp in term 2"):
            await log.append(recovered(1))
        await old.execute("SELECT 1")
        with pytest.raises(DeposedError):
            await old.save_snapshot(LEAGUE, 2, "stale")
        assert await new.snapshot(LEAGUE) == (1, "old")
        assert [type(failure) for failure in failures] == [DeposedError]
        await old.close()
        await new.close()

    asyncio.run(scenario())
    assert [stored.event for stored in asyncio.run(kept(postgres))] == [recovered(0), recovered(7)]


def test_a_term_that_is_over_is_noticed_in_the_transaction_itself(
    cluster: Cluster, postgres: str
) -> None:
    async def scenario() -> None:
        async with writing(postgres) as (_, sink), cluster.connected() as other:
            log = EventLog(sink)
            await log.append(recovered(0))
            await other.execute(
                "UPDATE agent_league.leaders SET term = term + 1"
            )  # it has its lock
            with pytest.raises(DeposedError):
                await log.append(recovered(1))

    asyncio.run(scenario())
    assert asyncio.run(kept(postgres)) == [StoredEvent(1, recovered(0))]


def test_a_deposed_leader_learns_it_although_nothing_happens(
    cluster: Cluster, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> StoreError:
        store, failed = PostgresStore(postgres), asyncio.get_running_loop().create_future()
        writer = await lead(store)
        note: Callable[[StoreError], None] = failed.set_result
        writer.on_failure = note
        async with cluster.connected() as other:
            await other.execute("UPDATE agent_league.leaders SET term = term + 1")
        error: StoreError = await asyncio.wait_for(failed, SOON)
        await store.close()
        return error

    monkeypatch.setattr("agent_league.store.postgres_writer.RENEWAL_S", 0.05)
    assert isinstance(asyncio.run(scenario()), DeposedError)


def test_a_leader_that_lives_is_not_deposed(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr("agent_league.store.postgres_writer.RENEWAL_S", 0.05)
        async with writing(postgres), opened(postgres) as waiting:
            turn = asyncio.ensure_future(waiting.wait_for_turn(LEAGUE))
            done, _ = await asyncio.wait({turn}, timeout=1.0)
            assert not done
            turn.cancel()
            with pytest.raises(NotLeadingError, match="is being run by agent-league pid"):
                await waiting.open(LEAGUE, OPENED_AT, SETTINGS)

    monkeypatch.setattr("agent_league.store.postgres.TURN_S", 0.05)
    asyncio.run(scenario())


def test_who_waits_outlasts_a_postgresql_that_goes_away(cluster: Cluster, postgres: str) -> None:
    async def scenario() -> None:
        async with opened(postgres) as waiting:
            async with writing(postgres):
                turn = asyncio.ensure_future(waiting.wait_for_turn(LEAGUE))
                await asyncio.wait({turn}, timeout=0.2)
                await asyncio.to_thread(cluster.stop)
                await asyncio.wait({turn}, timeout=0.2)
                assert not turn.done()
                await asyncio.to_thread(cluster.start)
            await asyncio.wait_for(turn, SOON)

    asyncio.run(scenario())


def test_a_file_cannot_be_shared_by_managers(tmp_path: object) -> None:
    with pytest.raises(StoreError, match="only a store in PostgreSQL"):
        asyncio.run(store_at(f"{tmp_path}/league.db").wait_for_turn(LEAGUE))
