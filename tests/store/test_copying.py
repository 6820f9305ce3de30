"""A league is copied from one store to another, of any kind, and is the same there."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from agent_league.store import StoreError
from agent_league.store.copying import copy_leagues
from agent_league.store.store import RecordedEvent, Store
from store.books import fill, opened
from store.samples import LEAGUE, SEASON


@asynccontextmanager
async def both(source: str, target: str) -> AsyncIterator[tuple[Store, Store]]:
    async with opened(source) as one, opened(target) as other:
        yield one, other


async def read(store: Store) -> list[RecordedEvent]:
    return [event async for event in store.record(LEAGUE)]


def test_a_copy_has_every_event_message_link_and_key(address: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        middle = str(tmp_path / "middle.db")
        await fill(str(tmp_path / "first.db"), SEASON)
        async with both(str(tmp_path / "first.db"), middle) as (first, copy):
            await copy_leagues(first, copy)
            before, settings = await read(first), await first.settings(LEAGUE)
        async with both(middle, address) as (copy, target):
            assert await copy_leagues(copy, target) == {LEAGUE: len(SEASON)}
            assert await read(target) == before
            assert await target.settings(LEAGUE) == settings

    asyncio.run(scenario())


def test_a_copied_league_signs_with_the_same_key_and_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        source, target = str(tmp_path / "one.db"), str(tmp_path / "two.db")
        async with opened(source) as store:
            writer = await store.open(LEAGUE, "2025-01-15T10:00:00Z", "{}")
            assert await store.signing_key(LEAGUE, "secret") == "secret"
            await writer.keep()
        async with both(source, target) as (one, other):
            await copy_leagues(one, other)
        async with opened(target) as store:
            await store.open(LEAGUE, "2025-01-15T10:00:00Z", "{}")
            assert await store.signing_key(LEAGUE, "another") == "secret"

    asyncio.run(scenario())


def test_a_league_that_is_there_already_is_not_touched(address: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        source = str(tmp_path / "source.db")
        await fill(source, SEASON)
        await fill(address, SEASON[:3])
        async with both(source, address) as (one, other):
            before = await read(other)
            with pytest.raises(StoreError, match="already: nothing was restored"):
                await copy_leagues(one, other)
            assert await read(other) == before

    asyncio.run(scenario())


def test_a_store_that_lacks_an_event_is_not_copied(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = tmp_path / "source.db"
        await fill(str(source), SEASON)
        with closing(sqlite3.connect(source)) as database, database:
            database.execute("DELETE FROM events WHERE seq = 4")
        async with both(str(source), str(tmp_path / "target.db")) as (one, other):
            with pytest.raises(StoreError, match="is damaged"):
                await copy_leagues(one, other)

    asyncio.run(scenario())
