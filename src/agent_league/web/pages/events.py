"""The events after a number, for programs that follow a league, such as `league watch`."""

import asyncio

import msgspec

from agent_league.store.events import SeasonEnded
from agent_league.store.log import StoredEvent
from agent_league.web.league_view import Data, LeagueView
from agent_league.web.page import Arguments, Page

BATCH = 1000
LONGEST_WAIT, RETRY = 10.0, 0.05
"""Seconds: how long an answer waits for news; until an event that is being stored is looked for."""


async def load(view: LeagueView, arguments: Arguments) -> Data:
    after = arguments.get("after", "")
    start = int(after) if after.isdecimal() and len(after) < 16 else 0  # noqa: PLR2004 - no number has more digits
    follows = "wait" in arguments
    if follows:
        view.followers.note_request(start)
    stored = await view.records.read_log(start, BATCH)
    if not stored and follows:
        stored = await _wait_for_news(view, start)
    if follows and not any(isinstance(one.event, SeasonEnded) for one in stored):
        view.followers.note_answer(stored[-1].seq if stored else start)
    settings = msgspec.to_builtins(view.season.settings) | {"seed": ""}
    return {
        "events": [{"seq": one.seq, **view.publish(one.event)} for one in stored],
        "after": start,
        **({} if start else {"settings": settings}),
    }


async def _wait_for_news(view: LeagueView, start: int) -> list[StoredEvent]:
    """Return the next events as soon as they are kept, or none after a while."""
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            while not (stored := await view.records.read_log(start, BATCH)):
                if view.seq > start:
                    await asyncio.sleep(RETRY)
                else:
                    await view.wait_for_event()
    except TimeoutError:
        return []
    return stored


page = Page("/events", "events.html", "Events", load, refreshes=False, is_shared=False)
