"""The files of a league, kept beside its store while it is played."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from agent_league.cli.folder import Folder
from agent_league.league import LeagueManager, LeagueSettings
from agent_league.protocol import LeagueError
from agent_league.sdk import JsonLogger, Upkeep
from agent_league.store import Event, StoreError
from agent_league.vocabulary import Json

log = logging.getLogger("agent_league")
BETWEEN = 5.0
"""Seconds between two writings of the files: they are views, the store is what counts."""
SHARE = 10
"""The files of a large league take long to write, and may take one part in so many of the time."""
LAST = 5.0
"""Seconds for which a league that is over waits for its files."""


class Clerk:
    """Writes what happens into the league's log, and brings the files up to date.

    For the files it reads the store, as anybody may, in a thread of its own: the league waits
    neither for the disk nor until a clerk who comes late has heard everything.
    """

    def __init__(self, settings: LeagueSettings, folder: Folder) -> None:
        self._folder = folder
        self._files = Upkeep(settings, folder.shared)
        self._log = JsonLogger("league", settings.league_id, folder.shared / "logs")
        self._news = asyncio.Event()
        self._reading: asyncio.Future[bool] | None = None
        self._until = float("inf")
        self._complained = False

    def heard(self, event: Event) -> None:
        self._news.set()

    def noted(self, event: Event) -> None:
        fields: dict[str, Json] = msgspec.to_builtins(event)
        kind = str(fields.pop("event"))
        self._log.info(kind, **{key: value for key, value in fields.items() if key != "at"})

    async def work(self) -> None:
        """Write what has changed, again and again."""
        pause = BETWEEN
        while True:
            await self._news.wait()
            await asyncio.sleep(pause)
            self._news.clear()
            begun = time.monotonic()
            await self._written()
            pause = max(BETWEEN, SHARE * (time.monotonic() - begun))
            self._log.flush()

    async def leave(self) -> None:
        """Write what is left to write, or say what will."""
        self._until = time.monotonic() + LAST
        await self._written()  # which may have begun before the last event
        if not await self._written():
            log.warning("The files are not up to date; to write them: league export")
        self._log.close()

    async def _written(self) -> bool:
        """Wait for the thread that writes, which goes on even if nobody waits any more."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.ensure_future(asyncio.to_thread(self._write))
        return await asyncio.shield(self._reading)

    def _write(self) -> bool:
        try:
            whole = asyncio.run(self._caught_up())
        except LeagueError as error:
            if not self._complained:
                log.warning("The files were not written, and will be later: %s", error)
            self._complained = True
            return False
        self._complained = False
        return whole

    async def _caught_up(self) -> bool:
        async with self._folder.store() as store:
            return store is None or await self._files.catch_up(store, self._enough)

    def _enough(self) -> bool:
        return time.monotonic() > self._until


@asynccontextmanager
async def bookkeeping(manager: LeagueManager, folder: Folder) -> AsyncIterator[Clerk | None]:
    """Keep the files of a league for the time of a context, which begins before it is opened."""
    if folder.forgetful:
        yield None
        return
    clerk = Clerk(manager.settings, folder)
    manager.events.listen(clerk.heard, whole=False)
    working = asyncio.ensure_future(clerk.work())
    try:
        yield clerk
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        with suppress(StoreError):
            await manager.events.settled()  # the clerk reads what is kept, not what is said
        await clerk.leave()
