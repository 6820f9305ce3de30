"""Gives the matches of a round to referees, and waits for their results."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from agent_league.http.exchange import Answer
from agent_league.league.context import Context
from agent_league.league.discipline import Discipline
from agent_league.league.liveness import Liveness
from agent_league.league.offers import Offers
from agent_league.league.open_rounds import OpenMatches, Pause
from agent_league.league.order_failures import OrderFailures
from agent_league.league.order_sending import BegunOrder
from agent_league.league.orders import Assignment, OrderWriter
from agent_league.league.pool import NoPool, Pool
from agent_league.league.referee_pool import RefereePool
from agent_league.league.walkovers import is_walkover, make_walkover
from agent_league.own_time import Timeouts
from agent_league.protocol import Role, tokens
from agent_league.protocol.play import StartMatch
from agent_league.season.roster import Entry
from agent_league.store import events
from agent_league.store.events import ScheduledMatch
from agent_league.vocabulary import Json

CallWhenReady: TypeAlias = Callable[[ScheduledMatch, Callable[[], None]], None]
"""Calls a function when a match may begin, as far as its players are concerned."""


class Dispatcher:
    """Finds a referee for each match; if the referee is lost, the match goes to another one."""

    def __init__(
        self,
        context: Context,
        referee_pool: RefereePool,
        liveness: Liveness,
        discipline: Discipline,
    ) -> None:
        self._context = context
        self._season, self._settings = context.season, context.season.settings
        self._referee_pool = referee_pool
        self._failures = OrderFailures(context, referee_pool, liveness)
        self.order_writer = OrderWriter(context)
        self.offers = Offers(context, self.order_writer, self._failures, liveness, discipline)
        self.pool: Pool = NoPool()  # set if workers take matches from a queue
        self._pending: deque[ScheduledMatch] = deque()
        """The matches that wait for a referee."""
        self._is_scheduled = self._is_closed = False
        self._assignments: dict[str, Assignment] = {}
        """The matches that referees have, by match id."""
        self.pause = Pause(context)
        self._idle = asyncio.Event()
        self._open_matches = OpenMatches()
        self._referee_plan: dict[str, str] = {}
        self._keys_of = context.keyring.keys_of
        self._leases = Timeouts[str](self._on_lease_over)
        referee_pool.on_change = self._schedule
        context.events.listen(self._free_referee, events.MatchEnded, needs_all_events=False)
        context.events.when_kept(events.MatchEnded, self._on_match_ended)
        context.events.when_kept(events.AgentSuspended, self._on_referee_gone)
        context.events.when_kept(events.AgentDisqualified, self._on_referee_gone)
        context.events.when_kept(events.MatchAdded, self._on_match_added)
        context.events.when_kept(events.LeagueContinued, lambda event: self._schedule())
        context.events.when_kept(events.AgentRegistered, self._order_again)
        context.events.when_kept(events.TokenIssued, self._order_again)

    async def play(
        self,
        matches: Iterable[ScheduledMatch],
        referee_plan: Mapping[str, str],
        call_when_ready: CallWhenReady,
    ) -> None:
        """Return when every one of *matches*, and every match to be replayed, has its result.

        Several rounds may be played at once.
        """
        wanted = {match.match_id: match for match in matches}
        wanted |= {match.match_id: match for match in self._season.list_unplayed_replays()}
        waiting = {
            match_id: match
            for match_id, match in wanted.items()
            if match_id not in self._season.results and match_id not in self._open_matches
        }
        over = self._open_matches.add(waiting)
        self._referee_plan |= referee_plan
        for match in waiting.values():
            call_when_ready(match, partial(self._put, match))
        try:
            await over
        finally:
            self._open_matches.drop(over)

    def close(self) -> None:
        """Order nothing more; what a referee answers from now on does not matter."""
        self._is_closed = True
        self._leases.close()

    async def wait_until_idle(self) -> None:
        """Return when no referee has a match any more."""
        if self._assignments:
            await self._idle.wait()

    def count_waiting(self) -> int:
        return len(self._pending)

    def answer_poll(self, referee: Entry) -> Json:
        """Return the next match for a referee that asks for its matches, or None."""
        mine = {one.match.match_id: one for one in self._assignments_of(referee.agent_id)}
        wanted = {match_id: mine[match_id] for match_id in mine if match_id in self._open_matches}
        return self.offers.answer_poll(referee, wanted)

    def note_unproven(self, referee: Entry) -> None:
        """Note that something was reported in the name of *referee* that does not count."""
        self._failures.note_unproven(referee)

    def find_assignment(self, match_id: str) -> Assignment | None:
        """Return who has a match now; None if nobody has."""
        return self._assignments.get(match_id)

    def write_order(self, assignment: Assignment) -> StartMatch:
        """Return the order of a match, signed for whichever token its referee has."""
        keys = self._keys_of(self._season.roster[assignment.referee_id])
        return self.order_writer.write(assignment.match, assignment.ticket, *keys)

    def repeat(self, match_id: str, *, elsewhere: bool = False) -> None:
        """Have a match played again in a moment, because its result does not count.

        If possible, it is played *elsewhere*: by another referee.
        """
        if match_id in self._assignments:
            if elsewhere:
                self._referee_pool.avoid(self._assignments[match_id].referee_id, match_id)
            self.pool.repeat(match_id)
            lose = partial(self._assignments[match_id].settle, ended=False)
            asyncio.get_running_loop().call_later(self._settings.retry.base_delay, lose)

    def can_results_wait(self) -> bool:
        """Whether a result may be kept a moment later: others are expected, and nobody waits for it.

        With rounds that overlap, its players may have their next match to play.
        """
        return not self._settings.overlap_rounds and not self._open_matches.are_all_reported

    def _free_referee(self, ended: events.MatchEnded) -> None:
        """Let a referee have its next match while the result of the last one is being kept."""
        self._open_matches.report(ended.match_id)
        if ended.match_id in self._assignments:
            referee_id = self._assignments[ended.match_id].referee_id
            self._referee_pool.release(referee_id, ended.match_id)

    def _on_match_ended(self, ended: events.MatchEnded) -> None:
        if ended.match_id in self._assignments:
            self._assignments[ended.match_id].settle(ended=True)
        self._referee_plan.pop(ended.match_id, None)
        self._open_matches.end(ended.match_id)

    def _on_match_added(self, event: events.MatchAdded) -> None:
        """Play it beside the others; if nothing is played now, `play` will find it."""
        if self._open_matches:
            self._open_matches.join(event.match_id)
            self._put(event.match)

    def _on_referee_gone(self, event: events.AgentSuspended | events.AgentDisqualified) -> None:
        """Give the matches of a referee that is gone to others."""
        for assignment in self._assignments_of(event.agent_id):
            assignment.settle(ended=False)

    def _order_again(self, event: events.AgentRegistered | events.TokenIssued) -> None:
        """Send the orders again to a referee that registered again.

        A referee that was restarted begins these matches anew. Any other referee goes on with
        them, even if somebody else registered its endpoint.
        """
        if self._season.roster[event.agent_id].role is Role.REFEREE:
            self.offers.forget_form(event.agent_id)
        for assignment in self._assignments_of(event.agent_id):
            if self.pool.owns(event.agent_id):
                self.pool.put(self.write_order(assignment))
            else:
                self._context.spawn(self._repeat_order(assignment))

    async def _repeat_order(self, assignment: Assignment) -> None:
        if not await self.offers.offer(assignment):
            assignment.settle(ended=False)

    def _assignments_of(self, referee_id: str) -> list[Assignment]:
        return [one for one in self._assignments.values() if one.referee_id == referee_id]

    def _put(self, match: ScheduledMatch) -> None:
        """Have a match wait for a referee."""
        self._pending.append(match)
        self._schedule()

    def _schedule(self) -> None:
        """Dispatch what is pending, as soon as everybody knows what happens now."""
        if self._pending and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._dispatch)

    def _dispatch(self) -> None:
        """Give the pending matches to referees, until all of these are busy."""
        self._is_scheduled = False
        while self._pending:
            match = self._pending[0]
            # Its former referee may have reported it after all.
            is_due = match.match_id in self._open_matches and not self._try_walkover(match)
            referee_id = self._take_referee(match) if is_due else None
            if is_due and referee_id is None:
                return
            self._pending.popleft()
            if referee_id is not None:
                self._assign(match, referee_id)

    def _take_referee(self, match: ScheduledMatch) -> str | None:
        """Return a referee that is free for *match*; None if there is none, or it may not begin."""
        if self._is_closed or self.pause.holds:
            return None
        preferred = self._referee_plan.get(match.match_id)
        return self._referee_pool.take(match.match_id, preferred)

    def _try_walkover(self, match: ScheduledMatch) -> bool:
        """End a match without a referee if a player is disqualified; False if none is."""
        roster, context = self._season.roster, self._context
        if not is_walkover(match, roster):
            return False
        context.spawn(context.events.append(make_walkover(match, roster, context.now())))
        return True

    def _assign(self, match: ScheduledMatch, referee_id: str) -> None:
        """Give *match* to a referee; if it is lost there, it is pending again."""
        make_future = asyncio.get_running_loop().create_future
        is_pooled = self.pool.owns(referee_id)
        ticket = self.pool.make_ticket(match.match_id) if is_pooled else tokens.new_ticket()
        assignment = Assignment(match, referee_id, ticket, make_future(), make_future())
        assignment.outcome.add_done_callback(partial(self._end_assignment, assignment))
        self._assignments[match.match_id] = assignment
        self._idle.clear()
        event = events.MatchAssigned(
            at=self._context.now(),
            match_id=match.match_id,
            referee_id=referee_id,
            ticket_hash=tokens.hash_token(ticket),
        )
        self._context.events.note(event)
        if is_pooled:
            self.pool.put(self.write_order(assignment))
            assignment.note_answer()
        else:
            self._order(assignment)

    def _order(self, assignment: Assignment) -> None:
        """Send the order of a match, and look at its answer when it is there."""
        begun = self.offers.begin(assignment)
        if begun is None or begun.call is None:
            self._context.spawn(self._pursue(assignment, begun))
        else:
            begun.call.answer.add_done_callback(partial(self._take_answer, assignment, begun))

    def _take_answer(
        self, assignment: Assignment, begun: BegunOrder, answer: "asyncio.Future[Answer]"
    ) -> None:
        """Leave the match to its referee if that has simply accepted it, as nearly always."""
        if self._is_closed:
            return
        if self.offers.is_accepted(assignment, begun):
            self._begin_lease(assignment)
        else:
            self._context.spawn(self._pursue(assignment, begun))

    async def _pursue(self, assignment: Assignment, begun: BegunOrder | None) -> None:
        """Do all that may help for a referee to take a match; without success, it is lost."""
        offers = self.offers
        if await offers.offer(assignment, begun) and await offers.retry_forms(assignment):
            self._begin_lease(assignment)
        else:
            assignment.settle(ended=False)

    def _begin_lease(self, assignment: Assignment) -> None:
        """Give a referee the time that a match can take; a person may take as long as it likes."""
        match = assignment.match
        if match.match_id not in self._season.by_hand and not assignment.outcome.done():
            self._leases.begin(match.match_id, self.offers.find_lease(match))

    def _end_assignment(self, assignment: Assignment, outcome: "asyncio.Future[bool]") -> None:
        match, match_id = assignment.match, assignment.match.match_id
        self._leases.end(match_id)
        self._referee_pool.release(assignment.referee_id, match_id)
        del self._assignments[match_id]
        if not self._assignments:
            self._idle.set()
        self.pool.take_back(match_id)
        if match_id in self._open_matches and not outcome.result():
            self._put(match)

    def _on_lease_over(self, match_id: str) -> None:
        if match_id in self._assignments:
            self._context.spawn(self._end_lease(self._assignments[match_id]))

    async def _end_lease(self, assignment: Assignment) -> None:
        """Give up a match that was not reported in time: it is lost."""
        referee = self._season.roster[assignment.referee_id]
        await self._failures.note_unreported(referee, assignment.match.match_id)
        assignment.settle(ended=False)
