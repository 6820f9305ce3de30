"""The tables of a store, and how each version of them came from the one before."""

import re
from typing import Final

# One text for both databases. A step is never edited once it is released: the next one mends it.
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
)
VERSION: Final = len(STEPS)
"""The version of a store that these tables make."""

INSERT_LEAGUE: Final = (
    "INSERT INTO leagues (league_id, opened_at, settings) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
)
INSERT_EVENT: Final = (
    "INSERT INTO events (league_id, seq, at, kind, version, match_id, once, body) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
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
    # Both counts are read from the index of what happens once, not from the events.
    "(SELECT COUNT(*) FROM events e WHERE e.league_id = l.league_id AND once IS NOT NULL "
    "AND substr(once, 1, 12) = 'match_ended:'), "
    "(SELECT COUNT(*) FROM events e WHERE e.league_id = l.league_id AND once = 'farewell_said') "
    "FROM leagues l ORDER BY opened_at, league_id"
)
SELECT_SETTINGS: Final = "SELECT settings FROM leagues WHERE league_id = ?"
SELECT_EVENTS: Final = (
    "SELECT seq, kind, version, body FROM events WHERE league_id = ? AND seq > ? "
    "ORDER BY seq LIMIT ?"
)
SELECT_MATCH: Final = (
    "SELECT seq, kind, version, body FROM events WHERE league_id = ? AND match_id = ? ORDER BY seq"
)
SELECT_TRANSCRIPT: Final = "SELECT body FROM transcripts WHERE league_id = ? AND match_id = ?"
SELECT_SNAPSHOT: Final = "SELECT seq, body FROM snapshots WHERE league_id = ?"


# Only PostgreSQL needs these. A schema of our own: `events` is a name that a shared database may
# well have already.
VERSION_TABLE: Final = """
    CREATE SCHEMA agent_league;
    CREATE TABLE store_version (
        single BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (single),
        version INTEGER NOT NULL
    );
    INSERT INTO store_version (version) VALUES (0);
"""
INSERT_NEW_EVENT: Final = f"{INSERT_EVENT} ON CONFLICT (league_id, seq) DO NOTHING"
SELECT_LAST: Final = "SELECT COALESCE(MAX(seq), 0) FROM events WHERE league_id = $1"
SELECT_SINCE: Final = "SELECT seq, body FROM events WHERE league_id = $1 AND seq >= $2 ORDER BY seq"
SELECT_HOLDER: Final = """
    SELECT a.application_name, a.pid, host(a.client_addr)
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND a.datname = current_database()
    AND (l.classid::bigint << 32 | l.objid::bigint) = $1
"""
"""Who has an advisory lock; its 64 bits stand there in two halves."""


def numbered(sql: str) -> str:
    """Return *sql* with its parameters as PostgreSQL writes them: $1, $2."""
    numbers = iter(range(1, sql.count("?") + 1))
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql)
