"""The writer of a league in PostgreSQL: it leads the league, and stops when another one does."""

import asyncio
import functools
import hashlib
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

import asyncpg

from agent_league.store import schema
from agent_league.store.codec import Rows
from agent_league.store.errors import DeposedError, NotLeadingError, StoreError
from agent_league.store.schema import number_parameters
from agent_league.store.writer import Writer

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Connect: TypeAlias = Callable[[], Awaitable[Connection]]

log = logging.getLogger("agent_league")
OPENING_S = 1.0
"""Seconds that a league waits on opening until the session of a killed one has ended."""
CONNECT_S = 5.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 2.0
LEASE_S, RENEWAL_S = 2.5, 0.5
"""A leader that was not heard of for so long may be deposed; so it is heard of that often."""

DB_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
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
    (asyncpg.InternalClientError, "the connection to PostgreSQL was lost"),
    (TimeoutError, "PostgreSQL does not answer"),
    (OSError, "PostgreSQL cannot be reached"),
)


class PostgresWriter(Writer):
    """Writes to one league over the connection that holds the league's lock.

    Each writer has a term, one higher than that of the writer before it. Every transaction checks
    that the term still runs: a program that was stopped, deposed and continued writes nothing.
    """

    def __init__(self, store: str, league_id: str, connect: Connect, patience_s: float) -> None:
        super().__init__(store, league_id)
        self._connect = connect
        self._patience_s = patience_s
        self._connection: Connection | None = None
        self._last_kept = 0
        self.term = 0
        self.address = ""
        """Where the league's manager listens."""
        self._renewing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take the lock; raise `NotLeadingError` if another session has it."""
        try:
            await self._retry(self._begin, OPENING_S)
        except StoreError:
            self._terminate()
            raise
        self._renewing = asyncio.create_task(self._renew_regularly())

    async def announce(self, address: str) -> None:
        """Tell everybody who reads the store where the league's manager listens."""
        self.address = address
        await self._renew()

    async def _renew(self) -> None:
        await self.write([(schema.ANNOUNCE_LEADER, (self.address, self.league_id, self.term))])

    async def _renew_regularly(self) -> None:
        """Let others see that this program lives; this is also how it learns that it is deposed."""
        with suppress(StoreError):  # told to `on_failure`
            while True:
                await asyncio.sleep(RENEWAL_S)
                await self._renew()

    async def disconnect(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
        if self._connection is not None:
            with suppress(*DB_ERRORS):
                await self._connection.close(timeout=CONNECT_S)
        self._terminate()

    async def commit(self, rows: Rows) -> None:
        """Return when *rows* are kept, even if PostgreSQL goes away meanwhile and comes back."""
        try:
            await self._send(rows)
        except DB_ERRORS as error:
            if not self._is_gone(error):
                raise StoreError(describe_error(self.store, error)) from error
            log.warning("%s; waiting for it", describe_error(self.store, error))
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
            except DeposedError:
                raise
            except NotLeadingError:
                if loop.time() >= until:
                    raise
            except DB_ERRORS as error:
                if not self._is_gone(error) or loop.time() >= until:
                    raise StoreError(describe_error(self.store, error)) from error
            await asyncio.sleep(min(pause, until - loop.time()))
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _attach(self) -> Connection:
        """Connect and take the lock."""
        self._terminate()
        self._connection = connection = await self._connect()
        await self._check_term()
        key = make_lock_key(self.league_id)
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", key):
            holder = "another program"
            for application, session, host in await connection.fetch(schema.SELECT_HOLDER, key):
                holder = f"{application or holder} on {host or 'this machine'} (session {session})"
            raise NotLeadingError(f"league {self.league_id} is being run by {holder}")
        return connection

    async def _check_term(self) -> None:
        """Raise `DeposedError` if another program has led the league since this one did."""
        if not self.term or self._connection is None:
            return
        for row in await self._connection.fetch(schema.SELECT_LEADER, self.league_id):
            if row["term"] != self.term:
                where = f" at {row['address']}" if row["address"] else ""
                taken = f"league {self.league_id} was taken over by another manager{where}"
                terms = f"in term {row['term']}; this one led in term {self.term}"
                raise DeposedError(f"{taken} {terms}, and writes nothing more")

    async def _begin(self) -> None:
        connection = await self._attach()
        self.term = await connection.fetchval(schema.BEGIN_TERM, self.league_id)
        self._last_kept = await connection.fetchval(schema.SELECT_LAST, self.league_id)

    async def _send(self, rows: Rows) -> None:
        if self._connection is None:
            raise ConnectionError("not connected")
        async with self._connection.transaction():
            if not await self._connection.fetchval(schema.RENEW_TERM, self.league_id, self.term):
                await self._check_term()
                raise DeposedError(f"{self.store} does not know who leads {self.league_id}")
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


def make_lock_key(league_id: str) -> int:
    digest = hashlib.sha256(f"agent-league {league_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def describe_error(name: str, error: BaseException) -> str:
    """Return what is wrong with the database, and what can be done about it."""
    text = str(error) or type(error).__name__
    reasons = [reason for kind, reason in _REASONS if isinstance(error, kind)]
    return f"{name}: {reasons[0]} ({text})" if reasons else f"{name}: {text}"
