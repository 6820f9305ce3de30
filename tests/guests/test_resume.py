"""A league that was interrupted takes its guests in again: same ids, same tokens."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from agent_league.guests import GuestDesk
from agent_league.league import LeagueManager
from agent_league.protocol import Role
from agent_league.season.snapshots import copy_season
from agent_league.serving.site import make_site
from agent_league.store import EventLog
from agent_league.store.log import Sink, StoredEvent
from agent_league.store.store import Store
from guests.guest_box import Caller, GuestBox, caller
from league_box import LEAGUE_URL
from timewarp import clock, run

ELSEWHERE = "http://moved/mcp"


async def opened(box: GuestBox, store: Store, url: str) -> None:
    """Give the box a manager that goes on with what *store* holds, at *url*."""
    box.manager = LeagueManager(box.settings, box.net, EventLog(), clock=clock)
    box.desk = GuestDesk(box.manager, url)
    await box.manager.open(store)
    box.net.host(url, make_site(box.manager))


async def interrupted(box: GuestBox, store: Store) -> None:
    """Play until a guest has a turn and one of its matches is over; then fall silent."""
    await opened(box, store, LEAGUE_URL)
    await box.open()
    await box.fill()
    (guest,) = box.callers
    await guest.join(model="m")
    playing = asyncio.ensure_future(box.manager.run())
    await guest.move(await guest.turn(), "odd")
    await guest.turn()
    playing.cancel()
    await asyncio.wait([playing])
    await box.manager.close()
    box.net.unhost(LEAGUE_URL)
    for one in box.desk._guests.values():  # no call outlives the process that answers it
        one.mailbox.give_up()


async def resumed(box: GuestBox, store: Store, url: str) -> Caller:
    await opened(box, store, url)
    (before,) = box.callers
    guest = caller(box.net, "again", url)
    guest.token, guest.player_id = before.token, before.player_id
    for referee in box.referees:
        referee.league_url = url
    season = asyncio.ensure_future(box.manager.run())
    await guest.play()
    await season
    await box.close()
    return guest


class Pen:
    """Keeps at once whatever it is given."""

    def __init__(self, events: list[StoredEvent]) -> None:
        self.events = events
        self.on_failure: object = None

    async def keep(self, *stored: StoredEvent, may_wait: bool = False) -> None:
        self.events.extend(stored)


class Shelf:
    """A store in memory: no thread, so that a test owns the time; only what a league asks for."""

    def __init__(self) -> None:
        self._events: list[StoredEvent] = []
        self._snapshot: tuple[int, str] | None = None

    async def signing_key(self, league_id: str, new_key: str) -> str:
        return "the key of the league"

    async def open(self, league_id: str, opened_at: str, settings: str) -> Sink:
        self._events = list(self._events)  # whoever wrote before writes here no more
        return Pen(self._events)

    async def events(self, league_id: str, after: int = 0) -> AsyncIterator[list[StoredEvent]]:
        yield [stored for stored in self._events if stored.seq > after]

    async def snapshot(self, league_id: str) -> tuple[int, str] | None:
        return self._snapshot

    async def save_snapshot(self, league_id: str, seq: int, body: str) -> None:
        self._snapshot = (seq, body)


async def at_once(work: Callable[[], str]) -> str:
    """Do what would be done in a thread."""
    return work()


@pytest.mark.parametrize("away", [0, 20, 300], ids="away for {} s".format)
@pytest.mark.parametrize("snapshot", [True, False], ids=["from a snapshot", "from its events"])
@pytest.mark.parametrize("url", [LEAGUE_URL, ELSEWHERE], ids=["where it was", "at another address"])
def test_a_guest_goes_on_with_the_token_that_it_has(
    url: str, snapshot: bool, away: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio, "to_thread", at_once)
    box = GuestBox(("random", "random"), legs=2)

    async def main() -> Caller:
        store: Any = Shelf()
        await interrupted(box, store)
        if snapshot:
            seq, season = len(box.manager.events), box.season
            await store.save_snapshot(box.settings.league_id, seq, copy_season(season).encode())
        await asyncio.sleep(away)  # a referee has long given the guest up, and wants to say so
        return await resumed(box, store, url)

    guest = run(main())
    assert box.season.played == 6
    assert box.season.tally["TECHNICAL_LOSS"] == 0
    entry = box.season.roster[guest.player_id]
    assert (entry.guest, entry.model) == (True, "m")
    assert entry.endpoint.startswith(url.removesuffix("mcp") + "guests/")
    assert len(box.season.roster.of(Role.PLAYER)) == 3
