"""Replies that a peer posts as requests of their own, while our question to it is open."""

import asyncio

from agent_league.own_time import timeout_at
from agent_league.peers.held import Question
from agent_league.protocol import Message
from agent_league.protocol.failures import LateError, PromisedError


class PostedReplies:
    """The open questions to one peer, and the replies to them that it has posted."""

    def __init__(self) -> None:
        self._open: dict[Question, int] = {}
        """How often each question is open: a match may be ordered twice at once."""
        self._replies: dict[Question, Message] = {}
        self._waiting: dict[Question, asyncio.Event] = {}

    def __contains__(self, question: Question) -> bool:
        return question in self._open

    def open(self, question: Question) -> None:
        self._open[question] = self._open.get(question, 0) + 1

    def close(self, question: Question) -> bool:
        """Take back one `open`; True if the question is not open any more."""
        left = self._open.pop(question) - 1
        if left:
            self._open[question] = left
            return False
        if self._replies or self._waiting:
            self._replies.pop(question, None)
            self._waiting.pop(question, None)
        return True

    def take(self, question: Question, reply: Message) -> bool:
        """Keep *reply*; False if the question is not open, or has its reply."""
        if question not in self._open or question in self._replies:
            return False
        self._replies[question] = reply
        if question in self._waiting:
            self._waiting[question].set()
        return True

    async def wait_for_reply(
        self, question: Question, ends: float, error: LateError | PromisedError
    ) -> Message:
        """Return a reply that was promised, or that was posted before the time was over."""
        if question not in self._replies:
            if isinstance(error, LateError):
                raise error
            try:
                async with timeout_at(ends):
                    await self._waiting.setdefault(question, asyncio.Event()).wait()
            except TimeoutError:
                raise LateError("the answer that was promised did not come") from error
        return self._replies[question]
