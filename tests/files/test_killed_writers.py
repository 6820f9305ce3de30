"""A process that is killed while it writes the files leaves each of them whole."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_league.files import FileUpdater, export
from agent_league.season.settings import LeagueSettings
from agent_league.store import Event
from files.dying_export import POINTS
from files.test_sync import BOX, data
from store.books import ENVIRONMENT, fill, opened
from store.samples import LEAGUE

SETTINGS = LeagueSettings(seed="s", league_id=LEAGUE)
EVENTS: list[Event] = list(BOX.events)
"""Those of a league of another name: the files are named after the settings."""


def dying(address: str, root: Path, point: str, file: int) -> int:
    command = [sys.executable, "-m", "files.dying_export", address, str(root), point, str(file)]
    return subprocess.run(command, env=ENVIRONMENT, check=False).returncode


def whole(root: Path) -> dict[str, bytes]:
    """Return the files that anybody reads, every one of which can be read."""
    files = {name: body for name, body in data(root).items() if name.endswith(".json")}
    assert all(json.loads(body) for body in files.values())
    return files


async def caught_up(address: str, root: Path) -> bool:
    async with opened(address) as store:
        return await FileUpdater(SETTINGS, root).catch_up(store)


@pytest.mark.processes
@pytest.mark.parametrize("point", POINTS)
def test_a_crash_while_exporting_leaves_whole_files_and_is_made_good(
    tmp_path: Path, point: str
) -> None:
    address, root = str(tmp_path / "league.db"), tmp_path / "live"
    asyncio.run(fill(address, EVENTS))
    export(EVENTS, tmp_path / "wanted", SETTINGS)
    wanted = whole(tmp_path / "wanted")
    for file in (1, 9):
        assert dying(address, root, point, file) == -signal.SIGKILL
        found = whole(root)
        assert found.items() <= wanted.items()
        assert found != wanted
    assert asyncio.run(caught_up(address, root))
    assert whole(root) == wanted
    last = root / "data" / "leagues" / LEAGUE / "standings.json"
    last.unlink()
    assert dying(address, root, point, 3) == -signal.SIGKILL
    export(EVENTS, root, SETTINGS)
    assert whole(root) == wanted
