"""Whether the caller of a player is the referee of its match, as far as the league can know."""

import asyncio
from contextlib import suppress

from agent_league.league.context import Context
from agent_league.league.dispatcher import Dispatcher
from agent_league.protocol import tokens
from agent_league.protocol.queries import RefereeClaim
from agent_league.season.roster import Entry


class RefereeClaims:
    """Judges what a caller shows that has no ticket which the player can check."""

    def __init__(self, context: Context, dispatcher: Dispatcher) -> None:
        self._context, self._season = context, context.season
        self._dispatcher = dispatcher

    async def is_true(self, player_id: str, claim: RefereeClaim) -> bool:
        """Whether the referee of a match of *player_id* makes *claim*.

        Its token proves who it is. One that shows none is believed only if it knows no tickets.
        """
        match = self._season.matches.get(claim.match_id)
        assigned = self._season.assignments.get(claim.match_id)
        if match is None or assigned is None or player_id not in (match.first, match.second):
            return False
        referee = self._season.roster[assigned.referee_id]
        if claim.token:
            return self._is_token(referee, claim.token) or self._is_ticket(player_id, claim)
        if claim.sender.partition(":")[2] != referee.agent_id:
            return False
        await self._wait_for_answer(claim.match_id)
        return self._dispatcher.offers.is_ticketless(referee)

    def _is_token(self, referee: Entry, token: str) -> bool:
        holder = self._season.roster.holder(token, self._context.clock())
        return holder is not None and holder[1].proven and holder[0] == referee

    def _is_ticket(self, player_id: str, claim: RefereeClaim) -> bool:
        """Whether the league made the ticket that was shown; a player may have lost its token."""
        hashes = [one.hash for one in self._season.roster[player_id].tokens if one.proven]
        keys = map(self._context.keyring.make_key, hashes)
        parts = claim.match_id, claim.conversation_id, player_id
        return tokens.is_signed(claim.token, keys, *parts)

    async def _wait_for_answer(self, match_id: str) -> None:
        """Wait until the answer to the order shows whether the referee knows tickets."""
        if assignment := self._dispatcher.find_assignment(match_id):
            with suppress(TimeoutError):
                async with asyncio.timeout(self._season.settings.patience.join):
                    await asyncio.shield(assignment.answered)
