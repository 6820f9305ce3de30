"""A league whose process is killed finds everything that it had been told is kept."""

import asyncio
import itertools
import signal
from random import Random

import pytest

from agent_league.store import EventLog, Stored
from store.books import events, kept, process, writing
from store.crasher import DEADLY, EVENTS, POINTS
from store.samples import recovered


@pytest.mark.parametrize("seed", range(5))
def test_what_was_acknowledged_survives_the_death_of_the_writer(address: str, seed: int) -> None:
    rng = Random(seed)
    with process("writer", address, str(rng.choice([1, 10, 100]))) as writer:
        assert writer.stdout
        heard = list(itertools.islice(writer.stdout, rng.randint(2, 400)))
        writer.kill()
        heard += writer.stdout.readlines()
    acknowledged = [int(line) for line in heard[1:]]
    found = asyncio.run(kept(address))
    assert found == [Stored(seq, recovered(seq)) for seq in range(1, len(found) + 1)]
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
    everything = [Stored(seq, event) for seq, event in enumerate(EVENTS, 1)]
    assert asyncio.run(kept(address)) == everything[:there]
    assert asyncio.run(_resumed(address)) == [n >= there for n in range(len(EVENTS))]
    assert asyncio.run(kept(address)) == everything


async def _resumed(address: str) -> list[bool]:
    """Do it all again; tell what was new."""
    async with writing(address) as (store, sink):
        log = EventLog(sink)
        log.replay(await events(store))
        return [await log.append(event) for event in EVENTS]
