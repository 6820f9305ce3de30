"""A program that dies while it writes the files of a league: `dying_export STORE ROOT POINT FILE`."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from agent_league.files import FileUpdater
from agent_league.season.settings import LeagueSettings
from store.books import opened
from store.samples import LEAGUE

POINTS = ("half written", "before it takes its place", "after it took its place")


class Death:
    """Comes at *point* of file number *file*."""

    def __init__(self, point: str, file: int) -> None:
        self._point, self._left = point, file
        self._open: Callable[..., IO[Any]] = Path.open
        self._replace: Callable[[Path, Path], Path] = Path.replace

    def open(self, path: Path, mode: str = "r", *args: Any, **options: Any) -> IO[Any]:
        file = self._open(path, mode, *args, **options)
        if mode == "wb":
            self._left -= 1
            self._come("half written", lambda: os.write(file.fileno(), b'{"half'))
        return file

    def replace(self, path: Path, target: Path) -> Path:
        self._come("before it takes its place")
        replaced = self._replace(path, target)
        self._come("after it took its place")
        return replaced

    def _come(self, point: str, last: Callable[[], object] = lambda: None) -> None:
        if point == self._point and not self._left:
            last()
            os.kill(os.getpid(), signal.SIGKILL)


async def main(address: str, root: str) -> None:
    async with opened(address) as store:
        settings = LeagueSettings(seed="s", league_id=LEAGUE)
        await FileUpdater(settings, Path(root)).catch_up(store)


def arm(death: Death) -> None:
    def open_file(path: Path, mode: str = "r", *args: Any, **options: Any) -> IO[Any]:
        return death.open(path, mode, *args, **options)

    def replace(path: Path, target: Path) -> Path:
        return death.replace(path, target)

    Path.open = open_file  # type: ignore[method-assign,assignment]  # it acts like one
    Path.replace = replace  # type: ignore[method-assign,assignment]  # the same


if __name__ == "__main__":
    arm(Death(sys.argv[3], int(sys.argv[4])))
    asyncio.run(main(sys.argv[1], sys.argv[2]))
