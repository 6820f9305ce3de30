"""A player in its seat: it is asked, corrected, asked again, and in the end forfeits."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import count
from random import Random
from typing import Any, TypeVar

from agent_league.agent import Agent
from agent_league.chance import commit_to
from agent_league.clock import format_deadline
from agent_league.dialects.dialect import Peer, StartedCall, encode_message
from agent_league.game import AnyGame, explain_view
from agent_league.http.exchange import Answer
from agent_league.member import Member
from agent_league.own_time import TOLERANCE, own_time
from agent_league.peers.retry import call_with_retry
from agent_league.protocol import Message, Notice, Request, Role, name, play, tokens
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.error_messages import GameErrorMessage, RetryInfo
from agent_league.protocol.failures import LateError, NoAnswerError, NonsenseError, RefusedError
from agent_league.protocol.play import Contestant, StartMatch
from agent_league.protocol.results import Termination
from agent_league.referee.judging import BAD_MOVES, check_move, find_termination
from agent_league.referee.transcript import Transcript, TranscriptWriter
from agent_league.vocabulary import Seat

T = TypeVar("T")
Reply = TypeVar("Reply", bound=Message)

SEAT_NAMES: tuple[play.SeatName, play.SeatName] = ("PLAYER_A", "PLAYER_B")
CORRECTION_PATIENCE = 1.0
"""Seconds of a player's time window, at most, that go into telling it what was wrong."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between a correction and the next question, from the second correction on."""


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
        me = self._me
        self._line = referee.peers.line_to(Peer(me.endpoint, me.player_id, me.dialect, me.tools))
        self._witness: TranscriptWriter | None = None
        if order.transcript:
            player = f"{Role.PLAYER}:{me.player_id}"
            self._witness = TranscriptWriter(transcript, referee.sender, player, me.ticket)
        self._jitter_rng = Random(f"{order.seed}|{seat}") if order.retry.jitter else None
        self._envelope = {
            **referee.envelope(order.conversation_id),
            "auth_token": me.ticket,
            "match_id": order.match_id,
        }
        self.ledger = Ledger(me.player_id, strict=order.strictness == "strict")
        """How this player deviated from the protocol."""
        self.lag_ms = 0
        """By how many milliseconds its deadlines were extended, because the referee was late."""

    @property
    def player_id(self) -> str:
        return self._me.player_id

    async def invite(self) -> Termination | None:
        """Offer the seat; return None if the player takes it, else why it forfeits."""
        if self._me.suspended:
            return Termination.SUSPENDED
        if isinstance(self._referee, Member) and not self._referee.league_signs:
            await self._find_dialect()
        ack = await self._ask(self._make_invitation, lambda ack: ack)
        if isinstance(ack, Termination):
            return ack
        return None if ack.accept else Termination.DECLINED

    async def _find_dialect(self) -> None:
        """Find out in which dialect a player is reached that our own league has not looked at."""
        peers, within = self._referee.peers, self._order.patience.join
        with suppress(NoAnswerError):  # the invitation will show what is wrong
            await peers.detect_dialect_once(Peer(self._me.endpoint, self.player_id), within)

    async def move(self, game: AnyGame, state: Any) -> Any | Termination:
        """Return a legal move, as the game reads it, or why the player forfeits."""
        return await self._ask(
            lambda: self._make_move_call(game, state),
            lambda reply: check_move(game, game.legal(state, self._seat), reply.move),
        )

    async def tell(self, notice: Notice, within: float | None = None) -> bool:
        """Send *notice* once; False if it did not arrive."""
        try:
            await self._line.tell(notice, within, self._witness, self.ledger)
        except NoAnswerError:
            return False
        return True

    def start_telling(self, notice: Notice, within: float) -> "asyncio.Future[bool]":
        """Send *notice* once, now; the future says whether it arrived."""
        started = self._line.start(encode_message(notice), within, self._witness)
        if started is None:
            return self._referee.spawn(self.tell(notice, within))
        told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        started.answer.add_done_callback(partial(self._finish_telling, started, told))
        return told

    def _finish_telling(
        self, started: StartedCall, told: "asyncio.Future[bool]", answer: "asyncio.Future[Answer]"
    ) -> None:
        if self._line.is_taken(started, self._witness):
            told.set_result(True)
        else:
            self._referee.spawn(self._tell_on(started, told))

    async def _tell_on(self, started: StartedCall, told: "asyncio.Future[bool]") -> None:
        """Go on with a notice that the player has not taken as the protocol writes it."""
        arrived = False
        try:
            await self._line.send(
                started.outgoing, None, self._witness, self.ledger, started=started
            )
            arrived = True
        except NoAnswerError:
            pass
        finally:
            told.set_result(arrived)

    def take_posted_reply(self, reply: Message, *, any_sender: bool = False) -> bool:
        """Take an answer that came as a request of its own; False if it is not this player's.

        Only this player has the ticket of this match, and the token that the ticket was made with.
        An answer without either is held: it counts if the player itself says that it has sent it.
        With *any_sender* that may also be one in which the player calls itself by its opponent's id.
        """
        token, order, ticket = reply.auth_token or "", self._order, self._me.ticket
        if self.ledger.strict:
            return False
        if not token:
            may_be_own = any_sender or self._may_be_own(reply)
            return may_be_own and self._line.hold_posted_reply(reply)
        parts = order.match_id, order.conversation_id, self.player_id
        is_own = tokens.is_same_secret(token, ticket) or tokens.is_signed(
            ticket, [tokens.hash_token(token)], *parts
        )
        return is_own and self._line.take_posted_reply(reply)

    def _may_be_own(self, reply: Message) -> bool:
        """Whether *reply* names this player, by the id that it uses, and not its opponent."""
        who = reply.sender.rpartition(":")[2]
        own_names = {self.player_id, *(self._line.session.alias or ())}
        return who in own_names or who != self._opponent.player_id

    def envelope(self) -> dict[str, Any]:
        """Return the envelope of every message to this player about this match."""
        return {**self._envelope, "timestamp": self._referee.now()}

    async def _ask(
        self, compose: Callable[[], Request[Reply]], judge: Callable[[Reply], T]
    ) -> T | Termination:
        """Ask until *judge* accepts an answer, again after each failure that may be temporary."""
        try:
            return await call_with_retry(
                lambda: self._ask_within_window(compose(), judge),
                self._order.retry,
                lambda attempt, error, wait: self._warn(compose(), attempt, error, wait),
                self._jitter_rng,
            )
        except NoAnswerError as error:
            return find_termination(error)

    async def _ask_within_window(self, request: Request[Reply], judge: Callable[[Reply], T]) -> T:
        """Ask until a valid answer comes or the window closes; note how late we were ourselves."""
        window = getattr(self._order.patience, request.route.wait)
        now = asyncio.get_running_loop().time
        asked_at, closes, left = now(), own_time() + window, window
        last_error: NoAnswerError | None = None
        try:
            for tries in count(1):
                try:
                    return judge(await self._line.ask(request, left, self._witness, self.ledger))
                except LateError as late:
                    raise last_error or late from None
                except (NonsenseError, RefusedError) as error:
                    last_error = error
                await self._prepare_correction(request, last_error, tries, closes)
                left = closes - own_time()
                if left <= 0:
                    raise last_error
            raise AssertionError("count() does not end")
        finally:
            late_by = now() - asked_at - window
            if late_by > TOLERANCE:
                self.lag_ms += round(1000 * late_by)

    async def _prepare_correction(
        self, request: Request[Reply], error: NoAnswerError, tries: int, closes: float
    ) -> None:
        """Tell the player what was wrong, and wait a moment; or raise *error* if it is final.

        An invalid choice may be corrected until the window closes, anything else only a few times.
        """
        attempts = self._order.retry.attempts
        may_correct = attempts > 1 and error.code in BAD_MOVES
        if tries >= attempts and not may_correct:
            raise error
        await self._correct(request, error, tries, closes - own_time())
        if tries > 1:
            await asyncio.sleep(compute_pause(tries - 1, closes - own_time()))

    def _warn(
        self, request: Request[Reply], attempt: int, error: NoAnswerError, wait: float
    ) -> None:
        """Tell the player, without waiting for it, that it did not answer and when we ask again."""
        next_retry = format_deadline(self._referee.clock() + timedelta(seconds=wait))
        warning = self._make_error(request, error, attempt, next_retry_at=next_retry)
        self._referee.spawn(self.tell(warning))

    async def _correct(
        self, request: Request[Reply], error: NoAnswerError, tries: int, left: float
    ) -> None:
        left = max(0.0, left)
        correction = self._make_error(request, error, tries, time_remaining=round(left, 3))
        await self.tell(correction, within=min(CORRECTION_PATIENCE, left))

    def _make_error(
        self, request: Request[Reply], error: NoAnswerError, number: int, **info: Any
    ) -> GameErrorMessage:
        """Return the message about failure *number* (from 1)."""
        most = max(number, self._order.retry.attempts)  # corrections are not counted
        return GameErrorMessage(
            **self.envelope(),
            error_code=error.code,
            error_name=error.code.name,
            error_description=error.code.name,
            affected_player=self.player_id,
            action_required=name(request.reply),
            retry_info=RetryInfo(retry_count=number, max_retries=most, **info),
            detail=str(error)[:500],
            context=getattr(error, "context", None) or None,
            retryable=True,
            consequence="Technical loss if max retries exceeded"
            if error.code not in BAD_MOVES
            else "Technical loss if valid choice not received before timeout",
        )

    def _make_invitation(self) -> Request[play.JoinAck]:
        return play.Invitation(
            **self.envelope(),
            league_id=self._order.league_id,
            round_id=self._order.round_id,
            game_type=self._order.game_type,
            role_in_match=SEAT_NAMES[self._seat],
            opponent_id=self._opponent.player_id,
            commitment=commit_to(self._order.seed),
        )

    def _make_move_call(self, game: AnyGame, state: Any) -> Request[Any]:
        me, window = self._me, timedelta(seconds=self._order.patience.move)
        common = {
            **self.envelope(),
            "player_id": self.player_id,
            "game_type": self._order.game_type,
            "deadline": format_deadline(self._referee.clock() + window),
            "context": play.MoveContext(
                opponent_id=self._opponent.player_id,
                round_id=self._order.round_id,
                your_standings=play.Record(wins=me.wins, losses=me.losses, draws=me.draws),
            ),
        }
        if self._order.game_type == PARITY_GAME:
            return play.ParityCall(**common)
        moves = list(game.legal(state, self._seat))
        view = explain_view(game, state, self._seat)
        return play.GameMoveCall(**common, view=view, legal_moves=moves)


PARITY_GAME = "even_odd"
"""The only game that has messages of its own."""


def compute_pause(number: int, left: float) -> float:
    """Return how long to wait before a player is asked again, after pause *number* (from 1).

    It bounds how often a player that answers wrongly at once is asked while its time lasts.
    """
    growing = FIRST_PAUSE * float(2 ** min(number - 1, 10))
    return max(0.0, min(growing, LONGEST_PAUSE, left))
