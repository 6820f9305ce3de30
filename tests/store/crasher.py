"""A program that dies at a named point of its third event: `crasher ADDRESS POINT`."""

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import asyncpg

from agent_league.store import EventLog
from agent_league.store.codec import Rows
from agent_league.store.postgres_writer import PostgresWriter
from agent_league.store.schema import INSERT_EVENT
from agent_league.store.sqlite import SqliteStore
from store.books import writing
from store.samples import SEASON

POINTS = ("before append", "before sync", "before acknowledgement")
EVENTS = [event for event in SEASON if event.once]
DEADLY = 3


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DyingConnection:
    """A SQLite connection whose process dies around a commit."""

    def __init__(self, database: sqlite3.Connection, point: str) -> None:
        self._database, self._point = database, point
        self._events = 0

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        self._events += sql.startswith("INSERT INTO events")
        return self._database.execute(sql, parameters)

    def __enter__(self) -> None:
        """The database itself has nothing to enter."""

    def __exit__(self, *error: object) -> None:
        if self._events == DEADLY and self._point == "before sync":
            die()
        self._database.commit()
        if self._events == DEADLY:
            die()

    def close(self) -> None:
        self._database.close()


def arm_sqlite(point: str) -> None:
    connected = SqliteStore._connect

    def dying(self: SqliteStore) -> DyingConnection:
        return DyingConnection(connected(self), point)

    SqliteStore._connect = dying  # type: ignore[method-assign,assignment]  # it acts like one


def arm_postgres(point: str) -> None:
    insert, send = asyncpg.Connection.executemany, PostgresWriter._send

    async def dying_insert(
        self: "asyncpg.Connection[asyncpg.Record]", command: str, args: Iterable[Sequence[Any]]
    ) -> None:
        rows = list(args)
        await insert(self, command, rows)
        if point == "before sync" and "INTO events" in command and rows[-1][1] == DEADLY:
            die()  # it has arrived, and is not yet to stay

    async def dying_send(self: PostgresWriter, rows: Rows) -> None:
        await send(self, rows)
        if any(row[1] == DEADLY for row in rows.get(INSERT_EVENT, ())):
            die()

    asyncpg.Connection.executemany = dying_insert  # type: ignore[method-assign,assignment]
    PostgresWriter._send = dying_send  # type: ignore[method-assign]


async def main(address: str, point: str) -> None:
    async with writing(address) as (_, sink):
        log = EventLog(sink)
        for number, event in enumerate(EVENTS, 1):
            if number == DEADLY and point == "before append":
                die()
            await log.append(event)
            os.write(1, f"{number}\n".encode())


if __name__ == "__main__":
    if sys.argv[2] != "before append":
        (arm_postgres if "://" in sys.argv[1] else arm_sqlite)(sys.argv[2])
    asyncio.run(main(*sys.argv[1:]))
