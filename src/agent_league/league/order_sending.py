"""Sends an order to a referee, signed so that the referee can believe it."""

from collections.abc import Callable

from agent_league.league.context import Context
from agent_league.league.discipline import Discipline
from agent_league.league.orders import Assignment, OrderWriter
from agent_league.protocol import ErrorCode
from agent_league.protocol.failures import RefusedError
from agent_league.protocol.play import MatchAccepted, StartMatch
from agent_league.season.roster import Entry
from agent_league.store.events import ScheduledMatch


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

    async def send(self, assignment: Assignment) -> MatchAccepted:
        """Send the order, signed with each key that the referee may know, until one is right."""
        referee = self._context.season.roster[assignment.referee_id]
        *likely, last = self._context.keyring.keys_of(referee)
        for key in likely:
            try:
                return await self._ask(assignment, referee, key)
            except RefusedError as error:
                if error.code is not ErrorCode.AUTH_TOKEN_INVALID:
                    raise
        return await self._ask(assignment, referee, last)

    async def _ask(self, assignment: Assignment, referee: Entry, key: str) -> MatchAccepted:
        order = self._order_writer.write(assignment.match, assignment.ticket, key)
        ledger = self._discipline.open_ledger(referee)
        line = self._context.line(referee)
        # One that is ordered in a form of its own may answer when the match is over.
        is_slow = line.session.uses_other_form(StartMatch)
        within = self._find_lease(assignment.match) if is_slow else None
        try:
            return await line.ask(order, within, ledger=ledger)
        finally:
            self._discipline.note(referee.agent_id, ledger.deviations.values(), order.match_id)
