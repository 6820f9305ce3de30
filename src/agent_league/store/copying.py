"""Copies leagues from one store to another, event by event, also while they are being played.

Events are only ever added, each with the messages of the match that it ends. So whatever was read
up to some event is a state that the league was in, and needs no lock.
"""

from collections.abc import Sequence
from typing import Any

from agent_league.store import schema
from agent_league.store.codec import Statement
from agent_league.store.errors import StoreError
from agent_league.store.store import RECORD_PAGE, Store


async def copy_leagues(source: Store, target: Store) -> dict[str, int]:
    """Copy every league of *source*; return how many events of each were copied.

    Raises `StoreError`, before anything is copied, if *target* has a league of the same id.
    """
    league_ids = [row.league_id for row in await source.leagues()]
    known = {row.league_id for row in await target.leagues()}
    for league_id in league_ids:
        if league_id in known:
            problem = f"{target.name} has a league {league_id!r} already"
            raise StoreError(f"{problem}: nothing was restored")
    return {league_id: await _copy_league(source, target, league_id) for league_id in league_ids}


async def _copy_league(source: Store, target: Store, league_id: str) -> int:
    ((opened_at, settings),) = await source.execute(schema.SELECT_OPENING, league_id)
    writer = await target.open(league_id, opened_at, settings)
    keys = await source.execute(schema.SELECT_KEY, league_id)
    await writer.write([(schema.INSERT_KEY, (league_id, key)) for (key,) in keys])
    copied = 0
    while rows := await source.execute(schema.SELECT_RECORD, league_id, copied, RECORD_PAGE):
        if rows[-1][0] != copied + len(rows):
            raise StoreError(f"{source.name} is damaged: events of {league_id} are missing")
        await writer.write([part for row in rows for part in _make_statements(league_id, row)])
        copied = rows[-1][0]
    return copied


def _make_statements(league_id: str, row: Sequence[Any]) -> list[Statement]:
    """Return the statements that write an event as it stands in another store."""
    *event, messages = row
    written: list[Statement] = [(schema.INSERT_EVENT, (league_id, *event))]
    if messages is not None:
        match_id = event[4]
        written.append((schema.INSERT_TRANSCRIPT, (league_id, match_id, messages)))
    return written
