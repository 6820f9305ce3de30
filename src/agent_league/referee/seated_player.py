"""A player in its seat: what it is asked in a match."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from agent_league.agent import Agent
from agent_league.chance import commit_to
from agent_league.clock import format_deadline
from agent_league.dialects.dialect import Peer
from agent_league.game import AnyGame, explain_view
from agent_league.member import Member
from agent_league.protocol import Message, Request, play, tokens
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.fields import VERSION
from agent_league.protocol.play import Contestant, StartMatch
from agent_league.protocol.results import GameResult, Termination
from agent_league.referee.first_call import FirstCall
from agent_league.referee.judging import check_move
from agent_league.referee.player_line import PlayerLine, Question
from agent_league.referee.transcript import Transcript
from agent_league.vocabulary import Seat

T = TypeVar("T")
Reply = TypeVar("Reply", bound=Message)

SEAT_NAMES: tuple[play.SeatName, play.SeatName] = ("PLAYER_A", "PLAYER_B")


class SeatedPlayer:
    """One of the two players of a match, as its referee sees it."""

    def __init__(
        self, referee: Agent, order: StartMatch, seat: Seat, transcript: Transcript
    ) -> None:
        self._referee = referee
        self._order = order
        self._seat = seat
        self._me: Contestant = order.players[seat]
        self._opponent: Contestant = order.players[1 - seat]
        self.player_id = self._me.player_id
        self.line = PlayerLine(referee, order, seat, transcript)
        self._first_moves: list[Any] = []
        """The move that came with the answer to the invitation, until it is asked for."""

    def invite(
        self, first_question: Question[Any, Any] | None = None
    ) -> "asyncio.Future[Termination | None]":
        """Offer the seat now; the future is None if the player takes it, else why it forfeits.

        A player that takes batches is asked its *first_question* in the same call.
        """
        is_plain = not isinstance(self._referee, Member) or self._referee.league_signs
        if not is_plain or self._me.suspended:
            return self._referee.spawn(self._invite_in_any_dialect())
        invitation = self._make_invitation_question()
        if first_question is not None and self._me.batched:
            call = FirstCall(self.line, invitation, first_question, self._first_moves.append)
            if invited := call.start():
                return invited
        return self.line.start_asking(invitation)

    async def _invite_in_any_dialect(self) -> Termination | None:
        """Offer the seat to a player that our own league has not looked at."""
        if self._me.suspended:
            return Termination.SUSPENDED
        peers, within = self._referee.peers, self._order.patience.join
        with suppress(NoAnswerError):  # the invitation will show what is wrong
            await peers.detect_dialect_once(Peer(self._me.endpoint, self.player_id), within)
        return await self.line.ask(self._make_invitation_question())

    def move(self, game: AnyGame, state: Any) -> "asyncio.Future[Any | Termination]":
        """Ask for a move now; the future is a legal one as the game reads it, or why it forfeits."""
        if self._first_moves:
            known: asyncio.Future[Any] = self.line.loop.create_future()
            known.set_result(self._first_moves.pop())
            return known
        return self.line.start_asking(self.make_question(game, state))

    def make_question(self, game: AnyGame, state: Any) -> Question[Any, Any]:
        """Return the question for a move in *state*."""
        return Question(
            lambda: self._make_move_call(game, state),
            lambda reply: check_move(game, game.legal(state, self._seat), reply.move),
        )

    def take_posted_reply(self, reply: Message, *, any_sender: bool = False) -> bool:
        """Take an answer that came as a request of its own; False if it is not this player's.

        Only this player has the ticket of this match, and the token that the ticket was made with.
        An answer without either is held: it counts if the player itself says that it has sent it.
        With *any_sender* that may also be one in which the player calls itself by its opponent's id.
        """
        token, order, ticket = reply.auth_token or "", self._order, self._me.ticket
        if self.line.ledger.strict:
            return False
        self.line.expect_posted_reply()
        if not token:
            may_be_own = any_sender or self._may_be_own(reply)
            return may_be_own and self.line.peer.hold_posted_reply(reply)
        parts = order.match_id, order.conversation_id, self.player_id
        is_own = tokens.is_same_secret(token, ticket) or tokens.is_signed(
            ticket, [tokens.hash_token(token)], *parts
        )
        return is_own and self.line.peer.take_posted_reply(reply)

    def _may_be_own(self, reply: Message) -> bool:
        """Whether *reply* names this player, by the id that it uses, and not its opponent."""
        who = reply.sender.rpartition(":")[2]
        own_names = {self.player_id, *(self.line.peer.session.alias or ())}
        return who in own_names or who != self._opponent.player_id

    def _make_invitation_question(self) -> Question[play.JoinAck, Termination | None]:
        # Not kept: it refers to this player, and only the garbage collector would free the two.
        return Question(self._make_invitation, _judge_ack)

    def _make_invitation(self) -> Request[play.JoinAck]:
        order, referee = self._order, self._referee
        return play.Invitation(
            protocol=VERSION,
            sender=referee.sender,
            timestamp=referee.now(),
            conversation_id=order.conversation_id,
            auth_token=self._me.ticket,
            match_id=order.match_id,
            league_id=order.league_id,
            round_id=order.round_id,
            game_type=order.game_type,
            role_in_match=SEAT_NAMES[self._seat],
            opponent_id=self._opponent.player_id,
            commitment=commit_to(order.seed),
        )

    def _make_move_call(self, game: AnyGame, state: Any) -> Request[Any]:
        if self._order.game_type == PARITY_GAME:
            return self._make_parity_call()
        moves = list(game.legal(state, self._seat))
        view = explain_view(game, state, self._seat)
        return play.GameMoveCall(
            **self.line.envelope(),
            player_id=self.player_id,
            game_type=self._order.game_type,
            deadline=self._find_deadline(),
            context=self._make_context(),
            view=view,
            legal_moves=moves,
        )

    def _make_parity_call(self) -> play.ParityCall:
        order, referee = self._order, self._referee
        return play.ParityCall(
            protocol=VERSION,
            sender=referee.sender,
            timestamp=referee.now(),
            conversation_id=order.conversation_id,
            auth_token=self._me.ticket,
            match_id=order.match_id,
            player_id=self.player_id,
            game_type=order.game_type,
            deadline=self._find_deadline(),
            context=self._make_context(),
        )

    def make_game_over(self, game_result: GameResult) -> play.GameOver:
        """Return the notice that tells this player how the match ended."""
        order, referee = self._order, self._referee
        return play.GameOver(
            protocol=VERSION,
            sender=referee.sender,
            timestamp=referee.now(),
            conversation_id=order.conversation_id,
            auth_token=self._me.ticket,
            match_id=order.match_id,
            game_type=order.game_type,
            game_result=game_result,
        )

    def _find_deadline(self) -> str:
        window = timedelta(seconds=self._order.patience.move)
        return format_deadline(self._referee.clock() + window)

    def _make_context(self) -> play.MoveContext:
        me = self._me
        return play.MoveContext(
            opponent_id=self._opponent.player_id,
            round_id=self._order.round_id,
            your_standings=play.Record(wins=me.wins, losses=me.losses, draws=me.draws),
        )


def _judge_ack(ack: play.JoinAck) -> Termination | None:
    return None if ack.accept else Termination.DECLINED


PARITY_GAME = "even_odd"
"""The only game that has messages of its own."""
