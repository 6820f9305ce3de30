"""Sends an order to a referee, signed so that the referee can believe it."""

from collections.abc import Callable

from msgspec import Struct

from agent_league.dialects.dialect import StartedCall, encode_message
from agent_league.league.context import Context
from agent_league.league.discipline import Discipline
from agent_league.league.orders import Assignment, OrderWriter
from agent_league.peers.line import Line
from agent_league.protocol import ErrorCode
from agent_league.protocol.failures import RefusedError
from agent_league.protocol.play import MatchAccepted, StartMatch
from agent_league.season.roster import Entry
from agent_league.store.events import ScheduledMatch


class BegunOrder(Struct, frozen=True):
    """An order that is on its way to its referee."""

    order: StartMatch
    line: Line
    call: StartedCall | None
    """None: only a task can send it, because this referee needs another form."""

    def is_accepted(self) -> bool:
        """Whether the referee has answered, as the protocol asks, that it plays the match."""
        line, call = self.line, self.call
        if call is None or line.session.is_doubtful(StartMatch):
            return False
        found = line.read_plain_reply(self.order, call, "")
        if found is None or found[0].status != "ACCEPTED" or found[0].result is not None:
            return False
        line.record_result(found[1], None, call.record)
        return True


class OrderSender:
    """Sends orders; *find_lease* returns the longest time that a match can take."""

    def __init__(
        self,
        context: Context,
        discipline: Discipline,
        order_writer: OrderWriter,
        find_lease: Callable[[ScheduledMatch], float],
    ) -> None:
        self._context, self._discipline = context, discipline
        self._order_writer, self._find_lease = order_writer, find_lease

    def begin(self, assignment: Assignment) -> BegunOrder:
        """Send the order now, without a task, if the referee takes it as the protocol writes it."""
        referee = self._context.season.roster[assignment.referee_id]
        key, line = self._context.keyring.keys_of(referee)[0], self._context.line(referee)
        order = self._order_writer.write(assignment.match, assignment.ticket, key)
        return BegunOrder(order, line, line.start(encode_message(order)))

    async def send(self, assignment: Assignment, begun: BegunOrder | None = None) -> MatchAccepted:
        """Send the order, signed with each key that the referee may know, until one is right.

        If it has *begun*, go on from there.
        """
        referee = self._context.season.roster[assignment.referee_id]
        *likely, last = self._context.keyring.keys_of(referee)
        for key in likely:
            try:
                return await self._ask(assignment, referee, key, begun)
            except RefusedError as error:
                if error.code is not ErrorCode.AUTH_TOKEN_INVALID:
                    raise
                begun = None
        return await self._ask(assignment, referee, last, begun)

    async def _ask(
        self, assignment: Assignment, referee: Entry, key: str, begun: BegunOrder | None
    ) -> MatchAccepted:
        order = begun.order if begun else None
        order = order or self._order_writer.write(assignment.match, assignment.ticket, key)
        ledger = self._discipline.open_ledger(referee)
        line = self._context.line(referee)
        # One that is ordered in a form of its own may answer when the match is over.
        is_slow = line.session.uses_other_form(StartMatch)
        within = self._find_lease(assignment.match) if is_slow else None
        try:
            started = begun.call if begun else None
            return await line.ask(order, within, ledger=ledger, started=started)
        finally:
            self._discipline.note(referee.agent_id, ledger.deviations.values(), order.match_id)
