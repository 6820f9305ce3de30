"""The course of a season: registration, round after round, the end."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from agent_league.futures import Ending, call_when_done, make_waits
from agent_league.league.broadcaster import Broadcaster
from agent_league.league.context import Context
from agent_league.league.discipline import Discipline
from agent_league.league.dispatcher import Dispatcher
from agent_league.league.exclusion import ExclusionNotices
from agent_league.league.liveness import Liveness
from agent_league.league.notices import Notices
from agent_league.league.open_rounds import PlayersInTurn
from agent_league.league.referee_pool import RefereePool
from agent_league.league.table_updates import TableUpdates, cut_final_table
from agent_league.peers.outbox import Urgency
from agent_league.protocol import Role
from agent_league.protocol.message import EVERYBODY
from agent_league.season.answers import find_champion
from agent_league.season.roster import AWAY, Entry, Lifecycle
from agent_league.season.season import Stage
from agent_league.store import events
from agent_league.vocabulary import Json, PlayerId


class SeasonRunner:
    """Leads the league from one stage to the next; it waits for events, never for a clock.

    It builds the parts of the league. Those act on what happens by listening to the event log.
    """

    def __init__(self, context: Context) -> None:
        self._spawn, self._now, self._events = context.spawn, context.now, context.events
        self._season = context.season
        self._settings = context.season.settings
        self._notices = Notices(context)
        self._referee_pool = RefereePool(context)
        self.liveness = Liveness(context)
        self.discipline = Discipline(context)
        ExclusionNotices(context)
        self._broadcaster = Broadcaster(context, self.liveness, self.discipline)
        self.dispatcher = Dispatcher(context, self._referee_pool, self.liveness, self.discipline)
        self._table_updates = TableUpdates(context, self._broadcaster, self._notices)
        self._players_in_turn = PlayersInTurn()
        self._waits = make_waits()
        self._may_start = asyncio.Event()
        self._is_start_ordered = False
        """Whether the season begins as soon as enough of those who have registered answer."""
        self._end_ordered = asyncio.Event()
        context.events.when_kept(events.EndOrdered, lambda event: self._end_ordered.set())
        context.events.when_kept(events.AgentRegistered, lambda event: self.greet(event.agent_id))
        context.events.when_kept(events.TokenIssued, lambda event: self.greet(event.agent_id))
        context.events.when_kept(events.AgentReinstated, lambda event: self.greet(event.agent_id))
        context.events.when_kept(events.MatchEnded, self._announce_walkover)
        context.events.when_kept(events.MatchEnded, self._players_in_turn.on_match_ended)
        context.events.when_kept(events.AgentRecovered, lambda event: self._start_if_complete())
        context.events.when_kept(events.MatchAdded, self._announce_replay)

    async def run(self) -> None:
        """Play the whole season, or what is left of it, unless the organiser ends it before."""
        heartbeat = asyncio.ensure_future(self._heartbeat())
        self.liveness.resume()
        if self._season.ended_early is not None:
            self._end_ordered.set()
        playing = asyncio.ensure_future(self._play_season())
        ending = asyncio.ensure_future(self._end_ordered.wait())
        try:
            await asyncio.wait({playing, ending}, return_when=asyncio.FIRST_COMPLETED)
            if ending.done():
                await self.dispatcher.wait_until_idle()
            else:
                await playing
        finally:
            for task in (heartbeat, playing, ending):
                task.cancel()
        await self._finish()

    async def _play_season(self) -> None:
        if self._season.stage is Stage.REGISTRATION:
            players = await self._assemble_players()
            await self._events.append(events.SeasonStarted(at=self._now(), players=[*players]))
        elif self._season.stage is Stage.PLAYING:  # some may be about to come back
            await self.liveness.await_return()
        await self._play_rounds()
        pause = self.dispatcher.pause
        await pause.wait_until_over()  # the organiser may have doubts until the end
        while self._season.list_unplayed_replays():
            await self.dispatcher.play((), {}, partial(self._call_when_ready, {}))
            await pause.wait_until_over()

    async def _assemble_players(self) -> list[PlayerId]:
        """Return who plays, once the season may begin: everybody who answered."""
        known = self.liveness.answered | self.liveness.arriving
        for entry in self._season.roster.present(*EVERYBODY):
            if entry.agent_id not in known:  # it registered before a restart
                self.greet(entry.agent_id)
        players: list[PlayerId] = []
        while len(players) < self._settings.min_players:
            await self._may_start.wait()
            await self.liveness.wait_for_arrivals()
            self._may_start.clear()
            answered = self._season.roster.of(Role.PLAYER)
            answered = [e for e in answered if e.agent_id in self.liveness.answered]
            in_play = (e.agent_id for e in answered if e.state is not Lifecycle.DISQUALIFIED)
            players = sort_for_draw(in_play)
        return players

    def start_now(self) -> bool:
        """Begin with the players that answer; False if too few are here."""
        here = self._season.roster.present(Role.PLAYER)
        self._is_start_ordered = len(here) >= self._settings.min_players
        self._start_if_complete()
        return self._is_start_ordered

    def measure(self) -> dict[str, Json]:
        """Return how much work waits, and which agents leave calls unanswered."""
        return {
            "waiting_matches": self.dispatcher.count_waiting(),
            "unanswered": self.liveness.list_unanswered(),
        }

    def close(self) -> None:
        self._broadcaster.close()
        self._table_updates.close()
        self.dispatcher.close()
        self._waits.close()
        self._events.close()

    def greet(self, agent_id: str) -> None:
        """Find out whether an agent that came, or came back, answers."""
        self._spawn(self._greet(self._season.roster[agent_id]))

    async def _greet(self, entry: Entry) -> None:
        await self.liveness.greet(entry)
        is_new = self._season.stage is Stage.REGISTRATION  # else it only does not come back
        if is_new and self._season.roster[entry.agent_id].state in AWAY:
            why = "never answered after registration"
            self.discipline.disqualify(entry.agent_id, "invalid_endpoint", why)
        self._referee_pool.wake()
        self._start_if_complete()

    def _start_if_complete(self) -> None:
        """Let the season begin if it is ordered, or if all who are awaited have come and answer."""
        if self._is_start_ordered:
            self._may_start.set()
        awaited = self._settings.awaited_players
        here = {
            role: [
                e for e in self._season.roster.present(role) if e.agent_id in self.liveness.answered
            ]
            for role in EVERYBODY
        }
        if (
            awaited is not None
            and len(here[Role.PLAYER]) >= awaited
            and len(here[Role.REFEREE]) >= self._settings.awaited_referees
        ):
            self._may_start.set()

    async def _draw_round(self, round_id: int) -> list[events.ScheduledMatch]:
        """Return the matches of a round; to compute a Swiss one takes seconds, so others go on."""
        season = self._season
        if season.format.foreseeable or season.round_id >= round_id:
            return season.pairings(round_id)
        return await asyncio.to_thread(season.pairings, round_id)

    async def _play_rounds(self) -> None:
        """Play the rounds that are left, as many at once as the settings allow."""
        season, open_rounds = self._season, deque[tuple[int, asyncio.Task[None]]]()
        try:
            for round_id in range(season.closed_rounds + 1, season.total_rounds + 1):
                while len(open_rounds) > self._overlap:
                    await self._close_round(*open_rounds.popleft())
                open_rounds.append((round_id, await self._open_round(round_id)))
            while open_rounds:
                await self._close_round(*open_rounds.popleft())
        finally:
            for _, playing in open_rounds:
                playing.cancel()

    @property
    def _overlap(self) -> int:
        """How many rounds may begin before an earlier one is over; only of a format that allows it."""
        return self._settings.overlap_rounds if self._season.format.foreseeable else 0

    async def _open_round(self, round_id: int) -> "asyncio.Task[None]":
        """Announce a round, and return the task that plays it."""
        season = self._season
        drawn = await self._draw_round(round_id)
        matches = [season.matches.get(m.match_id) or season.commit(m) for m in drawn]
        opened = events.RoundOpened(at=self._now(), round_id=round_id, matches=matches)
        self._events.note(opened)
        referees = self._referee_pool.plan_referees(len(matches))
        match_ids = (match.match_id for match in matches)
        referee_plan = dict(zip(match_ids, referees, strict=False))
        calendar = (lambda: self._notices.make_calendar) if round_id == 1 else None
        announcement = self._notices.make_round_announcement(round_id, matches, referee_plan)
        own = self._notices.make_own_announcements(announcement)
        sent = self._broadcaster.tell(announcement, prepare_extras=calendar, instead=own)
        if self._settings.announcement_lead:
            await asyncio.sleep(self._settings.announcement_lead)
        call = self._call_in_turn if self._overlap else self._call_when_ready
        playing = self.dispatcher.play(matches, referee_plan, partial(call, sent))
        return asyncio.ensure_future(playing)

    async def _close_round(self, round_id: int, playing: "asyncio.Task[None]") -> None:
        """Wait until a round has been played, and tell everybody that it is over."""
        try:
            await playing
        except asyncio.CancelledError:
            playing.cancel()
            raise
        self._events.note(events.RoundClosed(at=self._now(), round_id=round_id))
        completed = self._notices.make_round_completed(round_id)
        self._broadcaster.tell(completed, prepare_extras=self._notices.freeze_table)
        self._table_updates.send_after_round()

    def _announce_replay(self, event: events.MatchAdded) -> None:
        announcement = self._notices.make_round_announcement(event.round_id, [event.match], {})
        self._broadcaster.tell(announcement)

    def _call_in_turn(
        self,
        sent: Mapping[str, Ending],
        match: events.ScheduledMatch,
        begin: Callable[[], None],
    ) -> None:
        """Call *begin* when the players of *match* are ready, and have finished earlier rounds."""
        call = partial(self._call_when_ready, sent, match, begin)
        self._players_in_turn.queue(match, call)

    def _call_when_ready(
        self,
        sent: Mapping[str, Ending],
        match: events.ScheduledMatch,
        begin: Callable[[], None],
    ) -> None:
        """Call *begin* when the players of *match* have taken the announcement that was *sent*.

        One that takes no message, or has gone, is waited for only a while.
        """
        roster = self._season.roster
        players = first, second = roster[match.first], roster[match.second]
        has_guests = first.guest or second.guest
        awaited = [
            sent[player.agent_id]
            for player in players
            if player.state not in AWAY and player.agent_id in sent
        ]
        call_when_done(
            awaited,
            self._settings.patience.generic,
            partial(self._begin_with_guests, players, begin) if has_guests else begin,
            self._waits,
        )

    def _begin_with_guests(self, players: Iterable[Entry], begin: Callable[[], None]) -> None:
        self._spawn(self._await_guests(players, begin))

    async def _await_guests(self, players: Iterable[Entry], begin: Callable[[], None]) -> None:
        for player in players:
            await self.liveness.await_guest(player.agent_id, self._settings.guests.rejoin)
        begin()

    def _announce_walkover(self, ended: events.MatchEnded) -> None:
        """Tell the players how a match ended that had no referee."""
        if ended.referee_id == Role.LEAGUE:
            for player_id in ended.players:
                notice = self._notices.make_game_over(ended, player_id)
                self._broadcaster.tell_one(player_id, notice)

    async def _finish(self) -> None:
        """Tell everybody how the season ended, and wait a while until they have taken it."""
        champion = find_champion(self._season)
        self._table_updates.send_pending()
        notice = self._notices.make_league_completed()
        if notice is not None:
            own = cut_final_table(notice, self._season.roster)
            table = self._notices.freeze_table
            self._broadcaster.tell(notice, Urgency.FAREWELL, prepare_extras=table, instead=own)
        await self._events.append(self._make_end(champion))
        await self._broadcaster.drain(self._settings.farewell)
        await self._events.append(events.FarewellSaid(at=self._now()))

    def _make_end(self, champion: str) -> events.SeasonEnded:
        return events.SeasonEnded(at=self._now(), champion=champion, secret=self._season.secret)

    async def _heartbeat(self) -> None:
        """Check every member now and then: an agent that died cannot say so."""
        while True:
            await asyncio.sleep(self._settings.heartbeat)
            arriving, members = self.liveness.arriving, self._season.roster.present(*EVERYBODY)
            entries = [entry for entry in members if entry.agent_id not in arriving]
            interval = self._settings.heartbeat
            await asyncio.gather(*(self.liveness.check(entry, interval) for entry in entries))


def sort_for_draw(players: Iterable[str]) -> list[PlayerId]:
    """Return *players* in the order in which the schedule is drawn."""
    return sorted(map(PlayerId, players), key=lambda player: (int(player[1:]), player))
