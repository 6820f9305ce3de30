"""Matches that wait to be fetched, by referees that ask for them instead of being told."""

import asyncio
from collections import defaultdict
from collections.abc import Set as AbstractSet

from agent_league.vocabulary import Json


class Trays:
    """One tray for each referee that was seen to ask; a match is handed out once."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, Json]] = {}
        self._asked: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def __contains__(self, referee_id: str) -> bool:
        return referee_id in self._waiting

    def polled(self, referee_id: str) -> bool:
        """Take note that a referee asks for its matches; return whether it did for the first time."""
        first = referee_id not in self._waiting
        self._waiting.setdefault(referee_id, {})
        self._asked[referee_id].set()
        return first

    async def first_poll(self, referee_id: str, within: float) -> bool:
        """Wait until a referee has asked for its matches; False if it does not."""
        try:
            async with asyncio.timeout(within):
                await self._asked[referee_id].wait()
        except TimeoutError:
            return False
        return True

    def put(self, referee_id: str, match_id: str, order: Json) -> None:
        self._waiting[referee_id][match_id] = order

    def taken(self, referee_id: str, still_wanted: AbstractSet[str]) -> Json:
        """Return the next match for a referee, or None; what is not wanted any more is dropped."""
        tray = self._waiting[referee_id]
        while tray:
            match_id = next(iter(tray))
            order = tray.pop(match_id)
            if match_id in still_wanted:
                return order
        return None
