"""How a referee reaches one player of a match: it tells, asks, corrects, and asks again."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from random import Random
from typing import Any, Generic, TypeVar

from msgspec import Struct

from agent_league.agent import Agent
from agent_league.clock import format_deadline
from agent_league.dialects.dialect import Outgoing, Peer, StartedCall, encode_message
from agent_league.futures import copy_outcome
from agent_league.http.exchange import Answer
from agent_league.own_time import TOLERANCE, own_time
from agent_league.peers.retry import call_with_retry, compute_delay
from agent_league.protocol import Message, Notice, Request, Role
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.error_messages import GameErrorMessage, RetryInfo
from agent_league.protocol.failures import LateError, NoAnswerError, NonsenseError, RefusedError
from agent_league.protocol.play import StartMatch
from agent_league.protocol.results import Termination
from agent_league.referee.corrections import CORRECTION_PATIENCE, compute_pause, make_correction
from agent_league.referee.judging import BAD_MOVES, find_termination
from agent_league.referee.transcript import Transcript, TranscriptWriter
from agent_league.vocabulary import Seat

T = TypeVar("T")
Reply = TypeVar("Reply", bound=Message)


class Question(Struct, Generic[Reply, T], frozen=True):
    """What a player is asked."""

    compose: Callable[[], Request[Reply]]
    """Writes the request, for each attempt anew."""
    judge: Callable[[Reply], T]
    """Returns what a reply means, or raises a `NoAnswerError`; it may be called twice."""


class Asked(Struct, frozen=True):
    """A request, and the time window in which it is to be answered."""

    request: Request[Any]
    window: float
    at: float
    """When the window opened, on the clock of the event loop."""


def judge_all(questions: Sequence[Question[Any, Any]], replies: Sequence[Message]) -> Any:
    """Return what *replies* mean; None if one of them is not accepted: then a task asks again."""
    try:
        return [question.judge(reply) for question, reply in zip(questions, replies, strict=True)]
    except Exception:  # noqa: BLE001 - somebody's game may raise anything; the task meets it too
        return None


class PlayerLine:
    """Sends the messages of one match to one player."""

    def __init__(
        self, referee: Agent, order: StartMatch, seat: Seat, transcript: Transcript
    ) -> None:
        self.referee, self._order = referee, order
        self.loop = asyncio.get_running_loop()  # asked for once: every look takes a system call
        me = order.players[seat]
        self.player_id = me.player_id
        self.peer = referee.peers.line_to(Peer(me.endpoint, me.player_id, me.dialect, me.tools))
        self.witness: TranscriptWriter | None = None
        if order.transcript:
            player = f"{Role.PLAYER}:{me.player_id}"
            self.witness = TranscriptWriter(transcript, referee.sender, player, me.ticket)
        self._jitter_rng = Random(f"{order.seed}|{seat}") if order.retry.jitter else None
        self._ticket = me.ticket
        self.ledger = Ledger(me.player_id, strict=order.strictness == "strict")
        """How this player deviated from the protocol."""
        self._asked: Asked | None = None
        """The question whose first answer is awaited."""
        self._is_open = False
        """Whether its answer may also be posted; until somebody tries, that need not be noted."""
        self.lag_ms = 0
        """By how many milliseconds its deadlines were extended, because the referee was late."""

    def envelope(self) -> dict[str, Any]:
        """Return the envelope of a message to this player about this match.

        Those that every match has name these fields: to merge a dict takes as long as all the rest.
        """
        order = self._order
        envelope = self.referee.envelope(order.conversation_id)
        return {**envelope, "auth_token": self._ticket, "match_id": order.match_id}

    async def tell(self, notice: Notice, within: float | None = None) -> bool:
        """Send *notice* once; False if it did not arrive."""
        return await self._deliver(encode_message(notice), within)

    def start_telling(self, notice: Notice, within: float) -> "asyncio.Future[None]":
        """Send *notice* now; the future is done when it has arrived, or did not at the first try.

        Then it is sent again, as the order says.
        """
        told: asyncio.Future[None] = self.loop.create_future()
        outgoing = encode_message(notice)
        call = self.peer.start(outgoing, within, self.witness)
        if call is None:
            self.referee.spawn(self._tell_again(outgoing, within, told))
        else:
            call.answer.add_done_callback(partial(self._finish_telling, call, within, told))
        return told

    def _finish_telling(
        self,
        call: StartedCall,
        within: float,
        told: "asyncio.Future[None]",
        answer: "asyncio.Future[Answer]",
    ) -> None:
        if not self.peer.is_taken(call, self.witness):
            self.referee.spawn(self._tell_again(call.outgoing, within, told, call))
        elif not told.done():
            told.set_result(None)

    async def _tell_again(
        self,
        outgoing: Outgoing,
        within: float,
        told: "asyncio.Future[None]",
        call: StartedCall | None = None,
    ) -> None:
        """Send *outgoing* until it has arrived; if it was sent, begin with the answer to that *call*."""
        retry = self._order.retry
        for attempt in range(1, retry.attempts + 1):
            has_arrived = await self._deliver(outgoing, within, call)
            if not told.done():
                told.set_result(None)
            if has_arrived or attempt == retry.attempts:
                return
            call = None
            await asyncio.sleep(compute_delay(retry, attempt))

    async def _deliver(
        self, outgoing: Outgoing, within: float | None, call: StartedCall | None = None
    ) -> bool:
        try:
            await self.peer.send(outgoing, within, self.witness, self.ledger, call)
        except NoAnswerError:
            return False
        return True

    def start_asking(self, question: Question[Reply, T]) -> "asyncio.Future[T | Termination]":
        """Ask now, without a task: only an answer that is not accepted at once needs one."""
        asked = self.open_window(question.compose())
        call = self.peer.start(encode_message(asked.request), asked.window, self.witness)
        if call is None:
            return self.referee.spawn(self.ask(question))
        self._asked = asked
        decided: asyncio.Future[T | Termination] = self.loop.create_future()
        call.answer.add_done_callback(partial(self._decide, question, asked, call, decided))
        return decided

    def _decide(
        self,
        question: Question[Reply, T],
        asked: Asked,
        call: StartedCall,
        decided: "asyncio.Future[T | Termination]",
        answer: "asyncio.Future[Answer]",
    ) -> None:
        """Take an answer that is right in all respects; go on in a task with all others."""
        peer, is_open = self.peer, self._is_open
        self._asked, self._is_open = None, False
        found = peer.read_plain_reply(asked.request, call, self.player_id)
        verdicts = judge_all([question], [found[0]]) if found else None
        if verdicts is None and not decided.done():
            if not is_open:
                peer.open_question(asked.request)
            copy_outcome(self.referee.spawn(self._ask_on(question, asked, call)), decided)
            return
        if is_open:
            peer.close_question(asked.request)
        if found and verdicts and not decided.done():  # else nobody waits for it any more
            peer.record_result(found[1], self.witness, call.record)
            self.note_lag(asked)
            decided.set_result(verdicts[0])

    def expect_posted_reply(self) -> None:
        """Take the reply to the question that is under way also if the player posts it."""
        if self._asked is not None and not self._is_open:
            self._is_open = True
            self.peer.open_question(self._asked.request)

    async def _ask_on(
        self, question: Question[Reply, T], asked: Asked, call: StartedCall
    ) -> T | Termination:
        """Go on with a question whose first answer is there."""
        try:
            return await self.ask(question, asked, call)
        finally:
            self.peer.close_question(asked.request)

    async def ask(
        self,
        question: Question[Reply, T],
        asked: Asked | None = None,
        call: StartedCall | None = None,
    ) -> T | Termination:
        """Ask until an answer is accepted, again after each failure that may be temporary.

        If the player was *asked* already, begin with the answer to that *call*.
        """
        first = [(asked, call)] if asked else []

        def attempt() -> Coroutine[Any, Any, T]:
            asked, call = first.pop() if first else (self.open_window(question.compose()), None)
            return self._ask_within_window(asked, question.judge, call)

        try:
            return await call_with_retry(
                attempt,
                self._order.retry,
                lambda number, error, wait: self._warn(question.compose(), number, error, wait),
                self._jitter_rng,
            )
        except NoAnswerError as error:
            return find_termination(error)

    async def _ask_within_window(
        self, asked: Asked, judge: Callable[[Reply], T], call: StartedCall | None
    ) -> T:
        """Ask until a valid answer comes or the window closes; note how late we were ourselves."""
        request, left = asked.request, asked.window
        closes = call.ends if call else own_time() + left
        last_error: NoAnswerError | None = None
        try:
            for tries in count(1):
                try:
                    return judge(
                        await self.peer.ask(request, left, self.witness, self.ledger, call)
                    )
                except LateError as late:
                    raise last_error or late from None
                except (NonsenseError, RefusedError) as error:
                    last_error = error
                await self._prepare_correction(request, last_error, tries, closes)
                call, left = None, closes - own_time()
                if left <= 0:
                    raise last_error
            raise AssertionError("count() does not end")
        finally:
            self.note_lag(asked)

    def open_window(self, request: Request[Any]) -> Asked:
        """Return *request* with its time window, which begins now."""
        window = getattr(self._order.patience, request.route.wait)
        return Asked(request, window, self.loop.time())

    def note_lag(self, asked: Asked) -> None:
        """Note by how much we ourselves were late with the answer to what was *asked*."""
        late_by = self.loop.time() - asked.at - asked.window
        if late_by > TOLERANCE:
            self.lag_ms += round(1000 * late_by)

    async def _prepare_correction(
        self, request: Request[Any], error: NoAnswerError, tries: int, closes: float
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

    def _warn(self, request: Request[Any], attempt: int, error: NoAnswerError, wait: float) -> None:
        """Tell the player, without waiting for it, that it did not answer and when we ask again."""
        next_retry = format_deadline(self.referee.clock() + timedelta(seconds=wait))
        warning = self._make_error(request, error, attempt, next_retry_at=next_retry)
        self.referee.spawn(self.tell(warning))

    async def _correct(
        self, request: Request[Any], error: NoAnswerError, tries: int, left: float
    ) -> None:
        left = max(0.0, left)
        correction = self._make_error(request, error, tries, time_remaining=round(left, 3))
        await self.tell(correction, within=min(CORRECTION_PATIENCE, left))

    def _make_error(
        self, request: Request[Any], error: NoAnswerError, number: int, **info: Any
    ) -> GameErrorMessage:
        """Return the message about failure *number* (from 1)."""
        most = max(number, self._order.retry.attempts)  # corrections are not counted
        retry_info = RetryInfo(retry_count=number, max_retries=most, **info)
        return make_correction(self.envelope(), self.player_id, request, error, retry_info)
