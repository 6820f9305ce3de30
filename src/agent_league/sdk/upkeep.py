"""The files of a stored league, brought up to date from its events, whoever writes those."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from agent_league.league import LeagueSettings
from agent_league.league.season import Season
from agent_league.sdk.errors import ConfigError
from agent_league.sdk.layout import Layout
from agent_league.sdk.repositories import OneFile
from agent_league.sdk.views import FileViews
from agent_league.store.log import Store, Stored


class Progress(Struct, frozen=True, kw_only=True):
    """`state/<league_id>/files.json`: up to which event the files of a league are written."""

    seq: int
    opened: str
    """When that season was opened, and its seed: another one of this name has other events."""


class Upkeep:
    """Follows a league through its store. What was written in an earlier life is not again.

    If `standings.json` is not there any more, nothing is trusted to be, and all is written again.
    """

    def __init__(self, settings: LeagueSettings, root: Path) -> None:
        self._settings, self._root = settings, root
        self._layout = Layout(root)
        self._file = OneFile(Progress, self._layout.progress(settings.league_id))
        self._begin(trusting=True)

    def _begin(self, *, trusting: bool) -> None:
        self._season = Season(self._settings)
        self._views = FileViews(self._season, self._root)
        self._trusting = trusting
        self._done = Progress(seq=0, opened="")
        self._seq = 0
        self._opened = ""

    async def catch_up(self, store: Store, enough: Callable[[], bool] = lambda: False) -> bool:
        """Write what has changed; False if *enough* said to stop before all was written.

        Raises the first failure of a file, as `FileViews.flush` does; it is tried again next time.
        """
        if not await self._read(store, enough):
            return False
        if self._seq < self._done.seq:  # the files tell of what this store has lost
            self._begin(trusting=False)
            if not await self._read(store, enough):
                return False
        whole = self._views.flush(enough)
        if whole and self._seq > self._done.seq:
            self._done = Progress(seq=self._seq, opened=self._opened)
            self._file.save(self._done)
        return whole

    async def _read(self, store: Store, enough: Callable[[], bool]) -> bool:
        async for page in store.events(self._settings.league_id, self._seq):
            for stored in page:
                self._hear(stored)
            self._season.forget_past()  # the files have it, and this is not the only season
            if self._seq < self._done.seq:
                self._views.settle()  # page by page: nobody holds what will not be written
            if enough():
                return False
        return True

    def _hear(self, stored: Stored) -> None:
        if not self._opened:
            self._opened = f"{stored.event.at} {self._settings.seed}"
            self._done = self._remembered()
        self._season.apply(stored.event)
        self._views.heard(stored.event)
        self._seq = stored.seq
        if stored.seq == self._done.seq:
            self._views.settle()

    def _remembered(self) -> Progress:
        """Return how far the files of this very season had come; not at all, if that is unclear."""
        nothing = Progress(seq=0, opened=self._opened)
        if not self._trusting or not self._layout.standings(self._settings.league_id).exists():
            return nothing
        try:
            found = self._file.load() or nothing
        except ConfigError:
            return nothing
        return found if found.opened == self._opened else nothing
