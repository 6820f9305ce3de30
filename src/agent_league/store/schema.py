"""The SQL of a store: its tables, the steps from version to version, and its statements."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Final

from agent_league.store.errors import StoreError

# The same SQL for both databases. A step is never edited once it is released: the next one repairs it.
STEPS: Final = (
    """
    CREATE TABLE leagues (
        league_id TEXT PRIMARY KEY,
        opened_at TEXT NOT NULL,
        settings TEXT NOT NULL
    );
    CREATE TABLE events (
        league_id TEXT NOT NULL,
        seq BIGINT NOT NULL,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        version INTEGER NOT NULL,
        match_id TEXT,
        once TEXT,
        body TEXT NOT NULL,
        PRIMARY KEY (league_id, seq)
    );
    CREATE UNIQUE INDEX events_once ON events (league_id, once) WHERE once IS NOT NULL;
    CREATE INDEX events_match ON events (league_id, match_id) WHERE match_id IS NOT NULL;
    CREATE TABLE transcripts (
        league_id TEXT NOT NULL,
        match_id TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (league_id, match_id)
    );
    CREATE TABLE snapshots (
        league_id TEXT PRIMARY KEY,
        seq BIGINT NOT NULL,
        body TEXT NOT NULL
    );
    """,
    """
    ALTER TABLE events ADD COLUMN link TEXT;
    CREATE TABLE signing_keys (
        league_id TEXT PRIMARY KEY,
        signing_key TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE leaders (
        league_id TEXT PRIMARY KEY,
        term BIGINT NOT NULL,
        address TEXT NOT NULL,
        seen_at DOUBLE PRECISION NOT NULL
    );
    """,
)
VERSION: Final = len(STEPS)
"""The version of a store after all steps."""

INSERT_LEAGUE: Final = (
    "INSERT INTO leagues (league_id, opened_at, settings) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
)
INSERT_EVENT: Final = (
    "INSERT INTO events (league_id, seq, at, kind, version, match_id, once, link, body) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_TRANSCRIPT: Final = (
    "INSERT INTO transcripts (league_id, match_id, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
)
SAVE_SNAPSHOT: Final = (
    "INSERT INTO snapshots (league_id, seq, body) VALUES (?, ?, ?) "
    "ON CONFLICT (league_id) DO UPDATE SET seq = excluded.seq, body = excluded.body"
)
SELECT_LEAGUES: Final = (
    "SELECT league_id, opened_at, settings, "
    # Both counts come from the index of what happens once, not from the events.
    "(SELECT COUNT(*) FROM events e WHERE e.league_id = l.league_id AND once IS NOT NULL "
    "AND substr(once, 1, 12) = 'match_ended:'), "
    "(SELECT COUNT(*) FROM events e WHERE e.league_id = l.league_id AND once = 'farewell_said') "
    "FROM leagues l ORDER BY opened_at, league_id"
)
INSERT_KEY: Final = (
    "INSERT INTO signing_keys (league_id, signing_key) VALUES (?, ?) ON CONFLICT DO NOTHING"
)
SELECT_KEY: Final = "SELECT signing_key FROM signing_keys WHERE league_id = ?"
SELECT_OPENING: Final = "SELECT opened_at, settings FROM leagues WHERE league_id = ?"
SELECT_LAST_LINK: Final = "SELECT link FROM events WHERE league_id = ? ORDER BY seq DESC LIMIT 1"
SELECT_RECORD: Final = (
    "SELECT e.seq, e.at, e.kind, e.version, e.match_id, e.once, e.link, e.body, t.body "
    "FROM events e LEFT JOIN transcripts t ON t.league_id = e.league_id "
    "AND t.match_id = e.match_id AND e.kind = 'match_ended' "
    "WHERE e.league_id = ? AND e.seq > ? ORDER BY e.seq LIMIT ?"
)
"""Every column of the events, and the transcripts of the matches that they end."""
SELECT_SETTINGS: Final = "SELECT settings FROM leagues WHERE league_id = ?"
SELECT_EVENTS: Final = (
    "SELECT seq, kind, version, body FROM events WHERE league_id = ? AND seq > ? "
    "ORDER BY seq LIMIT ?"
)
SELECT_MATCH_EVENTS: Final = (
    "SELECT seq, kind, version, body FROM events WHERE league_id = ? AND match_id IN ({}) "
    "ORDER BY seq"
)
"""The braces take one parameter for each match."""
SELECT_TRANSCRIPTS: Final = (
    "SELECT match_id, body FROM transcripts WHERE league_id = ? AND match_id IN ({})"
)
COUNT_EVENTS: Final = "SELECT COUNT(*) FROM events WHERE league_id = ? AND seq <= ?"
SELECT_TRANSCRIPT: Final = "SELECT body FROM transcripts WHERE league_id = ? AND match_id = ?"
SELECT_SNAPSHOT: Final = "SELECT seq, body FROM snapshots WHERE league_id = ?"

# For PostgreSQL only. The schema is our own, because a shared database may already have a table
# `events`.
VERSION_TABLE: Final = """
    CREATE SCHEMA agent_league;
    CREATE TABLE store_version (
        single BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (single),
        version INTEGER NOT NULL
    );
    INSERT INTO store_version (version) VALUES (0);
"""
ANNOUNCE_LEADER: Final = "UPDATE leaders SET address = ? WHERE league_id = ? AND term = ?"
BEGIN_TERM: Final = """
    INSERT INTO leaders (league_id, term, address, seen_at) VALUES ($1, 1, '', extract(epoch FROM clock_timestamp()))
    ON CONFLICT (league_id) DO UPDATE
    SET term = leaders.term + 1, address = '', seen_at = excluded.seen_at RETURNING term
"""
"""Every term has a number of its own, higher than all before."""
RENEW_TERM: Final = """
    UPDATE leaders SET seen_at = extract(epoch FROM clock_timestamp())
    WHERE league_id = $1 AND term = $2 RETURNING term
"""
"""Selects nothing once another term has begun; until the transaction ends, none can begin."""
SELECT_LEADER: Final = "SELECT term, address FROM leaders WHERE league_id = $1"
SAVE_SNAPSHOT_IN_TERM: Final = (
    "INSERT INTO snapshots (league_id, seq, body) "
    "SELECT league_id, ?::bigint, ? FROM leaders WHERE league_id = ? AND term = ? FOR SHARE "
    "ON CONFLICT (league_id) DO UPDATE SET seq = excluded.seq, body = excluded.body"
)
INSERT_NEW_EVENT: Final = f"{INSERT_EVENT} ON CONFLICT (league_id, seq) DO NOTHING"
SELECT_LAST: Final = "SELECT COALESCE(MAX(seq), 0) FROM events WHERE league_id = $1"
SELECT_SINCE: Final = "SELECT seq, body FROM events WHERE league_id = $1 AND seq >= $2 ORDER BY seq"
SELECT_HOLDER: Final = """
    SELECT a.application_name, a.pid, host(a.client_addr)
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND a.datname = current_database()
    AND (l.classid::bigint << 32 | l.objid::bigint) = $1
"""
"""The session that holds an advisory lock; pg_locks shows its 64-bit key in two halves."""
DEPOSE: Final = """
    SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND a.datname = current_database()
    AND (l.classid::bigint << 32 | l.objid::bigint) = $1
    AND EXISTS (
        SELECT FROM leaders
        WHERE league_id = $2 AND seen_at < extract(epoch FROM clock_timestamp()) - $3::float8
    )
"""
"""Ends the session of a leader that was not heard of for $3 seconds: its host is cut off, or it
was stopped."""


def find_steps(store: str, version: int) -> Sequence[str]:
    """Return the steps that a store of *version* lacks, or raise `StoreError` if it is newer."""
    if version > VERSION:
        problem = f"{store} is a store of version {version}, this program knows {VERSION}"
        raise StoreError(f"{problem}: use a newer agent-league")
    return STEPS[version:]


@cache
def number_parameters(sql: str) -> str:
    """Return *sql* with numbered parameters, as PostgreSQL has them: $1, $2."""
    numbers = count(1)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql)
