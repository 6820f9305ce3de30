"""What every store promises."""

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from functools import partial

import asyncpg
import pytest

from agent_league.store import EventLog, StoredEvent, StoreError
from agent_league.store.addresses import store_at
from agent_league.store.codec import KINDS, Rows
from agent_league.store.events import AgentRecovered, Event
from agent_league.store.sqlite import SqliteWriter
from agent_league.store.store import LeagueRow
from store.books import events, fill, kept, opened, process, writing
from store.samples import (
    LEAGUE,
    OPENED_AT,
    SEASON,
    SETTINGS,
    STORED,
    TRANSCRIPT,
    recovered,
)


def test_there_is_a_sample_of_every_kind_of_event() -> None:
    assert {type(event) for event in SEASON} == set(KINDS.values())


def test_every_kind_of_event_comes_back_as_it_was(address: str) -> None:
    asyncio.run(fill(address, SEASON))
    assert asyncio.run(kept(address)) == list(STORED)


def test_events_are_read_from_where_one_left_off(address: str) -> None:
    async def scenario() -> None:
        async with opened(address) as store:
            assert await events(store, after=len(STORED) - 2) == list(STORED[-2:])
            assert await events(store, after=len(STORED)) == []

    asyncio.run(fill(address, SEASON))
    asyncio.run(scenario())


def test_events_come_page_by_page(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> list[list[StoredEvent]]:
        async with opened(address) as store:
            return [page async for page in store.events(LEAGUE)]

    asyncio.run(fill(address, SEASON))
    monkeypatch.setattr("agent_league.store.store.PAGE", 7)
    pages = asyncio.run(scenario())
    assert [len(page) for page in pages[:-1]] == [7] * ((len(SEASON) - 1) // 7)
    assert [stored for page in pages for stored in page] == list(STORED)


def test_events_that_come_together_keep_their_order(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (_, sink):
            log = EventLog(sink)
            await asyncio.gather(*(log.append(recovered(n)) for n in range(500)))

    asyncio.run(scenario())
    assert asyncio.run(kept(address)) == [StoredEvent(n + 1, recovered(n)) for n in range(500)]


def test_they_are_acknowledged_in_order(address: str) -> None:
    async def scenario() -> list[int]:
        acknowledged: list[int] = []
        async with writing(address) as (_, sink):
            waiting = [
                asyncio.ensure_future(sink.keep(StoredEvent(n, recovered(n)))) for n in (1, 2, 3)
            ]
            for n, future in enumerate(waiting, 1):
                future.add_done_callback(partial(_note, acknowledged, n))
            await sink.keep()
        return acknowledged

    assert asyncio.run(scenario()) == [1, 2, 3]


def _note(acknowledged: list[int], n: int, _: object) -> None:
    acknowledged.append(n)


def test_many_that_wait_share_a_few_transactions(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[int] = []
    commit = SqliteWriter.commit

    async def counted(self: SqliteWriter, rows: Rows) -> None:
        commits.append(len(rows))
        await commit(self, rows)

    async def scenario() -> None:
        async with writing(address) as (_, sink):
            log = EventLog(sink)
            await asyncio.gather(*(log.append(recovered(n)) for n in range(1000)))

    monkeypatch.setattr(SqliteWriter, "commit", counted)
    asyncio.run(scenario())
    transactions = len(commits) or asyncio.run(_transactions(address))
    assert transactions <= 20
    assert len(asyncio.run(kept(address))) == 1000


async def _transactions(address: str) -> int:
    """Count the transactions that wrote the events: PostgreSQL notes them on each row."""
    connection = await asyncpg.connect(address)
    counted = await connection.fetchval(
        "SELECT COUNT(DISTINCT xmin::text) FROM agent_league.events"
    )
    await connection.close()
    return int(counted)


def test_what_can_happen_once_happens_once(address: str) -> None:
    async def scenario() -> list[bool]:
        async with writing(address) as (store, sink):
            log = EventLog(sink)
            took = [await log.append(SEASON[0]), await log.append(SEASON[0])]
            again = EventLog(sink)
            again.replay(await events(store))
            return [*took, await again.append(SEASON[0])]

    assert asyncio.run(scenario()) == [True, False, False]
    assert asyncio.run(kept(address)) == list(STORED[:1])


def test_a_once_key_holds_even_against_a_log_that_does_not_know_it(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (_, sink):
            await sink.keep(StoredEvent(1, SEASON[0]))
            with pytest.raises(StoreError):
                await sink.keep(StoredEvent(2, SEASON[0]))

    asyncio.run(scenario())
    assert asyncio.run(kept(address)) == list(STORED[:1])


def test_a_duplicate_is_refused_only_when_the_original_is_kept(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (store, sink):
            log = EventLog(sink)
            original = asyncio.ensure_future(log.append(SEASON[0]))
            await asyncio.sleep(0)
            assert await log.append(SEASON[0]) is False
            assert await events(store) == list(STORED[:1])
            assert await original is True

    asyncio.run(scenario())


def test_a_writer_that_is_cancelled_does_not_cancel_those_who_wait_with_it(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (_, sink):
            log = EventLog(sink)
            impatient = asyncio.ensure_future(log.append(SEASON[0]))
            await asyncio.sleep(0)
            duplicate = asyncio.ensure_future(log.append(SEASON[0]))
            await asyncio.sleep(0)
            impatient.cancel()
            assert await duplicate is False

    asyncio.run(scenario())
    assert asyncio.run(kept(address)) == list(STORED[:1])


def test_a_replayed_log_tells_what_was_appended(address: str) -> None:
    async def scenario() -> list[Event]:
        received: list[Event] = []
        async with writing(address) as (store, sink):
            log = EventLog(sink)
            log.listen(received.append)
            async for page in store.events(LEAGUE):
                log.replay(page)
            assert len(log) == len(SEASON)
            await log.append(recovered(1))
        return received

    asyncio.run(fill(address, SEASON))
    assert asyncio.run(scenario()) == [*SEASON, recovered(1)]
    assert asyncio.run(kept(address)) == [*STORED, StoredEvent(len(SEASON) + 1, recovered(1))]


def test_two_leagues_in_one_store_do_not_mix(address: str) -> None:
    async def scenario() -> None:
        async with writing(address, "cup") as (store, cup):
            plate = await store.open("plate / \N{GAME DIE}", "2025-01-14T10:00:00Z", "{}")
            logs = [EventLog(cup), EventLog(plate)]
            both = [log.append(recovered(n)) for n in range(50) for log in logs]
            await asyncio.gather(*both, logs[0].append(SEASON[0]), logs[1].append(SEASON[0]))
            for league_id in ("cup", "plate / \N{GAME DIE}"):
                found = await events(store, league_id)
                assert [stored.seq for stored in found] == list(range(1, 52))

    asyncio.run(scenario())


def test_a_store_lists_its_leagues_the_oldest_first(address: str) -> None:
    async def scenario() -> list[LeagueRow]:
        async with writing(address, "plate") as (store, _):
            await store.open("ancient", "2024-01-01T00:00:00Z", "{}")
            return await store.leagues()

    asyncio.run(fill(address, SEASON))
    assert asyncio.run(scenario()) == [
        LeagueRow("ancient", "2024-01-01T00:00:00Z", "{}", 0, 0),
        LeagueRow("cup", OPENED_AT, SETTINGS, 6, 1),
        LeagueRow("plate", OPENED_AT, SETTINGS, 0, 0),
    ]


def test_settings_are_those_the_league_was_made_with(address: str) -> None:
    async def scenario() -> None:
        async with opened(address) as store:
            await store.open(LEAGUE, OPENED_AT, '{"legs": 9}')
            assert await store.settings(LEAGUE) == SETTINGS
            with pytest.raises(StoreError, match="holds no league 'nowhere'"):
                await store.settings("nowhere")

    asyncio.run(fill(address, SEASON))
    asyncio.run(scenario())


def test_what_was_said_in_a_match_is_kept_with_its_end(address: str) -> None:
    async def scenario() -> None:
        async with opened(address) as store:
            assert json.loads(await store.transcript(LEAGUE, "R2M1") or "") == list(TRANSCRIPT)
            assert await store.transcript(LEAGUE, "R9M9") is None

    asyncio.run(fill(address, SEASON))
    asyncio.run(scenario())


def test_what_happened_in_some_matches_is_read_without_the_rest(address: str) -> None:
    async def scenario() -> None:
        async with opened(address) as store:
            found = await store.match_events(LEAGUE, ["R2M1", "R9M9"])
            wanted = [one for one in SEASON if getattr(one, "match_id", None) == "R2M1"]
            assert wanted
            assert [stored.event for stored in found] == wanted
            assert await store.match_events(LEAGUE, []) == []
            said = await store.transcripts(LEAGUE, ["R2M1", "R9M9"])
            assert {one: json.loads(body) for one, body in said.items()} == {
                "R2M1": list(TRANSCRIPT)
            }
            page = await store.read_page(LEAGUE, 2, 3)
            assert [stored.seq for stored in page] == [3, 4, 5]

    asyncio.run(fill(address, SEASON))
    asyncio.run(scenario())


def test_the_last_snapshot_is_the_one_that_counts(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (store, sink):
            assert await store.snapshot(LEAGUE) is None
            await store.save_snapshot(LEAGUE, 0, "{}")
            sink.keep(StoredEvent(1, recovered(1)))
            await store.save_snapshot(LEAGUE, 1, '{"a": 1}')
            assert [stored.seq for stored in await events(store)] == [1]
            assert await store.snapshot(LEAGUE) == (1, '{"a": 1}')
        async with opened(address) as store:
            await store.save_snapshot(LEAGUE, 1, "[]")
            assert await store.snapshot(LEAGUE) == (1, "[]")

    asyncio.run(scenario())


def test_a_snapshot_of_events_that_are_missing_is_damage(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (store, sink):
            await sink.keep(StoredEvent(1, recovered(1)))
            await store.save_snapshot(LEAGUE, 2, "{}")
            with pytest.raises(StoreError, match="1 of the first 2 events of cup are missing"):
                await store.snapshot(LEAGUE)

    asyncio.run(scenario())


def test_a_gap_in_the_events_is_damage(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (store, sink):
            await sink.keep(StoredEvent(1, recovered(1)), StoredEvent(3, recovered(3)))
            with pytest.raises(StoreError, match="1 of the first 3 events of cup are missing"):
                await events(store)

    asyncio.run(scenario())


def test_a_snapshot_that_cannot_be_kept_stops_nothing_else(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (store, sink):
            log = EventLog(sink)
            await _rename_snapshots(address, "snapshots", "away")
            for n in range(3):
                with pytest.raises(StoreError, match="snapshots"):
                    await store.save_snapshot(LEAGUE, n, "{}")
                assert await log.append(recovered(n))
            await _rename_snapshots(address, "away", "snapshots")
            await store.save_snapshot(LEAGUE, 3, "{}")
            assert await store.snapshot(LEAGUE) == (3, "{}")

    asyncio.run(scenario())
    assert asyncio.run(kept(address)) == [StoredEvent(n + 1, recovered(n)) for n in range(3)]


async def _rename_snapshots(address: str, before: str, after: str) -> None:
    if "://" not in address:
        with closing(sqlite3.connect(address)) as database:
            database.execute(f"ALTER TABLE {before} RENAME TO {after}")
        return
    connection = await asyncpg.connect(address)
    await connection.execute(f"ALTER TABLE agent_league.{before} RENAME TO {after}")
    await connection.close()


def test_a_second_writer_is_refused_and_told_who_writes(address: str) -> None:
    async def scenario() -> None:
        async with writing(address), opened(address) as second:
            with pytest.raises(StoreError, match=rf"is being run by .*pid {os.getpid()}\b"):
                await second.open(LEAGUE, OPENED_AT, SETTINGS)
            await second.open("another", OPENED_AT, SETTINGS)
        async with writing(address):
            pass  # whoever closes lets go

    asyncio.run(scenario())


@pytest.mark.processes
def test_a_writer_that_was_killed_has_let_go(address: str) -> None:
    async def refused() -> None:
        async with opened(address) as store:
            with pytest.raises(StoreError, match=rf"pid {holder.pid}\b"):
                await store.open(LEAGUE, OPENED_AT, SETTINGS)

    async def taken() -> None:
        async with writing(address):
            pass

    with process("writer", address, "0") as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "open\n"
        asyncio.run(refused())
        holder.kill()
    asyncio.run(taken())


def test_nothing_is_kept_after_an_event_that_was_lost(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (_, sink):
            forgetful = EventLog(sink)  # it does not know what is there, so its event collides
            for n in (1, 2):
                with pytest.raises(StoreError):
                    await forgetful.append(recovered(n))
            with pytest.raises(StoreError):
                await forgetful.flush()
            with pytest.raises(StoreError):
                await sink.keep(StoredEvent(len(SEASON) + 1, recovered(3)))

    asyncio.run(fill(address, SEASON))
    asyncio.run(scenario())
    assert asyncio.run(kept(address)) == list(STORED)


def test_an_event_that_cannot_be_written_ends_the_log(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (_, sink):
            log = EventLog(sink)
            await log.append(SEASON[0])
            with pytest.raises(StoreError, match="event 2 cannot be written down"):
                await log.append(AgentRecovered(at=OPENED_AT, agent_id="\ud800"))
            with pytest.raises(StoreError, match="event 2 cannot be written down"):
                await log.append(recovered(3))

    asyncio.run(scenario())
    assert asyncio.run(kept(address)) == list(STORED[:1])


def test_a_closed_store_writes_nothing(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (_, sink):
            await sink.keep(STORED[0])
        with pytest.raises(StoreError, match="is closed"):
            await sink.keep(STORED[1])

    asyncio.run(scenario())
    assert asyncio.run(kept(address)) == list(STORED[:1])


def test_closing_waits_for_what_is_on_its_way(address: str) -> None:
    async def scenario() -> None:
        async with writing(address) as (_, sink):
            log = EventLog(sink)
            for event in SEASON:
                asyncio.ensure_future(log.append(event))  # noqa: RUF006 - nobody waits for it
            await asyncio.sleep(0)

    asyncio.run(scenario())
    assert asyncio.run(kept(address)) == list(STORED)


def test_a_store_of_a_newer_version_is_refused(address: str) -> None:
    async def scenario() -> None:
        async with opened(address) as store:
            await store.leagues()

    asyncio.run(fill(address, SEASON))
    asyncio.run(_make_newer(address))
    with pytest.raises(StoreError, match="version 99, this program knows 3: use a newer"):
        asyncio.run(scenario())


async def _make_newer(address: str) -> None:
    if "://" not in address:
        with sqlite3.connect(address) as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
        return
    connection = await asyncpg.connect(address)
    await connection.execute("UPDATE agent_league.store_version SET version = 99")
    await connection.close()


def test_many_may_open_a_new_store_at_once(address: str) -> None:
    async def scenario() -> None:
        stores = [await asyncio.to_thread(store_at, address) for _ in range(8)]
        assert await asyncio.gather(*(store.leagues() for store in stores)) == [[]] * 8
        for store in stores:
            await store.close()

    asyncio.run(scenario())


def test_a_store_says_where_it_is_without_a_password(address: str) -> None:
    name = store_at(address).name
    assert "secret" not in name
    assert name.rpartition("/")[2] == address.rpartition("/")[2]
