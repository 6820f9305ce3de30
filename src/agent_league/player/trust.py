"""Which calls about a match a player believes: anybody can send one, and a move must stay hidden."""

import inspect
from collections.abc import Awaitable, Iterable
from typing import TypeAlias

from agent_league.member import Member, NotAdmittedError
from agent_league.peers.endpoint import Handler
from agent_league.peers.quota import Quota
from agent_league.player.memory import remember
from agent_league.protocol import ErrorCode, Message, ProtocolError
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.message import Result
from agent_league.protocol.play import Invitation
from agent_league.protocol.queries import RefereeClaim
from agent_league.protocol.rounds import AnnouncedMatch

Shown: TypeAlias = tuple[str, str, str | None]
"""What a caller shows: the match, its name, and its token if it has one."""


class RefereeCheck:
    """Believes the ticket of a match; a referee that has none is looked up at the league.

    A league that gives no tickets cannot be asked: there, whoever invited the player is believed.
    """

    def __init__(self, member: Member) -> None:
        self._member = member
        self._signed: dict[tuple[str, str, str], None] = {}
        """The matches, conversations and tickets that were found to be signed by the league."""
        self._believed: dict[Shown, None] = {}
        self._invited: dict[tuple[str, str], None] = {}
        """The matches and the referees that invited to them, in a league that gives no tickets."""
        self._announced: dict[str, None] = {}
        self._checks = Quota("calls of unknown referees", rate=20, burst=40)
        """Fewer than the league answers: a flood of forged calls must not become one of queries."""

    def guard(self, handler: Handler) -> Handler:
        """Return a handler that answers only what the referee of the match asks."""

        def handle(message: Message) -> Result | Awaitable[Result]:
            if self._is_believed(message):
                return handler(message)
            if not self._member.league_signs:
                raise self._member.disbelieve(message, "match_id: not invited to this match by you")
            return self._handle_if_confirmed(message, handler)

        return handle

    def note_announced(self, matches: Iterable[AnnouncedMatch]) -> None:
        """Remember the matches of this player, in a league that gives no tickets."""
        for match in matches:
            remember(self._announced, match.match_id, None)

    def _is_believed(self, message: Message) -> bool:
        member, match_id = self._member, message.match_id or ""
        shown = match_id, message.conversation_id, message.auth_token or ""
        if shown in self._signed or self._is_signed(*shown):  # a match shows its ticket often
            return True
        if member.league_signs:
            return (match_id, message.sender, message.auth_token) in self._believed
        if isinstance(message, Invitation):
            remember(self._invited, (match_id, message.sender), None)
        return match_id in self._announced or (match_id, message.sender) in self._invited

    def _is_signed(self, match_id: str, conversation: str, ticket: str) -> bool:
        is_signed = self._member.is_signed(ticket, match_id, conversation, self._member.name)
        if is_signed:
            remember(self._signed, (match_id, conversation, ticket), None)
        return is_signed

    async def _handle_if_confirmed(self, message: Message, handler: Handler) -> Result:
        claim = _read_claim(message)
        self._checks.check(self._member.name)
        try:
            confirmed = await self._member.confirm_referee(claim)
        except (NoAnswerError, NotAdmittedError) as error:
            detail = f"the league does not say who the referee of {claim.match_id} is: {error}"
            raise ProtocolError(ErrorCode.CONNECTION_ERROR, detail) from error
        if not confirmed:
            detail = "auth_token: neither the ticket of this match nor the token of its referee"
            raise self._member.disbelieve(message, detail)
        remember(self._believed, (claim.match_id, message.sender, message.auth_token), None)
        result = handler(message)
        return await result if inspect.isawaitable(result) else result


def _read_claim(message: Message) -> RefereeClaim:
    return RefereeClaim(
        match_id=message.match_id or "",
        sender=message.sender,
        conversation_id=message.conversation_id,
        token=message.auth_token or None,
    )
