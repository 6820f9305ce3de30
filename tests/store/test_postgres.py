"""A store in PostgreSQL, when PostgreSQL goes away, or is not what it should be."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from agent_league.store import EventLog, StoredEvent, StoreError
from agent_league.store.addresses import store_at
from agent_league.store.log import Sink
from agent_league.store.postgres import PostgresStore
from store.books import kept, opened, writing
from store.cluster import END_SESSIONS, Cluster
from store.samples import LEAGUE, OPENED_AT, SETTINGS, recovered


@asynccontextmanager
async def waiting(address: str, patience_s: float) -> AsyncIterator[tuple[PostgresStore, Sink]]:
    """Open a store that waits that long for a PostgreSQL that went away."""
    store = PostgresStore(address, patience_s=patience_s)
    try:
        yield store, await store.open(LEAGUE, OPENED_AT, SETTINGS)
    finally:
        await store.close()


def test_a_league_waits_for_a_postgresql_that_comes_back(cluster: Cluster, postgres: str) -> None:
    async def lane(log: EventLog, numbers: Iterable[int], over: asyncio.Event) -> None:
        for n in numbers:
            await log.append(recovered(n))
            if over.is_set():
                return

    async def scenario() -> int:
        async with waiting(postgres, 600) as (_, sink):
            log, over, numbers = EventLog(sink), asyncio.Event(), iter(range(10**6))
            lanes = asyncio.gather(*(lane(log, numbers, over) for _ in range(20)))
            while len(log) < 200:  # noqa: ASYNC110 - it is in full swing
                await asyncio.sleep(0.01)
            await asyncio.to_thread(cluster.stop)
            before = len(log)
            await asyncio.sleep(0.5)
            assert len(log) == before
            await asyncio.to_thread(cluster.start)
            over.set()
            await lanes
            return len(log)

    written = asyncio.run(scenario())
    assert asyncio.run(kept(postgres)) == [StoredEvent(n + 1, recovered(n)) for n in range(written)]


def test_a_league_gives_up_when_postgresql_stays_away(cluster: Cluster, postgres: str) -> None:
    async def scenario() -> None:
        async with waiting(postgres, 0.3) as (store, sink):
            log = EventLog(sink)
            await log.append(recovered(0))
            cluster.stop()
            try:
                with pytest.raises(StoreError, match="cannot be reached"):
                    await log.append(recovered(1))
                with pytest.raises(StoreError, match="cannot be reached"):
                    await store.leagues()
            finally:
                cluster.start()
            with pytest.raises(StoreError, match="cannot be reached"):
                await log.append(recovered(2))

    asyncio.run(scenario())
    assert asyncio.run(kept(postgres)) == [StoredEvent(1, recovered(0))]


def _cut(monkeypatch: pytest.MonkeyPatch, seq: int, *, arrives: bool) -> None:
    """Let the connection break once, at event *seq*: before it arrives, or before the answer."""
    send = asyncpg.Connection.executemany
    breaks = [seq]

    async def broken(
        self: "asyncpg.Connection[asyncpg.Record]", command: str, args: Iterable[Sequence[Any]]
    ) -> None:
        rows = list(args)
        breaking = "INTO events" in command and [row[1] for row in rows] == breaks
        if arrives or not breaking:
            await send(self, command, rows)
        if breaking:
            breaks.clear()
            self.terminate()
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle")

    monkeypatch.setattr(asyncpg.Connection, "executemany", broken)


@pytest.mark.parametrize("arrives", [True, False])
def test_a_commit_whose_answer_was_lost_is_written_once(
    postgres: str, monkeypatch: pytest.MonkeyPatch, arrives: bool
) -> None:
    async def scenario() -> None:
        async with waiting(postgres, 600) as (_, sink):
            log = EventLog(sink)
            for n in range(5):
                assert await log.append(recovered(n))

    _cut(monkeypatch, 3, arrives=arrives)
    asyncio.run(scenario())
    assert asyncio.run(kept(postgres)) == [StoredEvent(n + 1, recovered(n)) for n in range(5)]


def test_a_transaction_is_kept_whole_or_not_at_all(postgres: str) -> None:
    async def scenario() -> None:
        async with writing(postgres) as (_, sink):
            together = [sink.keep(StoredEvent(seq, recovered(seq))) for seq in (1, 2, 3, 3)]
            for outcome in await asyncio.gather(*together, return_exceptions=True):
                assert isinstance(outcome, StoreError)

    asyncio.run(scenario())
    assert asyncio.run(kept(postgres)) == []


FORGE = """
    INSERT INTO agent_league.events (league_id, seq, at, kind, version, body)
    VALUES ('cup', 3, '', 'agent_recovered', 1, '{"event": "agent_recovered", "at": "", "agent_id": ""}')
"""


@pytest.mark.parametrize(
    ("meanwhile", "reply"),
    [
        (FORGE, "another program has written event 3"),
        ("DELETE FROM agent_league.events WHERE seq = 2", "has lost event 2, which it had kept"),
    ],
)
def test_a_league_that_changed_while_nobody_watched_is_not_written_on(
    cluster: Cluster, postgres: str, monkeypatch: pytest.MonkeyPatch, meanwhile: str, reply: str
) -> None:
    async def scenario() -> None:
        async with waiting(postgres, 600) as (_, sink), cluster.connected() as other:
            log = EventLog(sink)
            for n in range(2):
                await log.append(recovered(n))
            await other.execute(meanwhile)
            for n in (2, 3):
                with pytest.raises(StoreError, match=reply):
                    await log.append(recovered(n))

    _cut(monkeypatch, 3, arrives=False)
    asyncio.run(scenario())
    assert recovered(2) not in [stored.event for stored in asyncio.run(kept(postgres))]


def test_a_league_whose_lock_was_taken_over_is_not_written_on(
    cluster: Cluster, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # To renew its term it would connect again, and might take the lock before the other does.
    monkeypatch.setattr("agent_league.store.postgres_writer.RENEWAL_S", 600.0)

    async def scenario() -> None:
        async with waiting(postgres, 0.5) as (_, sink), cluster.connected() as other:
            log = EventLog(sink)
            await log.append(recovered(0))
            await other.execute(END_SESSIONS)
            async with writing(postgres):
                with pytest.raises(
                    StoreError,
                    match=r"was taken over by another manager in term 2; this one led in term 1",
                ):
                    await log.append(recovered(1))

    asyncio.run(scenario())
    assert asyncio.run(kept(postgres)) == [StoredEvent(1, recovered(0))]


def test_readers_notice_nothing_of_a_restart_that_is_over(cluster: Cluster, postgres: str) -> None:
    async def scenario() -> None:
        async with opened(postgres) as store:
            assert await store.leagues() == []
            await asyncio.to_thread(cluster.stop)
            await asyncio.to_thread(cluster.start)
            assert await store.leagues() == []

    asyncio.run(scenario())


def test_a_database_that_is_not_there_is_named(postgres: str) -> None:
    with pytest.raises(StoreError, match=r"/nowhere: there is no such database"):
        asyncio.run(kept(f"{postgres.rpartition('/')[0]}/nowhere"))


def test_a_password_is_never_shown() -> None:
    for address, name in {
        "postgres://ann:se/cr@et@db.example/cup": "postgresql://db.example/cup",
        "postgresql://db.example:5433/cup?password=secret": "postgresql://db.example:5433/cup",
        "postgresql://ann:secret/cup": "postgresql://ann/cup",
        "postgresql://ann:secret@[::1]:5433/cup": "postgresql://[::1]:5433/cup",
        "postgresql://a:1,b:2/cup": "postgresql://a:1,b:2/cup",
    }.items():
        assert store_at(address).name == name


@pytest.mark.parametrize("address", ["postgresql://ann:xy/zzy@h/cup", "postgresql://ann:xyzzy/cup"])
def test_an_address_that_cannot_be_read_does_not_show_the_password(address: str) -> None:
    with pytest.raises(StoreError, match="this address cannot be read") as raised:
        asyncio.run(kept(address))
    assert "xy" not in str(raised.value)
    assert "zzy" not in str(raised.value)
    assert raised.value.__suppress_context__  # asyncpg quotes what it could not read


def test_without_asyncpg_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    monkeypatch.delitem(sys.modules, "agent_league.store.postgres")
    with pytest.raises(StoreError, match=r"pip install agent-league\[postgres\]"):
        store_at("postgresql://127.0.0.1/cup")
