"""A league whose process is killed finds everything that it had been told is kept."""

import asyncio
import itertools
import signal

import pytest

from agent_league.store import EventLog, StoredEvent
from store.books import events, kept, process, writing
from store.crasher import DEADLY, EVENTS, POINTS
from store.samples import recovered

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("batch", [1, 100])
def test_what_was_acknowledged_survives_the_death_of_the_writer(address: str, batch: int) -> None:
    with process("writer", address, str(batch)) as writer:
        assert writer.stdout
        lines = list(itertools.islice(writer.stdout, 150))
        writer.kill()
        lines += writer.stdout.readlines()
    acknowledged = [int(line) for line in lines[1:]]
    found = asyncio.run(kept(address))
    assert found == [StoredEvent(seq, recovered(seq)) for seq in range(1, len(found) + 1)]
    assert acknowledged
    assert max(acknowledged) <= len(found)


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_leaves_a_season_that_was_once_true(address: str, point: str) -> None:
    with process("crasher", address, point) as crasher:
        assert crasher.stdout
        acknowledged = [int(line) for line in crasher.stdout]
    assert crasher.returncode == -signal.SIGKILL
    assert acknowledged == list(range(1, DEADLY))
    there = DEADLY if point == "before acknowledgement" else DEADLY - 1
    everything = [StoredEvent(seq, event) for seq, event in enumerate(EVENTS, 1)]
    assert asyncio.run(kept(address)) == everything[:there]
    assert asyncio.run(_resumed(address)) == [n >= there for n in range(len(EVENTS))]
    assert asyncio.run(kept(address)) == everything


async def _resumed(address: str) -> list[bool]:
    """Do it all again; tell what was new."""
    async with writing(address) as (store, sink):
        log = EventLog(sink)
        log.replay(await events(store))
        return [await log.append(event) for event in EVENTS]
