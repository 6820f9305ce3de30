"""The files of a league, kept beside its store while it is played."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from agent_league.cli.folder import Folder
from agent_league.league import LeagueManager
from agent_league.sdk import FileViews, JsonLogger
from agent_league.store import Event
from agent_league.vocabulary import Json

BETWEEN = 5.0
"""Seconds between two writings of the files: they are views, the store is what counts."""


class Clerk:
    """Hears what happens, writes it into the league's log, and brings the files up to date."""

    def __init__(self, manager: LeagueManager, folder: Folder) -> None:
        league_id = manager.settings.league_id
        self._views = FileViews(manager.season, folder.shared)
        self._log = JsonLogger("league", league_id, folder.shared / "logs")
        self._dirty = asyncio.Event()

    def heard(self, event: Event) -> None:
        self._views.heard(event)
        self._dirty.set()

    def noted(self, event: Event) -> None:
        fields: dict[str, Json] = msgspec.to_builtins(event)
        kind = str(fields.pop("event"))
        self._log.info(kind, **{key: value for key, value in fields.items() if key != "at"})

    async def work(self) -> None:
        """Write what has changed, again and again, in a thread of its own."""
        while True:
            await self._dirty.wait()
            await asyncio.sleep(BETWEEN)
            self._dirty.clear()
            await self.write()

    async def write(self) -> None:
        writes = list(self._views.due().values())
        await asyncio.to_thread(lambda: [write() for write in writes])
        self._log.flush()

    def close(self) -> None:
        self._log.close()


@asynccontextmanager
async def bookkeeping(manager: LeagueManager, folder: Folder) -> AsyncIterator[Clerk | None]:
    """Keep the files of a league for the time of a context, which begins before it is opened."""
    if folder.forgetful:
        yield None
        return
    clerk = Clerk(manager, folder)
    manager.events.listen(clerk.heard)
    working = asyncio.ensure_future(clerk.work())
    try:
        yield clerk
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        await clerk.write()
        clerk.close()
