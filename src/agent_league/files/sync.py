"""Brings the files of a stored league up to date, whichever process writes its events."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agent_league.chance import commit_to
from agent_league.files.layout import Layout
from agent_league.files.reading import ConfigError
from agent_league.files.repositories import JsonFile
from agent_league.files.views import FileViews
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.log import StoredEvent, apply_events
from agent_league.store.store import Store


class Progress(Struct, frozen=True, kw_only=True):
    """`state/<league_id>/files.json`: the last event that the files of a league contain."""

    seq: int
    opened: str
    """When that season was opened, and the hash of its secret: a later season may have the same name."""


class FileUpdater:
    """Reads new events from a store. Files that an earlier process wrote are not written again.

    If `standings.json` is missing, all files are written again.
    """

    def __init__(self, settings: LeagueSettings, root: Path) -> None:
        self._settings, self._root = settings, root
        self._layout = Layout(root)
        self._file = JsonFile(Progress, self._layout.progress(settings.league_id))
        self._reset(trust_files=True)

    def _reset(self, *, trust_files: bool) -> None:
        self._season = Season(self._settings)
        self._views = FileViews(self._season, self._root)
        self._trust_files = trust_files
        self._done = Progress(seq=0, opened="")
        self._seq = 0
        self._opened = ""

    async def catch_up(self, store: Store, should_stop: Callable[[], bool] = lambda: False) -> bool:
        """Write the files that changed; return False if *should_stop* ended that early.

        Raises the first error, as `FileViews.flush` does; the next call tries that file again.
        """
        if not await self._read_events(store, should_stop):
            return False
        if self._seq < self._done.seq:  # the files have events that this store has lost
            self._reset(trust_files=False)
            if not await self._read_events(store, should_stop):
                return False
        complete = self._views.flush(should_stop)
        if complete and self._seq > self._done.seq:
            self._done = Progress(seq=self._seq, opened=self._opened)
            self._file.save(self._done)
        return complete

    async def _read_events(self, store: Store, should_stop: Callable[[], bool]) -> bool:
        async for page in store.events(self._settings.league_id, self._seq):
            apply_events(page, self._apply)
            self._season.forget_past()  # the files have it, and memory is for many seasons
            if self._seq < self._done.seq:
                self._views.mark_written()  # after each page, so as not to hold what is written
            if should_stop():
                return False
        return True

    def _apply(self, stored: StoredEvent) -> None:
        if not self._opened:
            self._opened = f"{stored.event.at} {commit_to(self._season.secret)}"
            self._done = self._load_progress()
        self._season.apply(stored.event)
        self._views.apply(stored.event)
        self._seq = stored.seq
        if stored.seq == self._done.seq:
            self._views.mark_written()

    def _load_progress(self) -> Progress:
        """Return the saved progress of this season, or none if the files cannot be trusted."""
        if self._trust_files and self._layout.standings(self._settings.league_id).exists():
            with suppress(ConfigError):
                found = self._file.load()
                if found and found.opened == self._opened:
                    return found
        return Progress(seq=0, opened=self._opened)
