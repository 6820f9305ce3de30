"""Offers matches to referees: as an order, in whatever form a referee takes it, or when it asks."""

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import Mapping

from agent_league.dialects.dialect import PeerSession
from agent_league.league.context import Context
from agent_league.league.discipline import Discipline
from agent_league.league.liveness import Liveness
from agent_league.league.order_failures import OrderFailures
from agent_league.league.order_sending import BegunOrder, OrderSender
from agent_league.league.orders import Assignment, OrderWriter, TakeResult
from agent_league.league.referee_pool import PullQueue
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.play import StartMatch
from agent_league.protocol.requirements import rules
from agent_league.season.roster import Entry
from agent_league.store.events import ScheduledMatch
from agent_league.vocabulary import Json


class Offers:
    """Has each referee take its matches; one that refuses, or fails to, goes into *failures*."""

    def __init__(
        self,
        context: Context,
        order_writer: OrderWriter,
        failures: OrderFailures,
        liveness: Liveness,
        discipline: Discipline,
    ) -> None:
        self._context, self._season = context, context.season
        self._settings = context.season.settings
        self._order_writer, self._discipline = order_writer, discipline
        self._failures, self._liveness = failures, liveness
        self._order_sender = OrderSender(context, discipline, order_writer, self.find_lease)
        self.take_result: TakeResult | None = None
        """Set by whoever keeps results."""
        self._pull_queue = PullQueue()
        self._lease_times = {one: self._settings.lease(guests=one) for one in (False, True)}
        """The longest time that a match can take, without guests and with them."""

    def find_lease(self, match: ScheduledMatch) -> float:
        """Return the longest time that a match can take."""
        return self._lease_times[self._order_writer.has_guests(match)]

    def begin(self, assignment: Assignment) -> BegunOrder | None:
        """Send an order now, without a task; None if its referee takes none, or not in this way."""
        if assignment.referee_id in self._pull_queue:
            return None
        return self._order_sender.begin(assignment)

    def is_accepted(self, assignment: Assignment, begun: BegunOrder) -> bool:
        """Whether the answer to an order is the usual one; if not, `offer` goes on with it."""
        if not begun.is_accepted():
            return False
        self._liveness.note_answer(assignment.referee_id)
        assignment.note_answer()
        return True

    async def offer(self, assignment: Assignment, begun: BegunOrder | None = None) -> bool:
        """Give the match to its referee, or go on with what has *begun*; False if it is refused."""
        try:
            if not self._session(assignment.referee_id).uses_other_form(StartMatch):
                return await self._send_or_enqueue(assignment, begun)
            # Some referees answer after the match, and report it before that.
            offering = asyncio.ensure_future(self._send_or_enqueue(assignment, begun))
            await asyncio.wait({offering, assignment.outcome}, return_when=FIRST_COMPLETED)
            return offering.result() if offering.done() else assignment.outcome.result()
        finally:
            assignment.note_answer()

    async def _send_or_enqueue(self, assignment: Assignment, begun: BegunOrder | None) -> bool:
        """Send the order, or put it into the queue of a referee that asks; False if it is refused."""
        referee_id, match_id = assignment.referee_id, assignment.match.match_id
        if referee_id in self._pull_queue:
            return self._enqueue(assignment)
        try:
            reply = await self._order_sender.send(assignment, begun)
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

    async def retry_forms(self, assignment: Assignment) -> bool:
        """Send the order again, in another form each time, until the referee acts on it.

        False if the referee refuses the match.
        """
        referee_id, patience = assignment.referee_id, self._settings.patience
        session = self._session(referee_id)
        while session.is_doubtful(StartMatch) and referee_id not in self._pull_queue:
            wait = patience.join + patience.move
            done, _ = await asyncio.wait({assignment.outcome}, timeout=wait)
            if done and assignment.outcome.result():
                session.confirm(StartMatch)
            if done or not session.try_next_form(StartMatch):
                return True
            if not await self.offer(assignment):
                return False
        return True

    def answer_poll(self, referee: Entry, wanted: Mapping[str, Assignment]) -> Json:
        """Return the next of the *wanted* matches for a referee that asks for them, or None.

        Only a referee that did not understand its first order gets its matches in this way.
        """
        referee_id = referee.agent_id
        self._pull_queue.note_poll(referee_id)
        is_new = referee_id not in self._pull_queue
        if is_new and self._session(referee_id).is_doubtful(StartMatch):
            for match_id in sorted(wanted):  # it likely did not understand these orders
                self._enqueue(wanted[match_id])
        return self._pull_queue.take_next(referee_id, wanted.keys())

    def is_ticketless(self, referee: Entry) -> bool:
        """Whether *referee* cannot know the tickets of its matches."""
        if self._settings.strict:
            return False
        session = self._context.line(referee).session
        return referee.agent_id in self._pull_queue or session.uses_other_form(StartMatch)

    def forget_form(self, referee_id: str) -> None:
        """Forget how a referee takes its orders: it was started anew."""
        self._session(referee_id).forget(StartMatch)

    def _enqueue(self, assignment: Assignment) -> bool:
        referee_id, match_id = assignment.referee_id, assignment.match.match_id
        key = self._context.keyring.keys_of(self._season.roster[referee_id])[0]
        order = self._order_writer.write(assignment.match, assignment.ticket, key)
        self._pull_queue.put(referee_id, match_id, self._session(referee_id).describe_order(order))
        deviation = Deviation(rules.ORDER_FORM, "a referee that asks for its matches")
        self._discipline.note(referee_id, [deviation], match_id)
        return True

    def _session(self, referee_id: str) -> PeerSession:
        return self._context.line(self._season.roster[referee_id]).session
