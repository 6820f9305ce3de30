"""The matches that a player still has to play: some leagues say too early that they are over."""

import asyncio
from contextlib import suppress

from agent_league.player.memory import remember

GRACE = 10.0
"""How many seconds after the last message a player stays that has no match left."""
LONGEST_SILENCE = 60.0
"""How many seconds after the last message it stays for a match that has not ended."""


class OpenMatches:
    """The matches that were announced to a player, or that it was invited to, and have not ended."""

    def __init__(self) -> None:
        self._matches: dict[str, None] = {}
        self._ended: dict[str, None] = {}
        self._is_heard = asyncio.Event()
        """Set when a message about a match comes."""

    def add(self, match_id: str) -> None:
        """Note that a match is to be played."""
        self._is_heard.set()
        if match_id not in self._ended:
            remember(self._matches, match_id, None)

    def end(self, match_id: str) -> None:
        """Note that a match is over."""
        self._is_heard.set()
        self._matches.pop(match_id, None)
        remember(self._ended, match_id, None)

    async def wait_until_quiet(self) -> None:
        """Wait until every match has ended and no message has come for a while."""
        with suppress(TimeoutError):
            while True:
                self._is_heard.clear()
                async with asyncio.timeout(LONGEST_SILENCE if self._matches else GRACE):
                    await self._is_heard.wait()
