"""A store in one SQLite file."""

import asyncio
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias
from urllib.parse import quote

from agent_league.store import schema
from agent_league.store.codec import Rows
from agent_league.store.errors import StoreError
from agent_league.store.store import Durability, Store
from agent_league.store.writer import Writer, find_failure

if os.name == "posix":
    import fcntl

Connect: TypeAlias = Callable[[], sqlite3.Connection]
_SYNCHRONOUS = {"power": "FULL", "process": "NORMAL"}
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; the second when the text of an error is damaged too."""
BUSY_MS = 10_000
ROWS_PER_INSERT = 100
"""How many rows one statement writes, at most."""

_in_use: Counter[Path] = Counter()
"""How often each file is open in this process. To read one by other means than SQLite would
release the locks that SQLite has on it."""


class SqliteStore(Store):
    """Leagues in one SQLite file."""

    def __init__(self, path: Path, durability: Durability = "power") -> None:
        super().__init__()
        self.path = path
        self._durability = durability
        self._closed = False
        self._committer: Committer | None = None
        self._prepare()
        _in_use[path.resolve()] += 1

    @property
    def name(self) -> str:
        return str(self.path)

    async def execute(self, sql: str, *parameters: Any) -> list[Any]:
        def run() -> list[Any]:
            with closing(self._connect()) as database:
                return database.execute(sql, parameters).fetchall()

        try:
            return await asyncio.to_thread(run)
        except READ_ERRORS as error:
            raise StoreError(_describe_error(self.path, error)) from error

    async def start_writer(self, league_id: str) -> Writer:
        path = self.path.resolve()  # one file has one lock, whatever link led to it
        lock = _lock(path.with_name(f"{path.name}.{quote(league_id, safe='')}.lock"))
        self._committer = self._committer or Committer(self.path, self._connect)
        return SqliteWriter(self._committer, league_id, lock)

    async def close(self) -> None:
        await super().close()
        if self._committer is not None:
            await self._committer.close()
        if not self._closed:
            _in_use[self.path.resolve()] -= 1
        self._closed = True

    def _prepare(self) -> None:
        """Make the tables, or bring them up to date; raise `StoreError` if that cannot be done."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not _in_use[self.path.resolve()]:
                self._check_size()
            _create_private(self.path)
            with closing(self._connect()) as database, database:
                database.execute("BEGIN EXCLUSIVE")  # two programs must not both make the tables
                (version,) = database.execute("PRAGMA user_version").fetchone()
                for statement in ";".join(schema.find_steps(self.name, version)).split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {schema.VERSION}")
        except OSError as error:
            raise StoreError(f"{self.path} cannot be used: {error}") from error
        except READ_ERRORS as error:
            raise StoreError(_describe_error(self.path, error)) from error

    def _check_size(self) -> None:
        """Raise `StoreError` for a file that was cut off; SQLite notices only when it reads there."""
        head = b""
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            head = file.read(100)
        if not head.startswith(b"SQLite format 3"):
            return  # a new file, or something else: SQLite has the better error message
        pages = int.from_bytes(head[28:32], "big")
        page = int.from_bytes(head[16:18], "big")
        size = pages * (65536 if page == 1 else page)
        wal = self.path.with_name(f"{self.path.name}-wal")
        if self.path.stat().st_size < size and not wal.exists():
            raise StoreError(f"{self.path} was cut off: it should be {size} bytes long")

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(
            self.path,
            isolation_level=None,
            timeout=BUSY_MS / 1000,
            check_same_thread=False,  # one thread at a time uses it, but not always the same one
        )
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[self._durability]}")
        database.execute("PRAGMA journal_size_limit = 67108864")
        return database


class _Batch(NamedTuple):
    """The rows of one league for one transaction, and the future of its writer."""

    rows: Rows
    done: "asyncio.Future[None]"


class Committer:
    """Writes for all leagues of a file that this process runs, over one connection, in a thread.

    What several leagues hand in at the same time shares one transaction: to reach the disk takes
    longer than to write.
    """

    def __init__(self, path: Path, connect: Connect) -> None:
        self.path, self._connect = path, connect
        self._database: sqlite3.Connection | None = None
        self._place = path.resolve()
        self._file = _identify(self._place)
        self._waiting: list[_Batch] = []
        self._writing: asyncio.Future[list[StoreError | None]] | None = None

    def commit(self, rows: Rows) -> "asyncio.Future[None]":
        """Return what is done when *rows* are kept, or fails with a `StoreError`."""
        loop = asyncio.get_running_loop()
        batch = _Batch(rows, loop.create_future())
        self._waiting.append(batch)
        if self._writing is None:
            self._begin(loop)
        return batch.done

    async def close(self) -> None:
        while self._writing is not None:
            await asyncio.wait({self._writing})
        if self._database is not None:
            await asyncio.to_thread(self._database.close)
            self._database = None

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        batches, self._waiting = self._waiting, []
        rows = [batch.rows for batch in batches]
        try:
            self._writing = loop.run_in_executor(None, self._try, rows)
        except RuntimeError as error:  # the event loop ends, and nobody must wait for ever
            for batch in batches:
                _resolve(batch.done, StoreError(f"{self.path}: writing was interrupted: {error}"))
        else:
            self._writing.add_done_callback(partial(self._end, loop, batches))

    def _end(
        self,
        loop: asyncio.AbstractEventLoop,
        batches: Sequence[_Batch],
        writing: "asyncio.Future[list[StoreError | None]]",
    ) -> None:
        self._writing = None
        if self._waiting:
            self._begin(loop)
        failure = find_failure(str(self.path), writing)
        errors = writing.result() if failure is None else [failure] * len(batches)
        for batch, error in zip(batches, errors, strict=True):
            _resolve(batch.done, error)

    def _try(self, batches: Sequence[Rows]) -> list[StoreError | None]:
        """Keep *batches* together; if that fails, each by itself, so that one league harms no other."""
        try:
            self._commit_now(batches)
        except StoreError as error:
            if len(batches) == 1:
                return [error]
            return [failure for one in batches for failure in self._try([one])]
        return [None] * len(batches)

    def _commit_now(self, batches: Sequence[Rows]) -> None:
        if _identify(self._place) != self._file:
            raise StoreError(f"{self.path} was deleted or replaced while its league was running")
        try:
            self._database = database = self._database or self._connect()
            with database:
                database.execute("BEGIN IMMEDIATE")
                for rows_by_sql in batches:
                    for sql, rows in rows_by_sql.items():
                        _insert(database, sql, rows)
        except (sqlite3.Error, ValueError, OverflowError) as error:  # or no value for a column
            raise StoreError(_describe_error(self.path, error)) from error


def _resolve(done: "asyncio.Future[None]", error: StoreError | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)


class SqliteWriter(Writer):
    """Writes to one league, together with the other leagues of its file."""

    def __init__(self, committer: Committer, league_id: str, lock: IO[str]) -> None:
        super().__init__(str(committer.path), league_id)
        self._committer, self._lock = committer, lock

    def commit(self, rows: Rows) -> "asyncio.Future[None]":
        return self._committer.commit(rows)

    async def disconnect(self) -> None:
        self._lock.close()


def _create_private(path: Path) -> None:
    """Make a new file that only its owner can read: it holds what the league signs with."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _identify(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another that later has its name; None if there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def _lock(path: Path) -> IO[str]:
    """Return a locked file, or raise `StoreError` saying who has locked it.

    The system releases the lock when the file is closed, or its process dies.
    """
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"the lock of this league cannot be used: {error}") from error
    try:
        if os.name == "posix":
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        pid = file.read().strip()
        file.close()
        holder = f"pid {pid}" if pid else "another process"
        raise StoreError(f"this league is being run by {holder} ({path.name})") from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _insert(database: sqlite3.Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
    """Write many *rows* with each statement: a statement takes the interpreter from the league."""
    for start in range(0, len(rows), ROWS_PER_INSERT):
        chunk = rows[start : start + ROWS_PER_INSERT]
        database.execute(_repeat_values(sql, len(chunk)), [*chain.from_iterable(chunk)])


@lru_cache(maxsize=4 * ROWS_PER_INSERT)
def _repeat_values(sql: str, rows: int) -> str:
    """Return *sql*, which writes one row, as a statement that writes so many *rows*."""
    front, values, back = re.split(r"(?<=VALUES )(\([?, ]+\))", sql)
    return f"{front}{', '.join([values] * rows)}{back}"


def _describe_error(path: Path, error: BaseException) -> str:
    """Return what is wrong with the file, and what can be done about it."""
    text = str(error)
    if "full" in text:
        return f"{path}: the disk is full; what was acknowledged is kept. Free some space, resume"
    if "locked" in text or "busy" in text:
        return f"{path}: another program holds the database; end it, then try again"
    if "malformed" in text or "not a database" in text or isinstance(error, UnicodeDecodeError):
        return f"{path} is damaged, or no store of ours: {text}"
    return f"{path}: {text}"
