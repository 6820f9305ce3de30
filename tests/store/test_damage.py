"""A store that was damaged, or is gone, is noticed and named; nothing is counted wrongly."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from random import Random

import pytest

from agent_league.http.client import HttpClient
from agent_league.league import LeagueManager
from agent_league.running.folder import Folder
from agent_league.season.settings import LeagueSettings
from agent_league.store import EventLog, StoreError
from agent_league.store.log import StoredEvent
from agent_league.store.sqlite import SqliteStore
from agent_league.store.store import LeagueRow
from cli.league_command import league, line_with, running
from store.samples import LEAGUE, OPENED_AT, SETTINGS, STORED

FLIPS = 60
QUICK = ("--players", "3", "--port-base", "0", "--display", "none", "--json")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a league that was played to its end."""
    shared = tmp_path_factory.mktemp("played") / "SHARED"
    assert league("play", *QUICK, "--shared", str(shared)).returncode == 0
    change(shared, "PRAGMA wal_checkpoint(TRUNCATE)")
    return shared


@pytest.fixture
def shared(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "SHARED"))


def change(shared: Path, sql: str) -> None:
    with closing(sqlite3.connect(shared / "league.db")) as database, database:
        database.execute(sql)


async def open_again(folder: Folder, row: LeagueRow) -> None:
    manager = LeagueManager(LeagueSettings.read(row.settings), HttpClient(), EventLog())
    async with folder.open_store() as store:
        await manager.open(store)
    await manager.close()


def read_everything(folder: Folder) -> None:
    """Read a store in every way that a command does, or raise `StoreError`."""
    for row in folder.list_leagues():
        folder.load_season(row.league_id, whole=True)
        asyncio.run(open_again(folder, row))


def test_flipped_bits_are_an_error_of_the_store_or_change_nothing_that_is_read(
    shared: Path,
) -> None:
    file, rng = shared / "league.db", Random(7)
    sound = file.read_bytes()
    for _ in range(FLIPS):
        damaged = bytearray(sound)
        for place in rng.sample(range(len(sound)), 3):
            damaged[place] ^= 1 << rng.randrange(8)
        file.write_bytes(damaged)
        try:
            read_everything(Folder(shared))
        except StoreError:
            continue


@pytest.mark.parametrize("command", ["resume", "export --format json", "grade"])
def test_an_event_that_is_missing_is_noticed(shared: Path, command: str) -> None:
    change(shared, "DELETE FROM events WHERE kind = 'match_ended' AND match_id = 'R2M1'")
    name, *flags = command.split()
    done = league(name, "league_2025_even_odd", *flags, "--shared", str(shared))
    assert done.returncode == 3
    assert "league.db is damaged: 1 of the first" in done.stderr
    assert "hint: put a copy of it in its place" in done.stderr


@pytest.mark.parametrize("command", ["resume", "export --format json", "grade"])
def test_damaged_settings_are_named(shared: Path, command: str) -> None:
    change(shared, "UPDATE leagues SET settings = replace(settings, 'seed', 'sead')")
    change(shared, "DELETE FROM events WHERE kind = 'farewell_said'")
    done = league(*command.split(), "--shared", str(shared))
    assert done.returncode == 3
    assert "the store is damaged: the settings of a league" in done.stderr


def test_an_event_that_does_not_fit_is_named(shared: Path) -> None:
    change(shared, "UPDATE events SET body = replace(body, '\"player\"', '\"slayer\"')")
    with pytest.raises(StoreError, match=r"event \d+ \(AgentRegistered\) is damaged"):
        read_everything(Folder(shared))


def test_a_store_that_is_deleted_while_it_is_written_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "league.db"

    async def write() -> None:
        store = SqliteStore(path)
        writer = await store.open(LEAGUE, OPENED_AT, SETTINGS)
        await writer.keep(StoredEvent(1, STORED[0].event))
        path.unlink()
        try:
            await writer.keep(StoredEvent(2, STORED[1].event))
        finally:
            await store.close()

    with pytest.raises(StoreError, match="was deleted or replaced while its league was running"):
        asyncio.run(write())


def test_a_league_whose_folder_is_deleted_stops_and_says_so(tmp_path: Path) -> None:
    shared = tmp_path / "SHARED"
    with running("manager", "--port", "0", "--shared", str(shared)) as manager:
        url = line_with(manager, "Waiting").split()[-1]
        shutil.rmtree(shared)
        with running("player", "--league", url, "--port", "0", "--shared", str(tmp_path)):
            _, printed = manager.communicate()
    assert manager.returncode == 3
    assert "was deleted or replaced while its league was running" in printed


FILE_COMMANDS = (
    "play",
    "start",
    "manager",
    "init",
    "leagues",
    "resume",
    "export",
    "log",
)
AGENT_COMMANDS = (
    "player --league 127.0.0.1:9 --port 0",
    "referee --league 127.0.0.1:9 --port 0",
)


@pytest.mark.parametrize(
    ("command", "place"),
    [
        *product(FILE_COMMANDS, ["/proc/none", "a_file"]),
        *product(AGENT_COMMANDS, ["a_file"]),  # elsewhere an agent goes on without its files
    ],
)
def test_a_folder_that_cannot_be_written_is_named(command: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "a_file").touch()
    done = league(*command.split(), "--shared", place, cwd=tmp_path)
    assert done.returncode in {0, 2, 3, 4}, done.stderr
    assert "fault of ours" not in done.stderr
    assert done.returncode == 0 or "error: " in done.stderr
