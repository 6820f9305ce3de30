"""The queue of matches in PostgreSQL, made with PgQueuer, in a schema of its own."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import asyncpg

from agent_league.extras import import_extra
from agent_league.store.errors import DeposedError, StoreError
from agent_league.store.postgres_writer import CONNECT_S, DB_ERRORS, describe_error, make_lock_key
from agent_league.store.queue import PlayJob, PoolJob, decode_job, encode_job

log = logging.getLogger("agent_league")
SCHEMA = "agent_league_pool"
ENTRYPOINT = "matches"
ANSWER_S = 10.0
WORKER_LEASE_S = 5.0
"""Seconds after which a worker that was not heard of does not count."""
JOB_LEASE_S = 10.0
"""Seconds after which the matches of a worker that was not heard of go to another."""
SIGN_ON_S, COUNT_S = 1.0, 0.5
RESTART_S = 1.0

_MAKE_TABLES = f"""
    CREATE SCHEMA IF NOT EXISTS {SCHEMA};
    CREATE TABLE IF NOT EXISTS {SCHEMA}.workers (
        worker_id TEXT PRIMARY KEY,
        seats INTEGER NOT NULL,
        seen_at DOUBLE PRECISION NOT NULL
    );
"""
_SIGN_ON = f"""
    INSERT INTO {SCHEMA}.workers (worker_id, seats, seen_at)
    VALUES ($1, $2, extract(epoch FROM clock_timestamp()))
    ON CONFLICT (worker_id) DO UPDATE SET seats = excluded.seats, seen_at = excluded.seen_at
"""  # noqa: S608 - the name is ours
_SIGN_OFF = f"DELETE FROM {SCHEMA}.workers WHERE worker_id = $1"  # noqa: S608 - the name is ours
_IS_THERE = f"SELECT to_regclass('{SCHEMA}.workers') IS NOT NULL"
_COUNT_SEATS = f"""
    SELECT COALESCE(SUM(seats), 0)::int FROM {SCHEMA}.workers
    WHERE seen_at > extract(epoch FROM clock_timestamp()) - $1::float8
"""  # noqa: S608 - the name is ours
_LIST_QUEUED = f"""
    SELECT dedupe_key FROM {SCHEMA}.pgqueuer
    WHERE starts_with(dedupe_key, $1) AND status IN ('queued', 'picked')
"""  # noqa: S608 - the name is ours
_CHECK_TERM = "SELECT 1 FROM agent_league.leaders WHERE league_id = $1 AND term = $2 FOR SHARE"
_LEADERS = "SELECT league_id, address FROM agent_league.leaders WHERE address <> ''"
_MATCH = """
    SELECT kind, body::json ->> 'ticket_hash' FROM agent_league.events
    WHERE league_id = $1 AND match_id = $2 AND kind IN ('match_assigned', 'match_ended')
    ORDER BY seq DESC LIMIT 1
"""


def _import_pgqueuer(module: str = "pgqueuer") -> Any:
    """Return the library; it takes half a second to import, so it is imported when it is used."""
    return import_extra(module, "postgres")


class PostgresQueue:
    """The queue as a manager or a worker uses it; it connects when it is first used."""

    def __init__(
        self, address: str, name: str, find_term: Callable[[str], int] = lambda league_id: 0
    ) -> None:
        """*find_term* returns the term in which this program leads a league."""
        self._address, self._name, self._find_term = address, name, find_term
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._is_installed = False
        self._counted_at, self._seats = float("-inf"), 0

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(*DB_ERRORS):
                await asyncio.wait_for(pool.close(), CONNECT_S)
            pool.terminate()

    async def _connect(self) -> "asyncpg.Pool[asyncpg.Record]":
        if self._pool is None:
            self._pool = await asyncpg.create_pool(
                self._address,
                min_size=0,
                max_size=6,
                timeout=CONNECT_S,
                command_timeout=ANSWER_S,
                server_settings={"search_path": SCHEMA, "application_name": "agent-league pool"},
            )
        return self._pool

    async def install(self) -> None:
        """Make the tables, or bring them up to date."""
        if self._is_installed:
            return
        pool = await self._connect()
        async with pool.acquire() as connection, connection.transaction():
            # Two workers that open a new database must not both make the tables.
            await connection.execute("SELECT pg_advisory_xact_lock($1)", make_lock_key(SCHEMA))
            await connection.execute(_MAKE_TABLES)
            queries = _import_pgqueuer().Queries.from_asyncpg_pool(pool)
            if not await queries.schema_is_installed():
                queries = _import_pgqueuer().Queries.from_asyncpg_connection(connection)
                await queries.install(create_schema=False)
        async with pool.acquire() as connection:
            await _import_pgqueuer().Queries.from_asyncpg_connection(connection).apply_upgrade()
        self._is_installed = True

    async def _fetch(self, sql: str, *parameters: Any) -> Any:
        try:
            return await (await self._connect()).fetch(sql, *parameters)
        except DB_ERRORS as error:
            raise StoreError(describe_error(self._name, error)) from error

    async def count_seats(self) -> int:
        now = asyncio.get_running_loop().time()
        if now >= self._counted_at + COUNT_S:  # all leagues of this process ask for the same
            self._counted_at, self._seats = now, await self._fetch_seats()
        return self._seats

    async def _fetch_seats(self) -> int:
        ((is_there,),) = await self._fetch(_IS_THERE)
        if not is_there:
            return 0
        ((seats,),) = await self._fetch(_COUNT_SEATS, WORKER_LEASE_S)
        return int(seats)

    async def list_queued(self, league_id: str) -> set[str]:
        prefix = f"{league_id}/"
        rows = await self._fetch(_LIST_QUEUED, prefix)
        return {key for (found,) in rows for key in found.removeprefix(prefix).split("+")}

    async def submit(self, jobs: Sequence[PoolJob]) -> None:
        try:
            pool = await self._connect()
            async with pool.acquire() as connection, connection.transaction():
                for league_id in {job.league_id for job in jobs}:
                    term = self._find_term(league_id)
                    if not await connection.fetchval(_CHECK_TERM, league_id, term):
                        raise DeposedError(f"league {league_id} is led by another manager by now")
                await (
                    _import_pgqueuer()
                    .Queries.from_asyncpg_connection(connection)
                    .enqueue(
                        [ENTRYPOINT] * len(jobs),
                        [encode_job(job) for job in jobs],
                        [0] * len(jobs),
                        dedupe_key=[f"{job.league_id}/{'+'.join(job.keys)}" for job in jobs],
                        on_conflict="skip",
                    )
                )
        except DB_ERRORS as error:
            raise StoreError(describe_error(self._name, error)) from error

    async def find_leaders(self) -> dict[str, str]:
        """Return where the manager of each league listens."""
        return {row["league_id"]: row["address"] for row in await self._fetch(_LEADERS)}

    async def is_wanted(self, league_id: str, match_id: str, ticket_hash: str) -> bool:
        """Whether a match has no result yet, and this attempt is the latest."""
        rows = await self._fetch(_MATCH, league_id, match_id)
        return bool(rows) and tuple(rows[0]) == ("match_assigned", ticket_hash)

    async def sign_on(self, worker_id: str, seats: int) -> None:
        """Say that a worker lives."""
        await self._fetch(_SIGN_ON, worker_id, seats)

    async def sign_off(self, worker_id: str) -> None:
        await self._fetch(_SIGN_OFF, worker_id)

    async def run(self, play: PlayJob, seats: int, stop: asyncio.Event) -> None:
        """Let *play* have jobs, until *stop* is set; wait for a PostgreSQL that is down."""
        is_warned = False
        while not stop.is_set():
            try:
                await self.install()
                await self._run_session(play, seats, stop)
                is_warned = False
            except (*DB_ERRORS, StoreError, RuntimeError) as error:
                if not is_warned:
                    log.warning("%s; waiting for it", describe_error(self._name, error))
                is_warned, self._is_installed = True, False
                await self.close()
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), RESTART_S)

    async def _run_session(self, play: PlayJob, seats: int, stop: asyncio.Event) -> None:
        """Take jobs until PostgreSQL goes away, or *stop* is set; then end those that were begun."""
        queuer = _import_pgqueuer().PgQueuer.from_asyncpg_pool(await self._connect())

        # A job that fails stays there to be looked at; the manager puts its matches in again.
        async def take(job: Any) -> None:
            await play(decode_job(job.payload or b""))

        queuer.entrypoint(ENTRYPOINT, on_failure="hold", accepts_context=False)(take)
        stopping = asyncio.ensure_future(stop.wait())
        stopping.add_done_callback(lambda _: queuer.shutdown.set())
        try:
            # Its check of notifications begins before it listens, and fails on a busy machine; so
            # a lost notification is made up for by looking every second.
            await queuer.run(
                batch_size=max(1, seats // 2),
                max_concurrent_tasks=max(2, seats),
                dequeue_timeout=timedelta(seconds=1),
                heartbeat_timeout=timedelta(seconds=JOB_LEASE_S),
                shutdown_on_listener_failure=False,
            )
        except _import_pgqueuer("pgqueuer.domain.errors").PgqException as error:
            raise StoreError(f"{self._name}: {error!r}") from error
        finally:
            stopping.cancel()
