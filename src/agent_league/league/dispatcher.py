"""Gives the matches of a round to referees, and waits for their results."""

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from agent_league.dialects.dialect import PeerSession
from agent_league.league.context import Context
from agent_league.league.discipline import Discipline
from agent_league.league.liveness import Liveness
from agent_league.league.open_rounds import OpenMatches, Pause
from agent_league.league.order_failures import OrderFailures
from agent_league.league.order_sending import OrderSender
from agent_league.league.orders import Assignment, OrderWriter, TakeResult
from agent_league.league.pool import NoPool, Pool
from agent_league.league.referee_pool import PullQueue, RefereePool
from agent_league.league.walkovers import is_walkover, make_walkover
from agent_league.own_time import Timeouts
from agent_league.protocol import Role, tokens
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.play import StartMatch
from agent_league.protocol.requirements import rules
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
        self._liveness = liveness
        self._discipline = discipline
        self._failures = OrderFailures(context, referee_pool, liveness)
        self.take_result: TakeResult | None = None
        """Set by whoever keeps results."""
        self._pull_queue = PullQueue()
        self.pool: Pool = NoPool()  # set if workers take matches from a queue
        self._pending: asyncio.Queue[ScheduledMatch] = asyncio.Queue()
        self._assignments: dict[str, Assignment] = {}
        """The matches that referees have, by match id."""
        self.pause = Pause(context)
        self._idle = asyncio.Event()
        self._open_matches = OpenMatches()
        self._referee_plan: dict[str, str] = {}
        self._dispatching: asyncio.Task[None] | None = None
        self.order_writer = OrderWriter(context)
        self._order_sender = OrderSender(context, discipline, self.order_writer, self._find_lease)
        self._keys_of = context.keyring.keys_of
        self.leases = Timeouts[str](self._on_lease_over)
        self._lease_times = {one: self._settings.lease(guests=one) for one in (False, True)}
        """The longest time that a match can take, without guests and with them."""
        context.events.listen(self._free_referee, events.MatchEnded, needs_all_events=False)
        context.events.when_kept(events.MatchEnded, self._on_match_ended)
        context.events.when_kept(events.AgentSuspended, self._on_referee_gone)
        context.events.when_kept(events.AgentDisqualified, self._on_referee_gone)
        context.events.when_kept(events.MatchAdded, self._on_match_added)
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
            call_when_ready(match, partial(self._pending.put_nowait, match))
        if self._dispatching is None:
            self._dispatching = asyncio.ensure_future(self._dispatch())
        try:
            await over
        finally:
            self._open_matches.drop(over)
            if not self._open_matches and self._dispatching is not None:
                self._dispatching.cancel()
                self._dispatching = None

    async def wait_until_idle(self) -> None:
        """Return when no referee has a match any more."""
        if self._assignments:
            await self._idle.wait()

    def count_waiting(self) -> int:
        return self._pending.qsize()

    def answer_poll(self, referee: Entry) -> Json:
        """Return the next match for a referee that asks for its matches, or None.

        Only a referee that did not understand its first order gets its matches in this way.
        """
        referee_id = referee.agent_id
        mine = {a.match.match_id: a for a in self._assignments_of(referee_id)}
        wanted = {match_id for match_id in mine if match_id in self._open_matches}
        self._pull_queue.note_poll(referee_id)
        is_new = referee_id not in self._pull_queue
        if is_new and self._session(referee_id).is_doubtful(StartMatch):
            for match_id in sorted(wanted):  # it likely did not understand these orders
                self._enqueue(mine[match_id])
        return self._pull_queue.take_next(referee_id, wanted)

    def is_ticketless(self, referee: Entry) -> bool:
        """Whether *referee* cannot know the tickets of its matches."""
        if self._settings.strict:
            return False
        session = self._context.line(referee).session
        return referee.agent_id in self._pull_queue or session.uses_other_form(StartMatch)

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

    def _free_referee(self, ended: events.MatchEnded) -> None:
        """Let a referee have its next match while the result of the last one is being kept."""
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
            self._pending.put_nowait(event.match)

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
            self._session(event.agent_id).forget(StartMatch)
        for assignment in self._assignments_of(event.agent_id):
            self._context.spawn(self._repeat_order(assignment))

    async def _repeat_order(self, assignment: Assignment) -> None:
        if not await self._offer(assignment):
            assignment.settle(ended=False)

    def _assignments_of(self, referee_id: str) -> list[Assignment]:
        return [one for one in self._assignments.values() if one.referee_id == referee_id]

    async def _dispatch(self) -> None:
        while True:
            match = await self._pending.get()
            if self._try_walkover(match):
                continue
            preferred = self._referee_plan.get(match.match_id)
            referee = await self._referee_pool.take(match.match_id, preferred)
            await self.pause.wait_until_over()
            if match.match_id in self._open_matches and not self._try_walkover(match):
                self._context.spawn(self._assign(match, referee.agent_id))
            else:  # its former referee has reported it after all, or a player is out by now
                self._referee_pool.release(referee.agent_id, match.match_id)

    def _try_walkover(self, match: ScheduledMatch) -> bool:
        """End a match without a referee if a player is disqualified; False if none is."""
        roster, context = self._season.roster, self._context
        if not is_walkover(match, roster):
            return False
        if match.match_id in self._open_matches:
            context.spawn(context.events.append(make_walkover(match, roster, context.now())))
        return True

    async def _assign(self, match: ScheduledMatch, referee_id: str) -> None:
        """Give *match* to a referee and wait for its result; if it is lost, it is pending again."""
        make_future = asyncio.get_running_loop().create_future
        is_pooled = self.pool.owns(referee_id)
        ticket = self.pool.make_ticket(match.match_id) if is_pooled else tokens.new_ticket()
        assignment = Assignment(match, referee_id, ticket, make_future(), make_future())
        self._assignments[match.match_id] = assignment
        self._idle.clear()
        event = events.MatchAssigned(
            at=self._context.now(),
            match_id=match.match_id,
            referee_id=referee_id,
            ticket_hash=tokens.hash_token(ticket),
        )
        try:
            self._context.events.note(event)
            if await self._offer(assignment) and await self._await_result(assignment):
                return
        finally:
            self._referee_pool.release(referee_id, match.match_id)
            del self._assignments[match.match_id]
            if not self._assignments:
                self._idle.set()
            self.pool.take_back(match.match_id)
        if match.match_id in self._open_matches:
            self._pending.put_nowait(match)

    async def _await_result(self, assignment: Assignment) -> bool:
        """Wait for the result, but not longer than a match can take; False if it is lost."""
        match, is_pooled = assignment.match, self.pool.owns(assignment.referee_id)
        if not is_pooled and not await self._retry_order_forms(assignment):
            return False
        # A person may take as long as it likes; the queue gives a match of the pool to others.
        if is_pooled or match.match_id in self._season.by_hand:
            return await assignment.outcome
        self.leases.begin(match.match_id, self._find_lease(match))
        try:
            return await assignment.outcome
        finally:
            self.leases.end(match.match_id)

    def _on_lease_over(self, match_id: str) -> None:
        if match_id in self._assignments:
            self._context.spawn(self._end_lease(self._assignments[match_id]))

    async def _end_lease(self, assignment: Assignment) -> None:
        """Give up a match that was not reported in time: it is lost."""
        referee = self._season.roster[assignment.referee_id]
        await self._failures.note_unreported(referee, assignment.match.match_id)
        assignment.settle(ended=False)

    def _find_lease(self, match: ScheduledMatch) -> float:
        return self._lease_times[self.order_writer.has_guests(match)]

    async def _retry_order_forms(self, assignment: Assignment) -> bool:
        """Send the order again, in another form each time, until the referee acts on it."""
        referee_id, patience = assignment.referee_id, self._settings.patience
        session = self._session(referee_id)
        while session.is_doubtful(StartMatch) and referee_id not in self._pull_queue:
            wait = patience.join + patience.move
            done, _ = await asyncio.wait({assignment.outcome}, timeout=wait)
            if done and assignment.outcome.result():
                session.confirm(StartMatch)
            if done or not session.try_next_form(StartMatch):
                return True
            if not await self._offer(assignment):
                return False
        return True

    async def _offer(self, assignment: Assignment) -> bool:
        """Give the match to its referee; False if it is refused."""
        try:
            if self.pool.owns(assignment.referee_id):
                self.pool.put(self.write_order(assignment))
                return True
            if not self._session(assignment.referee_id).uses_other_form(StartMatch):
                return await self._send_or_enqueue(assignment)
            # Some referees answer after the match, and report it before that.
            offering = asyncio.ensure_future(self._send_or_enqueue(assignment))
            await asyncio.wait({offering, assignment.outcome}, return_when=FIRST_COMPLETED)
            return offering.result() if offering.done() else assignment.outcome.result()
        finally:
            if not assignment.answered.done():
                assignment.answered.set_result(None)

    async def _send_or_enqueue(self, assignment: Assignment) -> bool:
        """Send the order, or put it into the queue of a referee that asks; False if it is refused."""
        referee_id, match_id = assignment.referee_id, assignment.match.match_id
        if referee_id in self._pull_queue:
            return self._enqueue(assignment)
        try:
            reply = await self._order_sender.send(assignment)
        except NoAnswerError as error:
            # Some referees take no orders and ask for their matches instead.
            may_poll = not error.retryable and not self._settings.strict
            patience = self._settings.patience.generic
            if may_poll and await self._pull_queue.wait_for_poll(referee_id, patience):
                return self._enqueue(assignment)
            if not assignment.outcome.done():
                referee = self._season.roster[referee_id]
                await self._failures.note_untaken(referee, match_id, error)
            return False
        self._liveness.note_answer(referee_id)
        if reply.result is not None and self.take_result is not None:
            await self.take_result(assignment, reply.result)
        if reply.status == "ACCEPTED":
            return True
        self._failures.note_refused(referee_id, match_id, reply.reason)
        return False

    def _enqueue(self, assignment: Assignment) -> bool:
        referee_id, match_id = assignment.referee_id, assignment.match.match_id
        key = self._keys_of(self._season.roster[referee_id])[0]
        order = self.order_writer.write(assignment.match, assignment.ticket, key)
        self._pull_queue.put(referee_id, match_id, self._session(referee_id).describe_order(order))
        deviation = Deviation(rules.ORDER_FORM, "a referee that asks for its matches")
        self._discipline.note(referee_id, [deviation], match_id)
        return True

    def _session(self, referee_id: str) -> PeerSession:
        return self._context.line(self._season.roster[referee_id]).session
