"""Sends the table to everybody: soon after a result, but not after each one."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from agent_league.dialects.dialect import Outgoing, encode_message
from agent_league.league.broadcaster import Broadcaster
from agent_league.league.context import Context
from agent_league.league.notices import Notices
from agent_league.peers.outbox import Urgency
from agent_league.protocol import Role, rounds
from agent_league.season.roster import Roster
from agent_league.store.events import Event, MatchEnded, MatchVoided

INTERVAL_PER_PLAYER, LONGEST_INTERVAL = 0.02, 4.0
"""Seconds between two updates of the table; spec: none is more than 5 seconds old."""


def find_table_interval(players: int, shortest: float) -> float:
    """Return the seconds between two updates: each goes to all players, with a row for each."""
    return max(shortest, min(LONGEST_INTERVAL, INTERVAL_PER_PLAYER * players))


NEIGHBOURS = "neighbours"
SOON = (None, "all", NEIGHBOURS)
"""The wishes of players that get the table soon after a result; see `PlayerMeta`."""
DISTANCE = 2
"""How many rows above and below its own a player gets that wants only its neighbours."""
Row = TypeVar("Row", rounds.StandingRow, rounds.FinalStanding)


def cut_rows(rows: Sequence[Row], players: Sequence[str]) -> Iterator[tuple[str, list[Row]]]:
    """Yield each of *players* that is in the table, and the rows near its own."""
    places = {row.player_id: place for place, row in enumerate(rows)}
    for player in players:
        if player in places:
            place = places[player]
            yield player, list(rows[max(0, place - DISTANCE) : place + DISTANCE + 1])


def cut_final_table(notice: rounds.LeagueCompleted, roster: Roster) -> dict[str, Outgoing]:
    """Return the last notice of each player that never gets the whole table."""
    wishes = (NEIGHBOURS, "none")
    players = [one.agent_id for one in roster.of(Role.PLAYER) if one.standings in wishes]
    return {
        who: encode_message(replace(notice, final_standings=rows))
        for who, rows in cut_rows(notice.final_standings, players)
    }


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
            self._send(*SOON)

    def send_after_round(self) -> None:
        """Send the table to those who want it only now."""
        self._send("round")

    def _send(self, *wishes: str | None) -> None:
        """Send the table to the players with these wishes, if there are any."""
        players = [one for one in self._season.roster.of(Role.PLAYER) if one.standings in wishes]
        if not players:
            return
        notice = self._notices.make_standings_update()
        nearby = [one.agent_id for one in players if one.standings == NEIGHBOURS]
        rows = dict(cut_rows(notice.standings, nearby))
        instead = {who: encode_message(replace(notice, standings=rows[who])) for who in rows}
        is_for = {one.agent_id for one in players}
        self._broadcaster.tell(
            *(notice, Urgency.TABLE, "table"),
            instead=instead,
            is_for=lambda entry: entry.agent_id in is_for,
        )

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
