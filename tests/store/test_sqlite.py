"""A store in a file, when something is wrong with the file."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent_league.store import EventLog, StoredEvent, StoreError
from agent_league.store.events import Event
from agent_league.store.sqlite import SqliteStore
from store.books import fill, kept, writing
from store.samples import LEAGUE, OPENED_AT, SEASON, SETTINGS, STORED, recovered


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the file of a league that has been played."""
    asyncio.run(fill(str(tmp_path / "league.db"), SEASON))
    return tmp_path / "league.db"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_league.store.sqlite.BUSY_MS", 50)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_noticed_at_once(path: Path, share: float) -> None:
    size = path.stat().st_size
    os.truncate(path, int(size * share))
    with pytest.raises(StoreError, match=f"was cut off: it should be {size} bytes long"):
        SqliteStore(path)


COUNTS = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT COUNT(*) FROM events').fetchone()[0])"


def test_a_store_that_is_opened_twice_here_keeps_its_locks(tmp_path: Path) -> None:
    path = tmp_path / "league.db"

    def counted_elsewhere() -> int:
        # Whoever closes the file as the last one, as far as locks tell, throws the log away.
        reply = subprocess.run(
            [sys.executable, "-c", COUNTS, path], capture_output=True, check=True
        )
        return int(reply.stdout)

    async def main() -> list[int]:
        counts = []
        async with writing(str(path)) as (_, sink):
            for seq in (1, 2):
                await sink.keep(StoredEvent(seq, recovered(seq)))
                await kept(str(path))
                counts.append(counted_elsewhere())
        return counts

    assert asyncio.run(main()) == [1, 2]


@pytest.mark.parametrize("text", ["hello", "This is my diary. " * 500])
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "diary.txt").write_text(text)
    with pytest.raises(StoreError, match=r"diary\.txt is damaged, or no store of ours"):
        SqliteStore(tmp_path / "diary.txt")
    assert (tmp_path / "diary.txt").read_text() == text


def test_a_damaged_page_is_reported_when_it_is_read(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(StoreError, match="is damaged"):
        asyncio.run(kept(str(path)))


def test_an_event_that_cannot_be_read_is_reported(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE events SET body = '{\"event\": 7}' WHERE seq = 3")
    with pytest.raises(StoreError, match=r"event 3 \(agent_registered, version 1\) is damaged"):
        asyncio.run(kept(str(path)))


@pytest.mark.usefixtures("impatient")
def test_a_store_that_is_locked_cannot_be_opened(path: Path) -> None:
    with closing(_locked(path)), pytest.raises(StoreError, match="another program holds"):
        SqliteStore(path)


@pytest.mark.usefixtures("impatient")
def test_a_store_that_gets_locked_cannot_be_written(path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(path)
        sink = await store.open(LEAGUE, OPENED_AT, SETTINGS)
        log = EventLog(sink)
        log.replay(STORED)
        with closing(_locked(path)), pytest.raises(StoreError, match="another program holds"):
            await log.append(recovered(1))
        with pytest.raises(StoreError, match="another program holds"):
            await log.append(recovered(2))
        await store.close()

    asyncio.run(scenario())
    assert asyncio.run(kept(str(path))) == list(STORED)


@pytest.mark.usefixtures("impatient")
def test_a_store_that_is_taken_before_its_first_write_says_so(path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            other.execute("COMMIT")  # in this mode, not even reading is possible beside it
            with pytest.raises(StoreError, match="another program holds"):
                await store.open(LEAGUE, OPENED_AT, SETTINGS)
            with pytest.raises(StoreError, match="another program holds"):
                await store.leagues()
        await store.close()

    asyncio.run(scenario())


def _locked(path: Path) -> sqlite3.Connection:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    return other


def test_a_store_that_is_locked_for_a_moment_is_waited_for(path: Path) -> None:
    async def scenario() -> bool:
        async with writing(str(path)) as (_, sink):
            log = EventLog(sink)
            log.replay(STORED)
            with closing(_locked(path)):
                appending = asyncio.ensure_future(log.append(recovered(1)))
                await asyncio.sleep(0.1)
                assert not appending.done()
            return await appending

    assert asyncio.run(scenario()) is True


class SmallDisk(SqliteStore):
    """A store on a disk with room for a few pages more."""

    def _connect(self) -> sqlite3.Connection:
        database = super()._connect()
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages + 2}")
        return database


def test_a_full_disk_loses_nothing_that_was_acknowledged(path: Path) -> None:
    acknowledged: list[Event] = []

    async def write_on(log: EventLog) -> None:
        for n in range(1000):
            await log.append(recovered(n))
            acknowledged.append(recovered(n))

    async def scenario() -> None:
        store = SmallDisk(path)
        log = EventLog(await store.open(LEAGUE, OPENED_AT, SETTINGS))
        log.replay(STORED)
        for _ in range(2):
            with pytest.raises(StoreError, match="disk is full; what was acknowledged is kept"):
                await write_on(log)
        await store.close()

    asyncio.run(scenario())
    assert acknowledged
    assert [s.event for s in asyncio.run(kept(str(path)))] == [*SEASON, *acknowledged]


def test_missing_folders_are_made(tmp_path: Path) -> None:
    asyncio.run(fill(str(tmp_path / "a" / "b" / "league.db"), SEASON))
    assert asyncio.run(kept(str(tmp_path / "a" / "b" / "league.db"))) == list(STORED)


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        SqliteStore(tmp_path / "file" / "league.db")


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=str(tmp_path)):
        SqliteStore(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="unable to open"):
        SqliteStore(tmp_path / "league.db")


def test_a_lock_that_cannot_be_made_is_reported(path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(path)
        with pytest.raises(StoreError, match="lock of this league cannot be used"):
            await store.open("x" * 300, OPENED_AT, SETTINGS)

    asyncio.run(scenario())


def test_a_link_leads_to_the_same_lock(path: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with writing(str(path)):
            with pytest.raises(StoreError, match="is being run by"):
                await SqliteStore(tmp_path / "link.db").open(LEAGUE, OPENED_AT, SETTINGS)

    (tmp_path / "link.db").symlink_to(path)
    asyncio.run(scenario())


def test_a_store_in_use_can_be_read_beside_it(path: Path) -> None:
    async def scenario() -> None:
        async with writing(str(path)) as (_, sink):
            log = EventLog(sink)
            log.replay(STORED)
            await log.append(recovered(1))
            assert len(await kept(str(path))) == len(STORED) + 1

    asyncio.run(scenario())
