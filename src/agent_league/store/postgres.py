"""A store in PostgreSQL, for a league that must outlive its machine."""

import asyncio
import functools
import hashlib
import logging
import os
import re
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from typing import Any, TypeAlias

from agent_league.store import schema
from agent_league.store.codec import Rows
from agent_league.store.errors import StoreError
from agent_league.store.schema import number_parameters
from agent_league.store.store import Durability, Store
from agent_league.store.writer import Writer

try:
    import asyncpg
except ModuleNotFoundError as missing:
    raise StoreError("PostgreSQL needs asyncpg: pip install agent-league[postgres]") from missing

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Connect: TypeAlias = Callable[[], Awaitable[Connection]]

log = logging.getLogger("agent_league")
PATIENCE_S = 60.0
"""Seconds that a league waits for a PostgreSQL that is down."""
OPENING_S = 1.0
"""Seconds that a league waits on opening until the session of a killed one has ended."""
CONNECT_S, ANSWER_S = 5.0, 15.0
READERS = 4
"""Connections for reading; so few that the writer can always connect again."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 2.0

_SYNCHRONOUS = {"power": "on", "process": "off"}

_DB_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""All errors that asyncpg raises; a timeout is an OSError."""
_CONNECTION_ERRORS = (
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


class _LockHeldError(StoreError):
    """Another session holds the league's lock."""


class PostgresStore(Store):
    """Leagues in a PostgreSQL database. It connects when it is first used.

    A connection pooler in front of PostgreSQL must give each connection its own session: the
    lock of a writer belongs to its session.
    """

    def __init__(
        self, address: str, durability: Durability = "power", patience_s: float = PATIENCE_S
    ) -> None:
        super().__init__()
        self._address = address
        self._patience_s = patience_s
        self._settings = {
            "application_name": f"agent-league pid {os.getpid()}",
            "search_path": "agent_league",
            "synchronous_commit": _SYNCHRONOUS[durability],
        }
        self._preparing = asyncio.Lock()
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None

    @property
    def name(self) -> str:
        place = self._address.partition("://")[2].rpartition("@")[2].partition("?")[0]
        # If the @ was forgotten, the text after the colon is a password and not a port.
        return "postgresql://" + re.sub(r":(?!\d+([,/]|$))[^]:,/]*(?=[,/]|$)", "", place)

    async def start_writer(self, league_id: str) -> Writer:
        await self._ensure_pool()
        connect = functools.partial(self._connect, ANSWER_S)
        writer = PostgresWriter(self.name, league_id, connect, self._patience_s)
        await writer.start()
        return writer

    async def close(self) -> None:
        await super().close()
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def execute(self, sql: str, *parameters: Any) -> list[Any]:
        pool = await self._ensure_pool()
        try:
            return await pool.fetch(number_parameters(sql), *parameters)
        except _DB_ERRORS as error:
            raise StoreError(_describe_error(self.name, error)) from error

    async def _ensure_pool(self) -> "asyncpg.Pool[asyncpg.Record]":
        """Return the pool of readers, after making the tables or bringing them up to date."""
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
                except _DB_ERRORS as error:
                    raise StoreError(_describe_error(self.name, error)) from error
            return self._pool

    async def _migrate(self) -> None:
        connection = await self._connect()
        try:
            async with connection.transaction():
                # Two programs that open a new database must not both make the tables.
                await connection.execute("SELECT pg_advisory_xact_lock($1)", _lock_key(""))
                table = await connection.fetchval(
                    "SELECT to_regclass('agent_league.store_version')"
                )
                if table is None:
                    await connection.execute(schema.VERSION_TABLE)
                version = await connection.fetchval("SELECT version FROM store_version")
                for step in schema.find_steps(self.name, version):
                    await connection.execute(step)
                await connection.execute("UPDATE store_version SET version = $1", schema.VERSION)
        finally:
            connection.terminate()

    async def _connect(self, answer_s: float | None = None) -> Connection:
        try:
            return await asyncpg.connect(
                self._address,
                timeout=CONNECT_S,
                command_timeout=answer_s,
                server_settings=self._settings,
            )
        except ValueError:
            expected = "expected postgresql://user:password@host:port/database"
            # Without its cause: the text that cannot be read may be part of the password.
            raise StoreError(f"{self.name}: this address cannot be read; {expected}") from None


class PostgresWriter(Writer):
    """Writes to one league over the connection that holds the league's lock.

    So once another writer has the lock, nothing that this one sent can still arrive.
    """

    def __init__(self, store: str, league_id: str, connect: Connect, patience_s: float) -> None:
        super().__init__(store, league_id)
        self._connect = connect
        self._patience_s = patience_s
        self._connection: Connection | None = None
        self._last_kept = 0

    async def start(self) -> None:
        """Take the lock; raise `StoreError` if another session has it."""
        try:
            await self._retry(self._begin, OPENING_S)
        except StoreError:
            self._terminate()
            raise

    async def disconnect(self) -> None:
        if self._connection is not None:
            with suppress(*_DB_ERRORS):
                await self._connection.close(timeout=CONNECT_S)
        self._terminate()

    async def commit(self, rows: Rows) -> None:
        """Return when *rows* are kept, even if PostgreSQL goes away meanwhile and comes back."""
        try:
            await self._send(rows)
        except _DB_ERRORS as error:
            if not self._is_gone(error):
                raise StoreError(_describe_error(self.store, error)) from error
            log.warning("%s; waiting for it", _describe_error(self.store, error))
            await self._retry(functools.partial(self._send_again, rows), self._patience_s)
            log.warning("%s is back; the league goes on", self.store)
        for row in rows.get(schema.INSERT_EVENT, ()):
            self._last_kept = row[1]

    async def _retry(self, attempt: Callable[[], Awaitable[None]], patience_s: float) -> None:
        """Repeat *attempt* until it succeeds, or PostgreSQL has been down for *patience_s*."""
        loop = asyncio.get_running_loop()
        until, pause = loop.time() + patience_s, FIRST_PAUSE_S
        while True:
            try:
                return await attempt()
            except _LockHeldError:
                if loop.time() >= until:
                    raise
            except _DB_ERRORS as error:
                if not self._is_gone(error) or loop.time() >= until:
                    raise StoreError(_describe_error(self.store, error)) from error
            await asyncio.sleep(min(pause, until - loop.time()))
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _attach(self) -> Connection:
        """Connect and take the lock."""
        self._terminate()
        self._connection = connection = await self._connect()
        key = _lock_key(self.league_id)
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", key):
            holder = "another program"
            for application, session, host in await connection.fetch(schema.SELECT_HOLDER, key):
                holder = f"{application or holder} on {host or 'this machine'} (session {session})"
            raise _LockHeldError(f"league {self.league_id} is being run by {holder}")
        return connection

    async def _begin(self) -> None:
        connection = await self._attach()
        self._last_kept = await connection.fetchval(schema.SELECT_LAST, self.league_id)

    async def _send(self, rows: Rows) -> None:
        if self._connection is None:
            raise ConnectionError("not connected")
        # One statement is a transaction by itself: two round trips fewer.
        alone = len(rows) == 1
        async with nullcontext() if alone else self._connection.transaction():
            for sql, parameters in rows.items():
                await self._connection.executemany(number_parameters(sql), parameters)

    async def _send_again(self, rows: Rows) -> None:
        """Send rows that may or may not have been kept when the connection was lost."""
        connection = await self._attach()
        rows_found = await connection.fetch(schema.SELECT_SINCE, self.league_id, self._last_kept)
        found = {row[0]: row[1] for row in rows_found}
        sent = {row[1]: row[-1] for row in rows.get(schema.INSERT_EVENT, ())}
        # The stored log must end as before, or with the events just sent.
        if self._last_kept and found.pop(self._last_kept, None) is None:
            raise StoreError(f"{self.store} has lost event {self._last_kept}, which it had kept")
        for seq, body in found.items():
            if sent.get(seq) != body:
                raise StoreError(f"{self.store}: another program has written event {seq}")
        again = {schema.INSERT_EVENT: schema.INSERT_NEW_EVENT}
        await self._send({again.get(sql, sql): parameters for sql, parameters in rows.items()})

    def _is_gone(self, error: BaseException) -> bool:
        """Whether *error* means that PostgreSQL is down and may come back."""
        closed = self._connection is not None and self._connection.is_closed()
        return isinstance(error, _CONNECTION_ERRORS) or (
            closed and not isinstance(error, asyncpg.PostgresError)
        )

    def _terminate(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


def _lock_key(league_id: str) -> int:
    digest = hashlib.sha256(f"agent-league {league_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _describe_error(name: str, error: BaseException) -> str:
    """Return what is wrong with the database, and what can be done about it."""
    text = str(error) or type(error).__name__
    reasons = [reason for kind, reason in _REASONS if isinstance(error, kind)]
    return f"{name}: {reasons[0]} ({text})" if reasons else f"{name}: {text}"
