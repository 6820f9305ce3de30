"""The log itself, over a sink that keeps when the test says so."""

import asyncio
from collections.abc import Awaitable

import pytest

from agent_league.store import EventLog, StoredEvent, StoreError
from agent_league.store.events import AgentRecovered, Event
from agent_league.store.log import NOTE_DELAY_S
from store.samples import SEASON, STORED, recovered
from timewarp import run


class Gate:
    """A sink that keeps nothing until it is opened, and fails if it is broken."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.broken = False
        self.asked: list[StoredEvent] = []

    def keep(self, *kept: StoredEvent, may_wait: bool = False) -> Awaitable[None]:
        self.asked.extend(kept)
        return self._wait()

    async def _wait(self) -> None:
        await self.opened.wait()
        if self.broken:
            raise StoreError("the disk is full")


def test_an_event_is_heard_at_once_and_acknowledged_when_kept() -> None:
    async def scenario() -> None:
        gate = Gate()
        received: list[Event] = []
        log = EventLog(gate)
        log.listen(received.append)
        appending = asyncio.ensure_future(log.append(SEASON[0]))
        await asyncio.sleep(1)
        assert received == [SEASON[0]]
        assert gate.asked == [STORED[0]]
        assert not appending.done()
        gate.opened.set()
        assert await appending

    run(scenario())


def test_who_names_a_kind_of_event_hears_only_of_that() -> None:
    received: list[Event] = []
    everything: list[Event] = []
    log = EventLog()
    log.listen(received.append, type(SEASON[0]))
    log.replay(STORED[:2])
    log.listen(everything.append)
    log.replay(STORED[:2])
    assert received == [SEASON[0], SEASON[0]]
    assert everything == [*SEASON[:2]]


def test_a_duplicate_waits_until_the_original_is_kept() -> None:
    async def scenario() -> None:
        gate = Gate()
        log = EventLog(gate)
        both = [asyncio.ensure_future(log.append(SEASON[0])) for _ in range(2)]
        await asyncio.sleep(1)
        assert not any(appending.done() for appending in both)
        gate.opened.set()
        assert await asyncio.gather(*both) == [True, False]
        assert gate.asked == [STORED[0]]

    run(scenario())


def test_a_duplicate_of_an_event_that_is_lost_is_not_acknowledged() -> None:
    async def scenario() -> None:
        gate = Gate()
        gate.broken = True
        log = EventLog(gate)
        both = [asyncio.ensure_future(log.append(SEASON[0])) for _ in range(2)]
        gate.opened.set()
        for outcome in await asyncio.gather(*both, return_exceptions=True):
            assert isinstance(outcome, StoreError)

    run(scenario())


def test_a_log_without_a_sink_lives_as_long_as_its_process() -> None:
    async def scenario() -> None:
        log = EventLog()
        assert await log.append(recovered(1))
        await log.flush()
        assert len(log) == 1

    run(scenario())


def test_a_replayed_event_is_heard_and_not_kept_again() -> None:
    async def scenario() -> None:
        gate = Gate()
        gate.opened.set()
        received: list[Event] = []
        log = EventLog(gate)
        log.listen(received.append)
        log.replay(STORED)
        assert received == list(SEASON)
        assert gate.asked == []
        await log.append(recovered(1))
        assert gate.asked == [StoredEvent(len(SEASON) + 1, recovered(1))]

    run(scenario())


def test_what_is_only_noted_shares_the_sync_of_what_follows_it() -> None:
    async def scenario() -> None:
        gate = Gate()
        log = EventLog(gate)
        log.note(SEASON[0])
        assert gate.asked == []
        appending = asyncio.ensure_future(log.append(SEASON[1]))
        await asyncio.sleep(0)
        assert gate.asked == list(STORED[:2])
        gate.opened.set()
        await appending
        await asyncio.sleep(1)
        assert gate.asked == list(STORED[:2])

    run(scenario())


def test_what_is_noted_is_kept_soon_though_nothing_follows() -> None:
    async def scenario() -> None:
        gate = Gate()
        gate.opened.set()
        log = EventLog(gate)
        log.note(SEASON[0])
        log.note(SEASON[1])
        await asyncio.sleep(2 * NOTE_DELAY_S)
        assert gate.asked == list(STORED[:2])
        log.note(SEASON[2])
        await log.flush()
        assert gate.asked == list(STORED[:3])

    run(scenario())


def test_what_is_noted_after_another_event_was_kept_has_its_own_time() -> None:
    async def scenario() -> None:
        gate = Gate()
        gate.opened.set()
        log = EventLog(gate)
        log.note(SEASON[0])
        await log.append(SEASON[1])
        await asyncio.sleep(0.9 * NOTE_DELAY_S)
        log.note(SEASON[2])
        await asyncio.sleep(0.9 * NOTE_DELAY_S)
        assert gate.asked == list(STORED[:2])
        await asyncio.sleep(1.1 * NOTE_DELAY_S)
        assert gate.asked == list(STORED[:3])

    run(scenario())


def test_a_listener_for_kept_events_is_called_when_the_event_is_kept_and_not_before() -> None:
    async def scenario() -> None:
        gate = Gate()
        kept: list[Event] = []
        log = EventLog(gate)
        log.when_kept(type(SEASON[0]), kept.append)
        log.when_kept(AgentRecovered, kept.append)
        log.note(SEASON[0])
        appending = asyncio.ensure_future(log.append(recovered(1)))
        await asyncio.sleep(1)
        assert kept == []
        gate.opened.set()
        assert await appending
        assert kept == [SEASON[0], recovered(1)]

    run(scenario())


def test_a_listener_for_kept_events_learns_of_events_that_were_only_noted() -> None:
    async def scenario() -> None:
        kept: list[Event] = []
        log = EventLog()
        log.when_kept(AgentRecovered, kept.append)
        log.note(recovered(1))
        await asyncio.sleep(2 * NOTE_DELAY_S)
        assert kept == [recovered(1)]

    run(scenario())


def test_a_listener_for_kept_events_is_not_called_for_replays_duplicates_or_lost_events() -> None:
    async def scenario() -> None:
        gate, kept = Gate(), list[Event]()
        gate.opened.set()
        log = EventLog(gate)
        for kind in {type(event) for event in SEASON}:
            log.when_kept(kind, kept.append)
        log.replay(STORED)
        assert not await log.append(SEASON[0])
        gate.broken = True
        log.when_kept(AgentRecovered, kept.append)
        with pytest.raises(StoreError):
            await log.append(recovered(1))
        assert kept == []

    run(scenario())


def test_an_event_is_acted_on_though_nobody_waits_for_it_any_more() -> None:
    async def scenario() -> None:
        gate, acted_on = Gate(), list[Event]()
        log = EventLog(gate)
        log.when_kept(type(recovered(1)), acted_on.append)
        appending = asyncio.ensure_future(log.append(recovered(1)))
        await asyncio.sleep(0.01)
        appending.cancel()
        gate.opened.set()
        await asyncio.sleep(0.01)
        assert appending.cancelled()
        assert acted_on == [recovered(1)]

    run(scenario())
