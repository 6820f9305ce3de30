"""The course of a season: registration, round after round, the end."""

import asyncio
from typing import TYPE_CHECKING

from agent_league.agent import Agent
from agent_league.clock import written
from agent_league.league.discipline import Discipline
from agent_league.league.herald import Herald
from agent_league.league.matchday import Matchday
from agent_league.league.notices import Notices
from agent_league.league.officials import Officials
from agent_league.league.roster import AWAY, Entry
from agent_league.league.season import Season, Stage
from agent_league.league.watch import Watch
from agent_league.protocol import Role
from agent_league.store import EventLog
from agent_league.store.events import (
    FarewellSaid,
    MatchEnded,
    RoundClosed,
    RoundOpened,
    ScheduledMatch,
    SeasonEnded,
    SeasonStarted,
)
from agent_league.transport.outbox import Urgency
from agent_league.vocabulary import PlayerId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Conductor:
    """Leads the league from one stage to the next; waits for events, never for a clock."""

    def __init__(self, manager: Agent, season: Season, events: EventLog) -> None:
        self._manager = manager
        self._season = season
        self._settings = season.settings
        self._events = events
        self._notices = Notices(manager, season)
        self._officials = Officials(season.roster, season.settings.assignment)
        self.watch = Watch(manager, season.roster, events.append, self._lost, self._back)
        self.discipline = Discipline(manager, season, events)
        self._herald = Herald(manager, season.roster, self.watch.failed, self.discipline)
        self.matchday = Matchday(
            manager, season, events, self._officials, self.watch, self.discipline
        )
        self.matchday.decided = self.match_ended
        self._may_start = asyncio.Event()
        self._table_sent = float("-inf")
        self._table_due: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Conduct the whole season."""
        heartbeat = asyncio.ensure_future(self._heartbeat())
        self.watch.resume()
        try:
            if self._season.stage is Stage.REGISTRATION:
                await self._may_start.wait()
                await self._start()
            elif self._season.stage is Stage.PLAYING:
                await self._look_around()
            for round_id in range(self._season.closed_rounds + 1, self._season.total_rounds + 1):
                await self._play_round(round_id)
        finally:
            heartbeat.cancel()
        await self._finish()

    async def _look_around(self) -> None:
        """See who is still there after an interruption; some may be about to come back."""
        members = filter(_there, self._season.roster.of(Role.REFEREE, Role.PLAYER))
        await asyncio.gather(*(self.watch.greet(entry) for entry in members))

    def start_now(self) -> bool:
        """Begin with whoever is there; False if that is too few to begin with."""
        enough = len(self._season.roster.of(Role.PLAYER)) >= self._settings.min_players
        if enough:
            self._may_start.set()
        return enough

    def pause_changed(self) -> None:
        """Take note that the league was paused, or goes on."""
        self.matchday.look_whether_paused()

    def standings_changed(self) -> None:
        """Tell everybody the table, which changed without a match."""
        self._table_changed()

    def close(self) -> None:
        self._herald.close()
        if self._table_due is not None:
            self._table_due.cancel()

    def arrived(self, entry: Entry, returning: Entry | None) -> None:
        """Greet an agent that was admitted; one that comes back may have forgotten its matches."""
        if returning is not None and entry.role is Role.REFEREE:
            self.matchday.remind(entry)
        self._manager.spawn(self._greet(entry))

    def match_ended(self, ended: MatchEnded) -> None:
        self.watch.match_ended(ended)
        self.discipline.match_ended(ended)
        self.matchday.ended(ended.match_id)
        self._table_changed()

    def play_again(self, match_id: str) -> None:
        """Have a match refereed once more, as if its referee had been lost."""
        self.matchday.repeat(match_id)

    async def _greet(self, entry: Entry) -> None:
        await self.watch.greet(entry)
        if not _there(self._season.roster[entry.agent_id]):
            self.discipline.never_answered(entry)
        self._back(entry)

    def _complete(self) -> bool:
        """Whether everybody who is awaited has come and been seen."""
        awaited = self._settings.awaited_players
        players = self._season.roster.of(Role.PLAYER)
        referees = [r for r in self._season.roster.of(Role.REFEREE) if _there(r)]
        return (
            awaited is not None
            and len(players) >= awaited
            and len(referees) >= self._settings.awaited_referees
            and not self.watch.arriving
        )

    def _lost(self, entry: Entry) -> None:
        if entry.role is Role.REFEREE:
            self.matchday.lost(entry)

    def _back(self, entry: Entry) -> None:
        """Take note that somebody is there who was not."""
        self._officials.look_again()
        if self._complete():
            self._may_start.set()

    async def _start(self) -> None:
        players = seeded(entry.agent_id for entry in self._season.roster.of(Role.PLAYER))
        await self._events.append(SeasonStarted(at=self._now(), players=[*players]))

    async def _play_round(self, round_id: int) -> None:
        matches = self._season.pairings(round_id)
        self._events.note(RoundOpened(at=self._now(), round_id=round_id, matches=matches))
        planned = self._planned(matches)
        plan = self._notices.calendar() if round_id == 1 else None
        self._herald.tell(self._notices.round_opened(round_id, matches, planned), aside=plan)
        if self._settings.announcement_lead:
            await asyncio.sleep(self._settings.announcement_lead)
        await self.matchday.play(matches, planned)
        self._events.note(RoundClosed(at=self._now(), round_id=round_id))
        self._herald.tell(self._notices.round_closed(round_id), aside=self._notices.levels())

    def _planned(self, matches: list[ScheduledMatch]) -> "Mapping[str, str]":
        referees = self._officials.planned(len(matches))
        return {match.match_id: who for match, who in zip(matches, referees, strict=False)}

    async def _finish(self) -> None:
        champion = self._season.standings()[0].player_id
        self._send_table()
        notice = self._notices.season_ended()
        self._herald.tell(notice, Urgency.FAREWELL, aside=self._notices.levels())
        await self._events.append(SeasonEnded(at=self._now(), champion=champion))
        await self._herald.drained(self._settings.farewell)
        await self._events.append(FarewellSaid(at=self._now()))

    def _table_changed(self) -> None:
        """Send the table at once, or, if it was sent just now, a moment later."""
        if self._table_due is None:
            loop = asyncio.get_running_loop()
            due = max(loop.time(), self._table_sent + self._settings.table_interval)
            self._table_due = loop.call_at(due, self._send_table)

    def _send_table(self) -> None:
        if self._table_due is not None:
            self._table_due.cancel()
            self._table_due = None
            self._table_sent = asyncio.get_running_loop().time()
            self._herald.tell(self._notices.table(), Urgency.TABLE, replaces="table")

    async def _heartbeat(self) -> None:
        """Look after everybody: an agent that died cannot say so."""
        while True:
            await asyncio.sleep(self._settings.heartbeat)
            members = filter(_there, self._season.roster.of(Role.REFEREE, Role.PLAYER))
            arrived = [entry for entry in members if entry.agent_id not in self.watch.arriving]
            await asyncio.gather(*(self.watch.check(entry) for entry in arrived))

    def _now(self) -> str:
        return written(self._manager.clock())


def seeded(players: "Iterable[str]") -> list[PlayerId]:
    """Return *players* in the order in which the schedule is drawn."""
    ordered = sorted(sorted(players), key=lambda player: int(player[1:]))
    return [PlayerId(player) for player in ordered]


def _there(entry: Entry) -> bool:
    return entry.state not in AWAY
