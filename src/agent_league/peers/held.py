"""Replies that came as requests of their own and prove nothing: anybody could have sent them.

One counts only if the peer itself says, in its answer on the connection that we opened, that it
has sent its reply, and nothing different has come.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from agent_league.protocol import ErrorCode, Message, ProtocolError, Request
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.failures import NonsenseError
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.play import JoinAck

Question: TypeAlias = tuple[str | None, type[Message]]
"""The match of a request, and the kind of its reply."""
MOST_HELD = 2
"""More than one is a contradiction, however many there are."""


class HeldReplies:
    """The replies that are held, by question and by what they say."""

    def __init__(self) -> None:
        self.by_question: dict[Question, dict[bytes, Message]] = {}

    def add(self, reply: Message) -> None:
        held = self.by_question.setdefault((reply.match_id, type(reply)), {})
        if len(held) < MOST_HELD:
            held.setdefault(_get_content(reply), reply)

    def forget(self, request: Request[Any]) -> None:
        self.by_question.pop((request.match_id, request.reply), None)

    def take(self, request: Request[Any]) -> Message | None:
        """Return the reply to *request* that is held; None if there is none.

        Raise `NonsenseError` if several say different things: the peer must be asked again.
        """
        held = self.by_question.pop((request.match_id, request.reply), {})
        if len(held) > 1:
            detail = "different replies were posted without a token, and one is not the player's"
            raise NonsenseError(detail, ErrorCode.AUTH_TOKEN_MISSING)
        return next(iter(held.values()), None)

    def find_confirmed(
        self, request: Request[Any], interpret: Callable[[Ledger], Message]
    ) -> Message | None:
        """Return the GAME_JOIN_ACK that is held if the peer's own answer says the same in short."""
        held = self.by_question.get((request.match_id, request.reply))
        if not held or request.reply is not JoinAck:
            return None
        try:
            own = interpret(Ledger(UNSTATED))
        except ProtocolError:
            return None
        return held.get(_get_content(own))


def _get_content(reply: Message) -> bytes:
    """Return what *reply* says, without who says it and when."""
    says = reply.accept if isinstance(reply, JoinAck) else getattr(reply, "move", None)
    return msgspec.json.encode(says)
