"""What the tests of every store do: open one, fill it, read it, ask another process to."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from agent_league.store.addresses import store_at
from agent_league.store.events import Event
from agent_league.store.log import EventLog, Sink, StoredEvent
from agent_league.store.store import Store
from store.samples import LEAGUE, OPENED_AT, SETTINGS, get_transcript

TESTS = Path(__file__).parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TESTS)}
"""In which another process finds the programs of the tests."""


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[Store]:
    store = store_at(address)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def writing(address: str, league_id: str = LEAGUE) -> AsyncIterator[tuple[Store, Sink]]:
    async with opened(address) as store:
        yield store, await store.open(league_id, OPENED_AT, SETTINGS)


async def events(store: Store, league_id: str = LEAGUE, after: int = 0) -> list[StoredEvent]:
    return [stored async for page in store.events(league_id, after) for stored in page]


async def kept(address: str, league_id: str = LEAGUE) -> list[StoredEvent]:
    async with opened(address) as store:
        return await events(store, league_id)


async def fill(address: str, season: Iterable[Event], league_id: str = LEAGUE) -> None:
    async with writing(address, league_id) as (_, sink):
        log = EventLog(sink)
        for event in season:
            assert await log.append(event, get_transcript(event))


def process(module: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start one of the programs beside this file."""
    return subprocess.Popen(
        [sys.executable, "-m", f"store.{module}", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
