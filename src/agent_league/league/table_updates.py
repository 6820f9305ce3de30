"""Sends the table to everybody: soon after a result, but not after each one."""

import asyncio

from agent_league.league.context import Context
from agent_league.league.notices import Broadcaster, Notices
from agent_league.peers.outbox import Urgency
from agent_league.store.events import Event, MatchEnded, MatchVoided

INTERVAL_PER_PLAYER, LONGEST_INTERVAL = 0.02, 4.0
"""Seconds between two updates of the table; spec: none is more than 5 seconds old."""


def find_table_interval(players: int, shortest: float) -> float:
    """Return the seconds between two updates: each goes to all players, with a row for each."""
    return max(shortest, min(LONGEST_INTERVAL, INTERVAL_PER_PLAYER * players))


class TableUpdates:
    """Sends the table when it has changed, but not more often than the settings allow."""

    def __init__(self, context: Context, broadcaster: Broadcaster, notices: Notices) -> None:
        self._season = context.season
        self._broadcaster = broadcaster
        self._notices = notices
        self._sent_at = float("-inf")
        self._count_audience = context.count_audience
        self._timer: asyncio.TimerHandle | None = None
        context.events.when_kept(MatchEnded, self._schedule)
        context.events.when_kept(MatchVoided, self._schedule)

    def send_pending(self) -> None:
        """Send the update that is scheduled now, if there is one."""
        if self._timer is not None:
            self.close()
            self._sent_at = asyncio.get_running_loop().time()
            notice = self._notices.make_standings_update()
            self._broadcaster.tell(notice, Urgency.TABLE, replaces="table")

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self, event: Event) -> None:
        """Send the table at once, or, if it was sent just now, a moment later."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            # The players of other leagues of this process count, too: they share its time.
            players, shortest = self._count_audience(), self._season.settings.table_interval
            due = max(loop.time(), self._sent_at + find_table_interval(players, shortest))
            self._timer = loop.call_at(due, self.send_pending)
