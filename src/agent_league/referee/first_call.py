"""The first call of a match: the invitation and the first question, for a player that takes both at once."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from agent_league.dialects.dialect import StartedBatch, StartedCall, encode_message
from agent_league.futures import copy_outcome
from agent_league.http.exchange import Answer
from agent_league.protocol import Request
from agent_league.protocol.results import Termination
from agent_league.referee.player_line import Asked, PlayerLine, Question, judge_all

Invited: TypeAlias = asyncio.Future[Termination | None]
"""None if the player takes its seat, else why it forfeits."""


class FirstCall:
    """Invites a player and asks for its first move, in one batch.

    Only a batch that is answered well in all respects counts. After any other the player is
    invited as usual, and asked for its move later.
    """

    def __init__(
        self,
        line: PlayerLine,
        invitation: Question[Any, Termination | None],
        question: Question[Any, Any],
        take_move: Callable[[Any], None],
    ) -> None:
        """*take_move* is called with the move, as *question* judges it, before the seat is taken."""
        self._line, self._questions, self._take_move = line, (invitation, question), take_move
        self._invited: Invited = line.loop.create_future()

    def start(self) -> Invited | None:
        """Send both now; None if this player must be asked one by one."""
        line, (invitation, question) = self._line, self._questions
        asked, request = line.open_window(invitation.compose()), question.compose()
        messages = encode_message(asked.request), encode_message(request)
        batch = line.peer.start_batch(messages, asked.window, line.witness)
        if batch is None:
            return None
        batch.answer.add_done_callback(partial(self._decide, asked, request, batch))
        return self._invited

    def _decide(
        self,
        asked: Asked,
        request: Request[Any],
        batch: StartedBatch,
        answer: "asyncio.Future[Answer]",
    ) -> None:
        if self._invited.done():  # nobody waits for it any more
            return
        line, requests = self._line, (asked.request, request)
        replies = line.peer.read_plain_replies(requests, batch, line.player_id)
        verdicts = judge_all(self._questions, replies[0]) if replies else None
        if replies is None or verdicts is None:
            copy_outcome(line.referee.spawn(self._invite_alone(asked, batch)), self._invited)
            return
        for result in replies[1]:
            line.peer.record_result(result, line.witness, b"")
        line.note_lag(asked)
        self._take_move(verdicts[1])
        self._invited.set_result(verdicts[0])

    async def _invite_alone(self, asked: Asked, batch: StartedBatch) -> Termination | None:
        """Go on with the invitation; a batch that nobody answered counts as the first attempt."""
        invitation, answer = self._questions[0], batch.answer
        if answer.cancelled() or answer.exception() is None:
            return await self._line.ask(invitation)
        call = StartedCall(batch.messages[0], batch.numbers[0], answer, batch.ends)
        return await self._line.ask(invitation, asked, call)
