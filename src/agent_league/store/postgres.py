"""A store in PostgreSQL, for a league that must outlive its machine; `sqlite` is its neighbour."""

import asyncio
import functools
import hashlib
import logging
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from agent_league.store import schema
from agent_league.store.codec import Rows, Statement, grouped, statements, stored
from agent_league.store.log import LeagueRow, Sink, Stored, StoreError
from agent_league.store.sqlite import PAGE, Durability, Work, tell

try:
    import asyncpg
except ModuleNotFoundError as missing:
    raise StoreError("PostgreSQL needs asyncpg: pip install agent-league[postgres]") from missing

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

log = logging.getLogger("agent_league")
PATIENCE_S = 60.0
"""How long a league waits for a PostgreSQL that went away."""
OPENING_S = 1.0
"""How long a league that opens waits for the session of one that was killed to end."""
CONNECT_S, ANSWER_S = 5.0, 15.0
READERS = 4
"""So few that they always leave the writer a connection to come back to."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 2.0

_SYNCHRONOUS = {"power": "on", "process": "off"}

_TROUBLE = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""All that asyncpg is known to raise; a timeout is an OSError."""
_GONE = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
)
_REASONS = (
    (asyncpg.InvalidCatalogNameError, "there is no such database; make it with createdb"),
    (asyncpg.InvalidAuthorizationSpecificationError, "PostgreSQL refuses the user or the password"),
    (asyncpg.DiskFullError, "the disk is full; what was acknowledged is kept"),
    (asyncpg.UniqueViolationError, "another program has written to this league"),
    (TimeoutError, "PostgreSQL does not answer"),
    (OSError, "PostgreSQL cannot be reached"),
)


class _TakenError(StoreError):
    """Another session holds the league's lock."""


class PostgresStore:
    """Leagues in a PostgreSQL database; each league has one writer at a time.

    It connects when it is first used. A pooler between it and PostgreSQL must give each
    connection a session of its own: the writer's lock belongs to its session.
    """

    def __init__(
        self, address: str, durability: Durability = "power", patience_s: float = PATIENCE_S
    ) -> None:
        self._address = address
        self._patience_s = patience_s
        self._settings = {
            "application_name": f"agent-league pid {os.getpid()}",
            "search_path": "agent_league",
            "synchronous_commit": _SYNCHRONOUS[durability],
        }
        self._preparing = asyncio.Lock()
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._sinks: dict[str, PostgresSink] = {}

    @property
    def name(self) -> str:
        """Where it is: nothing that stands before an @, and no options."""
        place = self._address.partition("://")[2].rpartition("@")[2].partition("?")[0]
        # Where the @ was forgotten, what follows the colon is no port.
        return "postgresql://" + re.sub(r":(?!\d+([,/]|$))[^]:,/]*(?=[,/]|$)", "", place)

    async def open(self, league_id: str, opened_at: str, settings: str) -> Sink:
        """Become the writer of a league, which is made if it is not there; raise `StoreError`."""
        await self._prepared()
        connect = functools.partial(self._connected, ANSWER_S)
        sink = PostgresSink(self.name, league_id, connect, self._patience_s)
        await sink.start()
        self._sinks[league_id] = sink
        await sink.write([(schema.INSERT_LEAGUE, (league_id, opened_at, settings))])
        return sink

    async def close(self) -> None:
        """Write what is on its way, and let go of the connections."""
        for sink in self._sinks.values():
            await sink.close()
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def leagues(self) -> list[LeagueRow]:
        """Return every league, the oldest first."""
        return [LeagueRow(*row) for row in await self._read(schema.SELECT_LEAGUES)]

    async def settings(self, league_id: str) -> str:
        """Return how a league is run, as it was written down, or raise `StoreError`."""
        for (found,) in await self._read(schema.SELECT_SETTINGS, league_id):
            return str(found)
        raise StoreError(f"{self.name} holds no league {league_id!r}")

    async def events(self, league_id: str, after: int = 0) -> AsyncIterator[list[Stored]]:
        """Yield what happened in a league, page by page, after event number *after*."""
        while rows := await self._read(schema.SELECT_EVENTS, league_id, after, PAGE):
            yield [stored(*row) for row in rows]
            after = rows[-1][0]

    async def match(self, league_id: str, match_id: str) -> list[Stored]:
        """Return what happened in one match."""
        rows = await self._read(schema.SELECT_MATCH, league_id, match_id)
        return [stored(*row) for row in rows]

    async def transcript(self, league_id: str, match_id: str) -> str | None:
        """Return what was said in a match, as a JSON array, or None if that is not known."""
        for (found,) in await self._read(schema.SELECT_TRANSCRIPT, league_id, match_id):
            return str(found)
        return None

    async def snapshot(self, league_id: str) -> tuple[int, str] | None:
        """Return the last snapshot of a league, and the event up to which it tells."""
        for seq, body in await self._read(schema.SELECT_SNAPSHOT, league_id):
            return int(seq), str(body)
        return None

    async def save_snapshot(self, league_id: str, seq: int, body: str) -> None:
        """Keep a snapshot, when all it tells of is kept; if that fails, nothing else does."""
        if sink := self._sinks.get(league_id):
            await sink.settled()
        await self._read(schema.SAVE_SNAPSHOT, league_id, seq, body)

    async def _read(self, sql: str, *parameters: Any) -> list[Any]:
        pool = await self._prepared()
        try:
            return await pool.fetch(_numbered(sql), *parameters)
        except _TROUBLE as error:
            raise StoreError(_sentence(self.name, error)) from error

    async def _prepared(self) -> "asyncpg.Pool[asyncpg.Record]":
        """Make the tables, or bring them up to date, or say why that cannot be."""
        async with self._preparing:
            if self._pool is None:
                try:
                    await self._migrate()
                    self._pool = await asyncpg.create_pool(
                        self._address,
                        min_size=0,
                        max_size=READERS,
                        timeout=CONNECT_S,
                        server_settings=self._settings,
                    )
                except _TROUBLE as error:
                    raise StoreError(_sentence(self.name, error)) from error
            return self._pool

    async def _migrate(self) -> None:
        connection = await self._connected()
        try:
            async with connection.transaction():
                await _migrate(connection, self.name)
        finally:
            connection.terminate()

    async def _connected(self, answer_s: float | None = None) -> Connection:
        try:
            return await asyncpg.connect(
                self._address,
                timeout=CONNECT_S,
                command_timeout=answer_s,
                server_settings=self._settings,
            )
        except ValueError:
            expected = "expected postgresql://user:password@host:port/database"
            # Without its cause: what could not be read may be a piece of the password.
            raise StoreError(f"{self.name}: this address cannot be read; {expected}") from None


class PostgresSink:
    """The writer of one league; the connection that writes is the one that holds the lock.

    So whoever has the lock knows that nothing its predecessor sent can still arrive.
    """

    def __init__(
        self,
        store: str,
        league_id: str,
        connect: Callable[[], Awaitable[Connection]],
        patience_s: float,
    ) -> None:
        self._store, self._league_id = store, league_id
        self._connect = connect
        self._patience_s = patience_s
        self._connection: Connection | None = None
        self._kept = 0
        self._waiting: list[Work] = []
        self._draining: asyncio.Task[None] | None = None
        self._failure: StoreError | None = None

    async def start(self) -> None:
        """Take the lock, or raise `StoreError` saying who has it."""
        try:
            await self._insist(self._begin, OPENING_S)
        except StoreError:
            self._leave()
            raise

    def keep(self, *kept: Stored) -> "asyncio.Future[None]":
        try:
            return self.write(statements(self._league_id, kept))
        except StoreError as error:
            self._failure = error  # it is lost, so none after it may be kept
            raise

    async def settled(self) -> None:
        await self.write(())

    def write(self, statements: Sequence[Statement]) -> "asyncio.Future[None]":
        """Write *statements* in one transaction, with all that comes in until it begins."""
        done = asyncio.get_running_loop().create_future()
        if self._failure is not None:
            done.set_exception(StoreError(str(self._failure)))
            return done
        self._waiting.append(Work(statements, done))
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        return done

    async def close(self) -> None:
        """Write what is on its way, and let go of the lock."""
        if self._draining is not None:
            await asyncio.wait({self._draining})
        self._failure = self._failure or StoreError(f"{self._store} is closed")
        if self._connection is not None:
            with suppress(*_TROUBLE):
                await self._connection.close(timeout=CONNECT_S)
        self._leave()

    async def _drain(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            ended: StoreError | None = StoreError(f"{self._store}: writing was broken off")
            try:
                await self._commit(grouped(said for work in batch for said in work.statements))
                ended = self._failure
            except StoreError as error:
                ended = error
            finally:  # even if this task is cancelled: nobody must wait for ever
                self._failure = ended
                tell([*batch, *self._waiting] if ended else batch, ended)
        self._draining = None

    async def _commit(self, rows: Rows) -> None:
        """Return when *rows* are kept, however often PostgreSQL goes away meanwhile."""
        if self._failure is not None:
            raise self._failure
        try:
            await self._send(rows)
        except _TROUBLE as error:
            if not self._is_gone(error):
                raise StoreError(_sentence(self._store, error)) from error
            await self._wait_for(functools.partial(self._send_again, rows), error)
        for row in rows.get(schema.INSERT_EVENT, ()):
            self._kept = row[1]

    async def _wait_for(self, attempt: Callable[[], Awaitable[None]], error: BaseException) -> None:
        """Make *attempt* until PostgreSQL is back, and tell whoever wonders why nothing happens."""
        log.warning("%s; waiting for it", _sentence(self._store, error))
        await self._insist(attempt, self._patience_s)
        log.warning("%s is back; the league goes on", self._store)

    async def _insist(self, attempt: Callable[[], Awaitable[None]], patience_s: float) -> None:
        """Make *attempt* until it succeeds, or PostgreSQL has been gone for *patience_s*."""
        loop = asyncio.get_running_loop()
        until, pause = loop.time() + patience_s, FIRST_PAUSE_S
        while True:
            try:
                return await attempt()
            except _TakenError:
                if loop.time() >= until:
                    raise
            except _TROUBLE as error:
                if not self._is_gone(error) or loop.time() >= until:
                    raise StoreError(_sentence(self._store, error)) from error
            await asyncio.sleep(min(pause, until - loop.time()))
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _attach(self) -> Connection:
        """Connect, and take the lock."""
        self._leave()
        self._connection = connection = await self._connect()
        key = _lock_key(self._league_id)
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", key):
            holder = await connection.fetchrow(schema.SELECT_HOLDER, key)
            raise _TakenError(f"league {self._league_id} is being run by {_spoken(holder)}")
        return connection

    async def _begin(self) -> None:
        connection = await self._attach()
        self._kept = await connection.fetchval(schema.SELECT_LAST, self._league_id)

    async def _send(self, rows: Rows) -> None:
        if not rows:
            return
        if self._connection is None:
            raise ConnectionError("not connected")
        if len(rows) == 1:  # is a transaction by itself, which saves two round trips
            ((sql, parameters),) = rows.items()
            await self._connection.executemany(_numbered(sql), parameters)
            return
        async with self._connection.transaction():
            for sql, parameters in rows.items():
                await self._connection.executemany(_numbered(sql), parameters)

    async def _send_again(self, rows: Rows) -> None:
        """Send what may or may not have been kept when the connection was lost."""
        connection = await self._attach()
        found = await connection.fetch(schema.SELECT_SINCE, self._league_id, self._kept)
        sent = {row[1]: row[-1] for row in rows.get(schema.INSERT_EVENT, ())}
        self._compare({row[0]: row[1] for row in found}, sent)
        again = {schema.INSERT_EVENT: schema.INSERT_NEW_EVENT}
        await self._send({again.get(sql, sql): parameters for sql, parameters in rows.items()})

    def _compare(self, found: dict[int, str], sent: Mapping[int, str]) -> None:
        """Raise `StoreError` unless the log ends where it did, or with what was sent since."""
        if self._kept and found.pop(self._kept, None) is None:
            raise StoreError(f"{self._store} has lost event {self._kept}, which it had kept")
        for seq, body in found.items():
            if sent.get(seq) != body:
                raise StoreError(f"{self._store}: another program has written event {seq}")

    def _is_gone(self, error: BaseException) -> bool:
        """Tell whether *error* means that PostgreSQL went away, and may come back."""
        closed = self._connection is not None and self._connection.is_closed()
        return isinstance(error, _GONE) or (closed and not isinstance(error, asyncpg.PostgresError))

    def _leave(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


async def _migrate(connection: Connection, name: str) -> None:
    # Two that open the same new database must not both make the tables.
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _lock_key(""))
    if await connection.fetchval("SELECT to_regclass('agent_league.store_version')") is None:
        await connection.execute(schema.VERSION_TABLE)
    version = await connection.fetchval("SELECT version FROM store_version")
    if version > schema.VERSION:
        known = f"this program knows {schema.VERSION}"
        raise StoreError(
            f"{name} is a store of version {version}, {known}: use a newer agent-league"
        )
    for step in schema.STEPS[version:]:
        await connection.execute(step)
    await connection.execute("UPDATE store_version SET version = $1", schema.VERSION)


def _lock_key(league_id: str) -> int:
    digest = hashlib.sha256(f"agent-league {league_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _spoken(holder: "asyncpg.Record | None") -> str:
    if holder is None:
        return "another program"
    application, session, host = holder
    return f"{application or 'another program'} on {host or 'this machine'} (session {session})"


def _sentence(name: str, error: BaseException) -> str:
    """Say what is wrong with the database, and what can be done."""
    said = str(error) or type(error).__name__
    reasons = [reason for kind, reason in _REASONS if isinstance(error, kind)]
    return f"{name}: {reasons[0]} ({said})" if reasons else f"{name}: {said}"


_numbered = functools.cache(schema.numbered)
