"""Looks at a league in its store: `look STORE LEAGUE` prints what is kept, as JSON."""

import asyncio
import json
import sys

import asyncpg

EVENTS = "SELECT kind, match_id, at FROM agent_league.events WHERE league_id = $1 ORDER BY seq"
LEADER = "SELECT term, address FROM agent_league.leaders WHERE league_id = $1"


async def look(address: str, league_id: str) -> dict[str, object]:
    connection = await asyncpg.connect(address, timeout=10)
    try:
        rows = await connection.fetch(EVENTS, league_id)
        leader = await connection.fetchrow(LEADER, league_id)
    finally:
        await connection.close()
    ended = [row["match_id"] for row in rows if row["kind"] == "match_ended"]
    times = {kind: [row["at"] for row in rows if row["kind"] == kind] for kind in MEASURED}
    return {
        "events": len(rows),
        "ended": ended,
        "is_over": any(row["kind"] == "farewell_said" for row in rows),
        "term": leader["term"] if leader else 0,
        "times": times,
    }


MEASURED = ("match_assigned", "match_ended")

if __name__ == "__main__":
    print(json.dumps(asyncio.run(look(*sys.argv[1:]))))  # noqa: T201 - it is a program
