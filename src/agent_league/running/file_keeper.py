"""Keeps the files of a league up to date while it is played."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import ceil

import msgspec

from agent_league.files import FileUpdater, JsonLogger
from agent_league.league import LeagueManager
from agent_league.protocol import LeagueError, name
from agent_league.running.folder import Folder
from agent_league.season.settings import LeagueSettings
from agent_league.store import Event, StoreError
from agent_league.store.chain import hide_secrets
from agent_league.vocabulary import Json

log = logging.getLogger("agent_league")
WRITE_INTERVAL = 5.0
"""Seconds between two updates of the files: they are views, the store is what counts."""
EVENTS_TOGETHER = 16
"""So many events go into the log in a row: that takes half as long as one by one."""
FLUSH_INTERVAL = 1.0
"""Seconds that an entry of the league's log may stay in memory."""
WRITE_TIME_DIVISOR = 10
"""The files of a large league take long to write; that may take a tenth of the time."""
FINISH_TIMEOUT = 5.0
"""Seconds for which a league that is over waits for its files."""


class FileKeeper:
    """Writes every event after the opening into the league's log, and brings the files up to date.

    For the files it reads the store in a thread of its own, so the league never waits for the
    disk, nor for the events from before this run.
    """

    def __init__(
        self, settings: LeagueSettings, folder: Folder, turn: asyncio.Lock | None = None
    ) -> None:
        """Whoever holds the *turn* writes; several leagues of a process take turns."""
        self._folder, self._turn = folder, turn or asyncio.Lock()
        self._files = FileUpdater(settings, folder.shared)
        self._log = JsonLogger("league", settings.league_id, folder.shared / "logs", buffered=True)
        self._events: list[Event] = []
        """Those that are not in the log yet."""
        self.changed = asyncio.Event()
        self._writing: asyncio.Future[bool] | None = None
        self._deadline = float("inf")
        self._warned = False

    def log_event(self, event: Event) -> None:
        self._events.append(event)
        if len(self._events) >= EVENTS_TOGETHER:
            self._log_events()

    def _log_events(self) -> None:
        events, self._events = self._events, []
        for event in events:
            fields: dict[str, Json] = hide_secrets(msgspec.structs.asdict(event))
            self._log.add(name(type(event)), "INFO", fields, at=fields.pop("at"))

    def _flush_log(self) -> None:
        self._log_events()
        self._log.flush()

    async def run(self) -> None:
        """Write what has changed every few seconds."""
        pause = WRITE_INTERVAL
        while True:
            await self.changed.wait()
            await self._flush_log_during(pause)
            self.changed.clear()
            started_at = time.monotonic()
            await self._wait_for_write()
            pause = max(WRITE_INTERVAL, WRITE_TIME_DIVISOR * (time.monotonic() - started_at))
            self._flush_log()

    async def _flush_log_during(self, seconds: float) -> None:
        """Wait so long; write the log every second meanwhile."""
        for part in range(ceil(seconds / FLUSH_INTERVAL), 0, -1):
            await asyncio.sleep(seconds / part)
            seconds -= seconds / part
            self._flush_log()

    async def finish(self) -> None:
        """Write what is left, or say which command will."""
        self._deadline = time.monotonic() + FINISH_TIMEOUT
        await self._wait_for_write()  # it may have begun before the last event
        if not await self._wait_for_write():
            log.warning("The files are not up to date; to write them: league export")
        self._log_events()
        self._log.close()

    async def _wait_for_write(self) -> bool:
        """Wait for the thread that writes; it goes on even if this call is cancelled."""
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write_in_turn())
        return await asyncio.shield(self._writing)

    async def _write_in_turn(self) -> bool:
        async with self._turn:
            return await asyncio.to_thread(self._write)

    def _write(self) -> bool:
        async def catch_up() -> bool:
            async with self._folder.read_store() as store:
                return await self._files.catch_up(store, lambda: time.monotonic() > self._deadline)

        try:
            complete = asyncio.run(catch_up())
        except LeagueError as error:
            if not self._warned:
                log.warning("The files were not written, and will be later: %s", error)
            self._warned = True
            return False
        self._warned = False
        return complete


@asynccontextmanager
async def keep_files(
    manager: LeagueManager, folder: Folder, turn: asyncio.Lock | None = None
) -> AsyncIterator[FileKeeper | None]:
    """Keep the files of a league up to date during a context that begins before it is opened."""
    if folder.is_in_memory:
        yield None
        return
    keeper = FileKeeper(manager.settings, folder, turn)
    manager.events.listen(lambda _: keeper.changed.set(), needs_all_events=False)
    task = asyncio.ensure_future(keeper.run())
    try:
        yield keeper
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        with suppress(StoreError):
            await manager.events.flush()  # the keeper reads the store
        await keeper.finish()
