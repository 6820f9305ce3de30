"""One request and its answer, and what can be read in them. Pure."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec

from agent_league.http.exchange import Answer
from agent_league.protocol import RpcCode
from agent_league.protocol.failures import LateError, NoAnswerError
from agent_league.vocabulary import Json

LAST_SUCCESS_STATUS = 299
ERROR_MESSAGE_TYPES = frozenset({"LEAGUE_ERROR", "GAME_ERROR"})
Problem = str | None
"""What is wrong, or None."""


@dataclass(frozen=True)
class Exchange:
    """A body that was sent, the answer to it or why there is none, and how long that took."""

    url: str
    sent: bytes
    answer: Answer | None
    failure: NoAnswerError | None
    seconds: float
    time_limit: float
    """How many seconds the protocol gives to answer."""
    from_agent: bool = False
    """Whether the agent sent the request, and the check the answer."""

    @property
    def is_late(self) -> bool:
        return isinstance(self.failure, LateError)

    @cached_property
    def request(self) -> Json:
        """The frame that was sent; empty if it was not an object."""
        return _parse_object(self.sent) or {}

    @cached_property
    def request_message(self) -> Json:
        """The message that was sent, even one level too deep; empty if it was not one."""
        params = self.request.get("params", self.request)
        if not isinstance(params, dict):
            return {}
        inner = [value for value in params.values() if isinstance(value, dict)]
        nested = next((value for value in inner if "message_type" in value), params)
        return params if "message_type" in params else nested

    @cached_property
    def frame(self) -> Json:
        """The answer as JSON; None if it is not an object, or there is none."""
        return _parse_object(self.answer.body) if self.answer else None

    @property
    def error(self) -> Json:
        """The error of the frame; None if it has none."""
        return self.frame.get("error") if self.frame else None

    @cached_property
    def message(self) -> Json:
        """The message that came back, with or without a frame; None if there is none."""
        if self.frame is None or self.error:
            return None
        result = self.frame.get("result") if "result" in self.frame else self.frame
        return result if isinstance(result, dict) else None

    def get(self, key: str) -> Json:
        """Return a field of the message that came back; None if there is none."""
        return self.message.get(key) if self.message else None

    def is_reply_of(self, *kinds: str) -> bool:
        """Whether the answer is a message of *kinds*, or at least about a match.

        Other answers are not judged field by field: another rule judges that they are wrong.
        """
        return self.get("message_type") in kinds or "match_id" in (self.message or {})

    @property
    def is_unknown_method(self) -> bool:
        """Whether the answer is that there is no such method."""
        return isinstance(self.error, dict) and self.error.get("code") == RpcCode.METHOD_NOT_FOUND

    @property
    def reply_or_error(self) -> Json:
        """The message that came back: the reply, or the one inside an error."""
        message = self.error.get("data") if isinstance(self.error, dict) else self.message
        return message if isinstance(message, dict) else {}

    @property
    def is_refusal(self) -> bool:
        """Whether the answer says that something was wrong with the request."""
        return self.answer is not None and bool(
            self.answer.status > LAST_SUCCESS_STATUS
            or self.error
            or self.get("message_type") in ERROR_MESSAGE_TYPES
        )

    def problem(self) -> Problem:
        """Say why nothing can be read in the answer."""
        if self.failure is not None:
            return f"no answer: {self.failure}"
        if self.frame is None:
            status = self.answer.status if self.answer else 0
            return f"HTTP {status} with a body that is not a JSON object"
        return None

    def error_code(self) -> Json:
        """Return the league's code of the refusal (E003), wherever the answer carries it."""
        return self.reply_or_error.get("error_code")


class Received(NamedTuple):
    """A message that a fake peer of the check received, and when."""

    at: float
    exchange: Exchange

    @property
    def message(self) -> Json:
        return self.exchange.request_message

    @property
    def kind(self) -> str:
        return str(self.message.get("message_type")).upper()


def _parse_object(raw: bytes) -> Json:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None
