"""The ratings of a league for its pages: computed beside the matches, and not more often than that bears."""

import asyncio
import time
from collections.abc import Callable

from agent_league.season.season import Season
from agent_league.tournament.pairing import Played
from agent_league.tournament.ratings import Ratings, rate_players
from agent_league.vocabulary import PlayerId

REST = 50
"""A league that goes on has its ratings computed again after so many times what they took."""


class RatingBook:
    """Knows how strong the players of a season are."""

    def __init__(self, season: Season, list_played: Callable[[], list[Played]]) -> None:
        self._season, self._list_played = season, list_played
        self._found: Ratings | None = None
        self._played = -1
        self._players: tuple[PlayerId, ...] = ()
        self._until = 0.0
        self._computing = asyncio.Lock()

    async def read(self) -> Ratings:
        """Return the ratings, which may be a few seconds old."""
        async with self._computing:
            played, now = self._season.played - len(self._season.voided), time.perf_counter()
            players = tuple(self._season.players)
            is_current = played == self._played or now < self._until
            if self._found is None or not is_current or players != self._players:
                results, self._players = self._list_played(), players
                self._found = await asyncio.to_thread(rate_players, players, results)
                self._until = time.perf_counter() + REST * (time.perf_counter() - now)
                self._played = played
            return self._found
