"""A player in its seat: asked with patience, corrected, and in the end given up."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from random import Random
from typing import Any, TypeVar

from agent_league.agent import Agent
from agent_league.clock import written
from agent_league.dialects import Ledger
from agent_league.game import AnyGame, IllegalMoveError
from agent_league.protocol import ErrorCode, Message, Notice, Request, Role, name, tokens
from agent_league.protocol.complaints import GameComplaint, RetryInfo
from agent_league.protocol.play import (
    Contestant,
    GameMoveCall,
    Invitation,
    JoinAck,
    MoveContext,
    ParityCall,
    Record,
    SeatName,
    StartMatch,
)
from agent_league.referee.transcript import Stenographer, Transcript
from agent_league.referee.verdict import Forfeit, Termination, forfeit
from agent_league.speeches import Peer
from agent_league.transport import LateError, NoAnswerError, NonsenseError, RefusedError
from agent_league.transport.retry import persistently
from agent_league.vocabulary import Json, Seat

T = TypeVar("T")
Reply = TypeVar("Reply", bound=Message)

SEAT_NAMES: tuple[SeatName, SeatName] = ("PLAYER_A", "PLAYER_B")
CORRECTION_PATIENCE = 1.0
"""How long, at most, a player's window is spent on telling it what was wrong."""


class Seated:
    """One of the two players of a match, as its referee deals with it."""

    def __init__(
        self, referee: Agent, order: StartMatch, seat: Seat, transcript: Transcript
    ) -> None:
        self._referee = referee
        self._order = order
        self._seat = seat
        self._me: Contestant = order.players[seat]
        self._opponent: Contestant = order.players[1 - seat]
        me = self._me
        self._line = referee.speak(Peer(me.endpoint, me.player_id, me.dialect, me.tools))
        player = f"{Role.PLAYER}:{self._me.player_id}"
        writer = Stenographer(transcript, referee.sender, player, self._me.ticket)
        self._witness = writer if order.transcript else None
        self._chance = Random(f"{order.seed}|{seat}") if order.retry.jitter else None
        self.ledger = Ledger(me.player_id, strict=order.strictness == "strict")
        """In what this player deviated from the protocol."""

    @property
    def player_id(self) -> str:
        return self._me.player_id

    async def invited(self) -> Forfeit | None:
        """Offer the seat; return None once it is taken."""
        if self._me.suspended:
            return Forfeit(Termination.SUSPENDED, "known not to answer")
        ack = await self._asked(self._invitation, _as_it_is)
        if isinstance(ack, Forfeit):
            return ack
        return None if ack.accept else Forfeit(Termination.DECLINED, "accept was false")

    async def move(self, game: AnyGame, state: Any) -> Any | Forfeit:
        """Return a legal move, as the game reads it, or what was forfeited."""

        def judged(reply: Any) -> Any:
            return _legal_move(game, state, self._seat, reply.move)

        return await self._asked(lambda: self._move_call(game, state), judged)

    async def tell(self, notice: Notice, within: float | None = None) -> bool:
        """Send *notice* once; False if it did not arrive."""
        try:
            await self._line.tell(notice, within, self._witness, self.ledger)
        except NoAnswerError:
            return False
        return True

    def posted(self, reply: Message) -> bool:
        """Take an answer that came as a request of its own, if it is this player's.

        It is if it shows the ticket of this match, or the token that the ticket was made with:
        nobody else has either.
        """
        shown = reply.auth_token or ""
        owned = tokens.ticket(tokens.token_hash(shown), self._order.conversation_id, self.player_id)
        own = any(tokens.same(one, self._me.ticket) for one in (shown, owned))
        return own and not self.ledger.strict and self._line.posted(reply)

    def stamp(self) -> dict[str, Any]:
        """Return the envelope of everything said to this player about this match."""
        return {
            **self._referee.stamp(self._order.conversation_id),
            "auth_token": self._me.ticket,
            "match_id": self._order.match_id,
        }

    async def _asked(
        self, compose: Callable[[], Request[Reply]], judge: Callable[[Reply], T]
    ) -> T | Forfeit:
        """Ask, again after each failure that may pass, until *judge* takes an answer."""
        try:
            return await persistently(
                lambda: self._answer_in_window(compose(), judge),
                self._order.retry,
                lambda attempt, error, wait: self._warn(compose(), attempt, error, wait),
                self._chance,
            )
        except NoAnswerError as error:
            return forfeit(error)

    async def _answer_in_window(self, request: Request[Reply], judge: Callable[[Reply], T]) -> T:
        """Ask until a valid answer comes; a correction does not restart the window."""
        now = asyncio.get_running_loop().time
        closes = now() + getattr(self._order.patience, request.route.wait)
        wrong: NoAnswerError | None = None
        for tries in count(1):
            try:
                left = max(0.0, closes - now())
                return judge(await self._line.ask(request, left, self._witness, self.ledger))
            except LateError as late:
                raise wrong or late from None
            except (NonsenseError, RefusedError) as error:
                wrong = error
                if tries >= self._order.retry.attempts:
                    raise
            await self._correct(request, wrong, tries, closes - now())
        raise AssertionError("count() does not end")

    def _warn(
        self, request: Request[Reply], attempt: int, error: NoAnswerError, wait: float
    ) -> None:
        """Tell the player, beside the waiting, that it did not answer and when we ask again."""
        again = written(self._referee.clock() + timedelta(seconds=wait))
        retries = self._order.retry.attempts
        info = RetryInfo(retry_count=attempt, max_retries=retries, next_retry_at=again)
        self._referee.spawn(self.tell(self._complaint(request, error, info)))

    async def _correct(
        self, request: Request[Reply], error: NoAnswerError, tries: int, left: float
    ) -> None:
        info = RetryInfo(
            retry_count=tries,
            max_retries=self._order.retry.attempts,
            time_remaining=round(max(0.0, left), 3),
        )
        complaint = self._complaint(request, error, info)
        await self.tell(complaint, within=max(0.0, min(CORRECTION_PATIENCE, left)))

    def _complaint(
        self, request: Request[Reply], error: NoAnswerError, info: RetryInfo
    ) -> GameComplaint:
        passing = error.retryable
        return GameComplaint(
            **self.stamp(),
            error_code=error.code,
            error_name=error.code.name,
            error_description=error.code.name,
            affected_player=self.player_id,
            action_required=name(request.reply),
            retry_info=info,
            detail=str(error)[:500],
            context=getattr(error, "context", None) or None,
            retryable=True,
            consequence="Technical loss if max retries exceeded"
            if passing
            else "Technical loss if no valid answer is received before timeout",
        )

    def _invitation(self) -> Request[JoinAck]:
        return Invitation(
            **self.stamp(),
            league_id=self._order.league_id,
            round_id=self._order.round_id,
            game_type=self._order.game_type,
            role_in_match=SEAT_NAMES[self._seat],
            opponent_id=self._opponent.player_id,
        )

    def _move_call(self, game: AnyGame, state: Any) -> Request[Any]:
        window = timedelta(seconds=self._order.patience.move)
        common = {
            **self.stamp(),
            "player_id": self.player_id,
            "game_type": self._order.game_type,
            "deadline": written(self._referee.clock() + window),
            "context": self._context(),
        }
        if self._order.game_type == PARITY_GAME:
            return ParityCall(**common)
        moves = list(game.legal(state, self._seat))
        return GameMoveCall(**common, view=game.view(state, self._seat), legal_moves=moves)

    def _context(self) -> MoveContext:
        me = self._me
        return MoveContext(
            opponent_id=self._opponent.player_id,
            round_id=self._order.round_id,
            your_standings=Record(wins=me.wins, losses=me.losses, draws=me.draws),
        )


PARITY_GAME = "even_odd"
"""The one game that has messages of its own."""


def _as_it_is(ack: JoinAck) -> JoinAck:
    return ack


def _legal_move(game: AnyGame, state: Any, seat: Seat, raw: Json) -> Any:
    legal = game.legal(state, seat)
    try:
        move = game.read_move(raw)
    except IllegalMoveError:
        move = None
    else:
        if move in legal:
            return move
    detail = f"{raw!r:.60} is not a legal move"
    raise NonsenseError(detail, ErrorCode.ILLEGAL_MOVE, valid_choices=list(legal))
