"""A store in one file: SQLite, written by one thread that lets many events share one sync."""

import asyncio
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from agent_league.store import schema
from agent_league.store.codec import Statement, grouped, statements, stored
from agent_league.store.lock import WriterLock
from agent_league.store.log import LeagueRow, Sink, Stored, StoreError

Durability: TypeAlias = Literal["power", "process"]
"""What is survived: the loss of power, or only the death of the process."""

_SYNCHRONOUS = {"power": "FULL", "process": "NORMAL"}
PAGE = 10_000
BUSY_MS = 10_000
ROWS = 100
"""How many rows one statement writes, at most."""


_in_use: Counter[Path] = Counter()
"""How often each file is open here. To read one past SQLite would drop the locks it has on it."""


class Work(NamedTuple):
    """Statements for one transaction, and who waits for them."""

    statements: Sequence[Statement]
    done: "asyncio.Future[None]"


def _sentence(path: Path, error: BaseException) -> str:
    """Say what is wrong with the file, and what can be done."""
    said = str(error)
    if "full" in said:
        return f"{path}: the disk is full; what was acknowledged is kept. Free some space, resume"
    if "locked" in said or "busy" in said:
        return f"{path}: another program holds the database; end it, then try again"
    if "malformed" in said or "not a database" in said:
        return f"{path} is damaged, or no store of ours: {said}"
    return f"{path}: {said}"


class SqliteStore:
    """Leagues in one SQLite file; each league has one writer at a time."""

    def __init__(self, path: Path, durability: Durability = "power") -> None:
        self.path = path
        self._durability = durability
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failure: StoreError | None = None
        self._locks: list[WriterLock] = []
        self._closed = False
        self._prepare()
        _in_use[path.resolve()] += 1

    @property
    def name(self) -> str:
        return str(self.path)

    async def open(self, league_id: str, opened_at: str, settings: str) -> Sink:
        """Become the writer of a league, which is made if it is not there; raise `StoreError`."""
        path = self.path.resolve()  # one file has one lock, by whatever link one came to it
        name = f"{path.name}.{quote(league_id, safe='')}.lock"
        lock = WriterLock(path.with_name(name))
        lock.take()
        self._locks.append(lock)
        await self.write([(schema.INSERT_LEAGUE, (league_id, opened_at, settings))])
        return SqliteSink(self, league_id)

    async def close(self) -> None:
        """Write what is on its way, and let go of the file."""
        if self._thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)
            self._thread = None
        self.fail(StoreError(f"{self.path} is closed"))  # whoever comes late has no lock any more
        for lock in self._locks:
            lock.release()
        if not self._closed:
            _in_use[self.path.resolve()] -= 1
        self._closed = True

    async def leagues(self) -> list[LeagueRow]:
        """Return every league, the oldest first."""
        rows = self._read(schema.SELECT_LEAGUES, ())
        return [LeagueRow(*columns) for columns in rows]

    async def settings(self, league_id: str) -> str:
        """Return how a league is run, as it was written down, or raise `StoreError`."""
        for (found,) in self._read(schema.SELECT_SETTINGS, (league_id,)):
            return str(found)
        raise StoreError(f"{self.path} holds no league {league_id!r}")

    async def events(self, league_id: str, after: int = 0) -> AsyncIterator[list[Stored]]:
        """Yield what happened in a league, page by page, after event number *after*."""
        while rows := self._read(schema.SELECT_EVENTS, (league_id, after, PAGE)):
            yield [stored(*columns) for columns in rows]
            after = rows[-1][0]

    async def match(self, league_id: str, match_id: str) -> list[Stored]:
        """Return what happened in one match."""
        rows = self._read(schema.SELECT_MATCH, (league_id, match_id))
        return [stored(*columns) for columns in rows]

    async def transcript(self, league_id: str, match_id: str) -> str | None:
        """Return what was said in a match, as a JSON array, or None if that is not known."""
        for (found,) in self._read(schema.SELECT_TRANSCRIPT, (league_id, match_id)):
            return str(found)
        return None

    async def snapshot(self, league_id: str) -> tuple[int, str] | None:
        """Return the last snapshot of a league, and the event up to which it tells."""
        for seq, body in self._read(schema.SELECT_SNAPSHOT, (league_id,)):
            return int(seq), str(body)
        return None

    async def save_snapshot(self, league_id: str, seq: int, body: str) -> None:
        """Keep a snapshot, when all it tells of is kept; if that fails, nothing else does."""
        await self.settled()
        await asyncio.to_thread(self._save_snapshot, (league_id, seq, body))

    def _save_snapshot(self, row: tuple[str, int, str]) -> None:
        # Not in the transaction of events, which must be kept even if a snapshot cannot.
        try:
            with closing(self._connected()) as database:
                database.execute(schema.SAVE_SNAPSHOT, row)
        except sqlite3.Error as error:
            raise StoreError(_sentence(self.path, error)) from error

    def fail(self, error: StoreError) -> None:
        """Write nothing more: what comes after a lost event must not be kept."""
        self._failure = self._failure or error

    def write(self, statements: Sequence[Statement]) -> "asyncio.Future[None]":
        """Write *statements* in one transaction, perhaps together with others."""
        self._loop = self._loop or asyncio.get_running_loop()
        done = self._loop.create_future()
        if self._failure is not None:
            done.set_exception(StoreError(str(self._failure)))
            return done
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="store", daemon=True)
            self._thread.start()
        self._queue.put(Work(statements, done))
        return done

    async def settled(self) -> None:
        # A place in the queue of its own: the last writer's would be cancelled together with it.
        await self.write(())

    def _prepare(self) -> None:
        """Make the tables, or bring them up to date, or say why that cannot be."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not _in_use[self.path.resolve()]:
                self._check_size()
            with closing(self._connected()) as database:
                _migrate(database, self.path)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be used: {error}") from error
        except sqlite3.Error as error:
            raise StoreError(_sentence(self.path, error)) from error

    def _check_size(self) -> None:
        """Notice a file that was cut off: SQLite would find out only when it reads that far."""
        head = _head(self.path)
        if not head.startswith(b"SQLite format 3"):
            return  # new, or something else, which SQLite says better
        pages = int.from_bytes(head[28:32], "big")
        page = int.from_bytes(head[16:18], "big")
        size = pages * (65536 if page == 1 else page)
        wal = self.path.with_name(f"{self.path.name}-wal")
        if self.path.stat().st_size < size and not wal.exists():
            raise StoreError(f"{self.path} was cut off: it should be {size} bytes long")

    def _connected(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_MS / 1000)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[self._durability]}")
        database.execute("PRAGMA journal_size_limit = 67108864")
        return database

    def _read(self, sql: str, parameters: Iterable[Any]) -> list[Any]:
        try:
            with closing(sqlite3.connect(self.path, timeout=BUSY_MS / 1000)) as database:
                return database.execute(sql, tuple(parameters)).fetchall()
        except sqlite3.Error as error:
            raise StoreError(_sentence(self.path, error)) from error

    def _work(self) -> None:
        """Be the thread that writes: whatever has come in meanwhile shares a transaction."""
        try:
            with closing(self._connected()) as database:
                while batch := self._batch():
                    self._commit(database, batch)
        except sqlite3.Error as error:
            self.fail(StoreError(_sentence(self.path, error)))
            while batch := self._batch():
                self._answer(batch)

    def _batch(self) -> list[Work]:
        """Wait for work, and return all that is there; nothing when the end has come."""
        batch: list[Work] = []
        while not batch or not self._queue.empty():
            work = self._queue.get()
            if work is None:
                if batch:
                    self._queue.put(None)  # first what came before it
                break
            batch.append(work)
        return batch

    def _commit(self, database: sqlite3.Connection, batch: list[Work]) -> None:
        wanted = grouped(said for work in batch for said in work.statements)
        try:
            if wanted and self._failure is None:
                database.execute("BEGIN IMMEDIATE")
                for sql, rows in wanted.items():
                    _insert(database, sql, rows)
                database.execute("COMMIT")
        except (sqlite3.Error, ValueError, OverflowError) as error:  # or no value for a column
            self.fail(StoreError(_sentence(self.path, error)))
            with suppress(sqlite3.Error):
                database.execute("ROLLBACK")
        self._answer(batch)

    def _answer(self, batch: list[Work]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(tell, batch, self._failure)


def _insert(database: sqlite3.Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
    """Write *rows*, many at once: each statement takes the interpreter away from the league."""
    front, values, back = re.split(r"(?<=VALUES )(\([?, ]+\))", sql)
    for start in range(0, len(rows), ROWS):
        some = rows[start : start + ROWS]
        many = f"{front}{', '.join([values] * len(some))}{back}"
        database.execute(many, [value for row in some for value in row])


def _head(path: Path) -> bytes:
    with suppress(FileNotFoundError), path.open("rb") as file:
        return file.read(100)
    return b""


def tell(batch: list[Work], failure: StoreError | None) -> None:
    for work in batch:
        if not work.done.done():
            # One error each: every waiter adds where it was to the one it is given.
            error = StoreError(str(failure)) if failure else None
            work.done.set_exception(error) if error else work.done.set_result(None)


def _migrate(database: sqlite3.Connection, path: Path) -> None:
    database.execute("BEGIN EXCLUSIVE")  # two that open the same new file must not both make it
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > schema.VERSION:
        database.execute("ROLLBACK")
        known = f"this program knows {schema.VERSION}"
        raise StoreError(
            f"{path} is a store of version {version}, {known}: use a newer agent-league"
        )
    for step in schema.STEPS[version:]:
        for statement in step.split(";"):
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {schema.VERSION}")
    database.execute("COMMIT")


class SqliteSink:
    """The writer of one league."""

    def __init__(self, store: SqliteStore, league_id: str) -> None:
        self._store = store
        self._league_id = league_id

    def keep(self, *kept: Stored) -> "asyncio.Future[None]":
        try:
            return self._store.write(statements(self._league_id, kept))
        except StoreError as error:
            self._store.fail(error)
            raise

    async def settled(self) -> None:
        await self._store.settled()
