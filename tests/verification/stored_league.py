"""Leagues over HTTP that are kept in a file, and ways to change that file behind their back."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from agent_league.store.chain import make_first_link, make_link, publish_settings
from agent_league.store.codec import make_line
from agent_league.store.sqlite import SqliteStore
from agent_league.verification.audit import Audit
from agent_league.verification.stored import audit_store
from agent_league.vocabulary import Json
from end_to_end.http_league import HASTY, HttpLeague, Script

RECORD = (
    "SELECT e.seq, e.kind, e.version, e.body, t.body FROM events e LEFT JOIN transcripts t "
    "ON t.match_id = e.match_id AND e.kind = 'match_ended' ORDER BY e.seq"
)


def play_stored(script: Script, path: Path, **changes: Any) -> HttpLeague:
    """Play a league that is kept in the file *path*, and return it."""

    async def play() -> HttpLeague:
        league = HttpLeague(**{"patience": HASTY, **changes})
        league.store = store = SqliteStore(path, "process")
        try:
            async with league:
                await script(league)
        finally:
            await store.close()
        return league

    return asyncio.run(play())


def audit(path: Path, *trusted: str) -> Audit:
    """Check the only league in the file *path*."""

    async def check() -> Audit:
        store = SqliteStore(path)
        try:
            (row,) = await store.leagues()
            return await audit_store(store, row.league_id, trusted)
        finally:
            await store.close()

    return asyncio.run(check())


def execute(path: Path, sql: str, *parameters: object) -> int:
    """Change the file, as somebody with an editor for databases would; return how many rows."""
    with closing(sqlite3.connect(path)) as database, database:
        return database.execute(sql, parameters).rowcount


def edit(path: Path, kind: str, change: Callable[[Json], object]) -> None:
    """Change the body of the first event of *kind*."""
    with closing(sqlite3.connect(path)) as database, database:
        found = database.execute(
            "SELECT seq, body FROM events WHERE kind = ? ORDER BY seq LIMIT 1", (kind,)
        )
        seq, body = found.fetchone()
        fields = msgspec.json.decode(body)
        change(fields)
        new = msgspec.json.encode(fields).decode()
        assert new != body
        database.execute("UPDATE events SET body = ? WHERE seq = ?", (new, seq))


def chain_again(path: Path) -> None:
    """Make the hash chain fit what the file holds, as a careful forger would."""
    with closing(sqlite3.connect(path)) as database, database:
        league = database.execute("SELECT league_id, opened_at, settings FROM leagues").fetchone()
        league_id, opened_at, settings = league
        link = make_first_link(league_id, opened_at, publish_settings(settings))
        for seq, kind, version, body, messages in database.execute(RECORD).fetchall():
            link = make_link(link, make_line(seq, kind, version, body, messages))
            database.execute("UPDATE events SET link = ? WHERE seq = ?", (link, seq))
