"""A league that was interrupted takes its guests in again: same ids, same tokens."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import pytest

from agent_league.guests import GuestHouse
from agent_league.league import LeagueManager
from agent_league.league.snapshots import taken
from agent_league.protocol import Role
from agent_league.store import EventLog
from agent_league.store.log import Sink, Store, Stored
from guests.lounge import Caller, Lounge, caller
from league_box import LEAGUE_URL
from timewarp import clock, run

ELSEWHERE = "http://moved/mcp"


async def opened(lounge: Lounge, store: Store, url: str) -> None:
    """Give the lounge a manager that goes on with what *store* holds, at *url*."""
    lounge.manager = LeagueManager(lounge.settings, lounge.net, EventLog(), clock=clock)
    lounge.house = GuestHouse(lounge.manager, url)
    await lounge.manager.open(store)
    lounge.net.host(url, lounge.manager.site())


async def interrupted(lounge: Lounge, store: Store) -> None:
    """Play until a guest has a turn and one of its matches is over; then fall silent."""
    await opened(lounge, store, LEAGUE_URL)
    await lounge.open()
    await lounge.fill()
    (guest,) = lounge.callers
    await guest.join(model="m")
    playing = asyncio.ensure_future(lounge.manager.run())
    await guest.move(await guest.turn(), "odd")
    await guest.turn()
    playing.cancel()
    await asyncio.wait([playing])
    await lounge.manager.close()
    lounge.net.unhost(LEAGUE_URL)
    for one in lounge.house._by_id.values():  # no call outlives the process that answers it
        one.mailbox.give_up()


async def resumed(lounge: Lounge, store: Store, url: str) -> Caller:
    await opened(lounge, store, url)
    (before,) = lounge.callers
    guest = caller(lounge.net, "again", url)
    guest.token, guest.player_id = before.token, before.player_id
    for referee in lounge.referees:
        referee.league_url = url
    season = asyncio.ensure_future(lounge.manager.run())
    await guest.play()
    await season
    await lounge.close()
    return guest


class Pen(NamedTuple):
    """Keeps at once whatever it is given."""

    events: list[Stored]

    async def keep(self, *stored: Stored) -> None:
        self.events.extend(stored)

    async def settled(self) -> None:
        """Nothing is on its way."""


class Shelf:
    """A store in memory: no thread, so that a test owns the time; only what a league asks for."""

    def __init__(self) -> None:
        self._events: list[Stored] = []
        self._snapshot: tuple[int, str] | None = None

    async def open(self, league_id: str, opened_at: str, settings: str) -> Sink:
        self._events = list(self._events)  # whoever wrote before writes here no more
        return Pen(self._events)

    async def events(self, league_id: str, after: int = 0) -> AsyncIterator[list[Stored]]:
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
    lounge = Lounge(("random", "random"), legs=2)

    async def main() -> Caller:
        store: Any = Shelf()
        await interrupted(lounge, store)
        if snapshot:
            seq, season = len(lounge.manager.events), lounge.season
            await store.save_snapshot(lounge.settings.league_id, seq, taken(season).written())
        await asyncio.sleep(away)  # a referee has long given the guest up, and wants to say so
        return await resumed(lounge, store, url)

    guest = run(main())
    assert lounge.season.played == 6
    assert lounge.season.tally["TECHNICAL_LOSS"] == 0
    entry = lounge.season.roster[guest.player_id]
    assert (entry.guest, entry.model) == (True, "m")
    assert entry.endpoint.startswith(url.removesuffix("mcp") + "guests/")
    assert len(lounge.season.roster.of(Role.PLAYER)) == 3
