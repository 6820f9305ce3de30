"""A store in PostgreSQL, for a league that must outlive its machine."""

import asyncio
import functools
import logging
import os
import re
from contextlib import suppress
from typing import Any

import asyncpg

from agent_league.store import schema
from agent_league.store.errors import StoreError
from agent_league.store.postgres_queue import PostgresQueue
from agent_league.store.postgres_writer import (
    CONNECT_S,
    DB_ERRORS,
    LEASE_S,
    Connection,
    PostgresWriter,
    describe_error,
    make_lock_key,
)
from agent_league.store.schema import number_parameters
from agent_league.store.store import Durability, Store

log = logging.getLogger("agent_league")
PATIENCE_S = 60.0
"""Seconds that a league waits for a PostgreSQL that is down."""
ANSWER_S = 15.0
TURN_S = 0.5
"""How often a program that waits for its turn looks whether the leader lives."""
READERS = 4
"""Connections for reading; so few that the writer can always connect again."""

_SYNCHRONOUS = {"power": "on", "process": "off"}


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
        self._queue: PostgresQueue | None = None

    @property
    def name(self) -> str:
        place = self._address.partition("://")[2].rpartition("@")[2].partition("?")[0]
        # If the @ was forgotten, the text after the colon is a password and not a port.
        return "postgresql://" + re.sub(r":(?!\d+([,/]|$))[^]:,/]*(?=[,/]|$)", "", place)

    async def start_writer(self, league_id: str) -> PostgresWriter:
        await self._ensure_pool()
        connect = functools.partial(self._connect, ANSWER_S)
        writer = PostgresWriter(self.name, league_id, connect, self._patience_s)
        await writer.start()
        return writer

    def open_queue(self) -> PostgresQueue:
        self._queue = self._queue or PostgresQueue(self._address, self.name, self._find_term)
        return self._queue

    def _find_term(self, league_id: str) -> int:
        writer = self._writers.get(league_id)
        return writer.term if isinstance(writer, PostgresWriter) else 0

    async def close(self) -> None:
        if self._queue is not None:
            await self._queue.close()
        await super().close()
        if self._pool is not None:
            with suppress(TimeoutError):  # a connection that was cut off never says goodbye
                await asyncio.wait_for(self._pool.close(), CONNECT_S)
            self._pool.terminate()
            self._pool = None

    async def announce(self, league_id: str, address: str) -> None:
        writer = self._writers.get(league_id)
        if isinstance(writer, PostgresWriter):
            await writer.announce(address)

    async def find_leader(self, league_id: str) -> str | None:
        for row in await self.execute(schema.SELECT_LEADER.replace("$1", "?"), league_id):
            return str(row["address"]) or None
        return None

    async def save_snapshot(self, league_id: str, seq: int, body: str) -> None:
        writer = self._writers.get(league_id)
        if not isinstance(writer, PostgresWriter):
            return await super().save_snapshot(league_id, seq, body)
        await writer.keep()
        sql = schema.SAVE_SNAPSHOT_IN_TERM
        await self.execute(sql, seq, body, league_id, writer.term)
        return None

    async def wait_for_turn(self, league_id: str) -> None:
        """Return when no living program leads the league; depose one that is not heard of.

        It waits as long as that takes, also for a PostgreSQL that is down.
        """
        is_warned = False
        while True:
            try:
                await self._ensure_pool()
                return await self._wait_in_session(league_id)
            except (StoreError, *DB_ERRORS) as error:
                if not is_warned:
                    log.warning("%s; still standing by", describe_error(self.name, error))
                is_warned = True
                await asyncio.sleep(TURN_S)

    async def _wait_in_session(self, league_id: str) -> None:
        connection, key = await self._connect(CONNECT_S), make_lock_key(league_id)
        try:
            await connection.execute(f"SET lock_timeout = {int(1000 * TURN_S)}")
            while True:
                try:  # the lock comes at once when the leader ends, or is killed
                    await connection.execute("SELECT pg_advisory_lock($1)", key)
                except asyncpg.LockNotAvailableError:
                    await connection.execute(schema.DEPOSE, key, league_id, LEASE_S)
                else:
                    await connection.execute("SELECT pg_advisory_unlock($1)", key)
                    return
        finally:
            connection.terminate()

    async def execute(self, sql: str, *parameters: Any) -> list[Any]:
        pool = await self._ensure_pool()
        try:
            return await pool.fetch(number_parameters(sql), *parameters)
        except DB_ERRORS as error:
            raise StoreError(describe_error(self.name, error)) from error

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
                except DB_ERRORS as error:
                    raise StoreError(describe_error(self.name, error)) from error
            return self._pool

    async def _migrate(self) -> None:
        connection = await self._connect()
        try:
            async with connection.transaction():
                # Two programs that open a new database must not both make the tables.
                await connection.execute("SELECT pg_advisory_xact_lock($1)", make_lock_key(""))
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
