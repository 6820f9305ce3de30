"""One request and its answer, and what can be read in them. Pure."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec

from agent_league.check import reading
from agent_league.check.reading import Found
from agent_league.dialects.meanings import find_kind, split_words
from agent_league.http.exchange import Answer
from agent_league.protocol import ErrorCode, name
from agent_league.protocol.failures import LateError, NoAnswerError
from agent_league.vocabulary import Json

LAST_SUCCESS_STATUS = 299
TOOLS_CALL = "tools/call"
FIRST_SERVER_ERROR = 500
NOTHING_THERE = frozenset({404, 405})
"""The statuses with which a server says that it serves nothing at a path."""
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

    posted: Json = None
    """The reply, if the agent sent it in a request of its own and not as the answer."""

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
        nested = next((value for value in inner if "message_type" in value), None)
        if "message_type" in params or self.request.get("method") != TOOLS_CALL:
            return params if "message_type" in params else nested or params
        arguments = params.get("arguments")
        return nested or (arguments if isinstance(arguments, dict) else {})

    @cached_property
    def called(self) -> str:
        """The name of what was called: the method, or the tool of a tools/call."""
        method, params = self.request.get("method"), self.request.get("params")
        is_tool = self.is_tool_call and isinstance(params, dict)
        return str((params.get("name") if is_tool else method) or "")

    @property
    def is_tool_call(self) -> bool:
        return bool(self.request.get("method") == TOOLS_CALL)

    def describe_call(self) -> str:
        """Say how the message was sent."""
        if self.is_tool_call:
            return f"{TOOLS_CALL} with the name {self.called!r}"
        if not self.sent:
            return f"POST {self.url.partition('?')[0]}"
        return f"the method {self.called!r}" if self.called else "the message without a frame"

    @cached_property
    def frame(self) -> Json:
        """The answer as JSON; None if it is not an object, or there is none."""
        return _parse_object(self.answer.body) if self.answer else None

    @property
    def error(self) -> Json:
        """The error of the frame; None if it has none."""
        return self.frame.get("error") if self.frame else None

    @cached_property
    def found(self) -> Found | None:
        """The message that came back, and which rule its place breaks; None if there is none."""
        if self.posted is not None:
            return Found(self.posted, None)
        return None if self.frame is None or self.error else reading.find_message(self.frame)

    @property
    def message(self) -> Json:
        """The message that came back, wherever it is in the answer; None if there is none."""
        return self.found.message if self.found else None

    def get(self, key: str) -> Json:
        """Return a field of the message that came back; None if there is none."""
        return self.message.get(key) if self.message else None

    def is_reply_of(self, *kinds: str) -> bool:
        """Whether the answer is a message of *kinds*, however it is written.

        Other answers are not judged field by field: another rule judges that they are wrong.
        """
        return not self.is_refusal and reading.is_reply_of(self.message, *kinds)

    @property
    def serves_nothing(self) -> bool:
        """Whether the answer says that nothing is served at the address."""
        is_frame = isinstance(self.frame, dict) and "jsonrpc" in self.frame
        return self.answer is not None and self.answer.status in NOTHING_THERE and not is_frame

    @property
    def is_unknown_call(self) -> bool:
        """Whether the answer is that the agent does not know the call."""
        code = self.error.get("code") if isinstance(self.error, dict) else None
        known_code = self.error_code() == ErrorCode.UNKNOWN_MESSAGE_TYPE
        return self.is_refusal and (known_code or reading.says_unknown(code, self.refusal_text()))

    @property
    def reply_or_error(self) -> Json:
        """The message that came back: the reply, or the one inside an error."""
        message = self.error.get("data") if isinstance(self.error, dict) else self.message
        return message if isinstance(message, dict) else {}

    @property
    def is_refusal(self) -> bool:
        """Whether the answer says, in any form, that something was wrong with the request."""
        if self.answer is None or self.posted is not None:
            return False
        result = self.frame.get("result") if self.frame else None
        is_tool_error = isinstance(result, dict) and result.get("isError") is True
        is_bad_status = self.answer.status > LAST_SUCCESS_STATUS
        return bool(is_bad_status or self.error or is_tool_error or reading.says_no(self.message))

    def refusal_text(self) -> str:
        """Return what a refusal says, in short."""
        code = f"{self.error.get('code', '')} " if isinstance(self.error, dict) else ""
        words = next(reading.iter_texts(self.error or self.message), "")
        status = self.answer.status if self.answer else 0
        if not words and self.answer and status > LAST_SUCCESS_STATUS:
            words = self.answer.body[:80].decode("utf-8", "replace")
        shown_status = f"HTTP {status} " if status > LAST_SUCCESS_STATUS else ""
        return f"{shown_status}{code}{' '.join(words.split())}".strip()

    def problem(self) -> Problem:
        """Say why nothing can be read in the answer."""
        if self.failure is not None:
            return f"no answer: {self.failure}"
        if self.frame is None and self.answer:
            text = self.answer.body[:60].decode("utf-8", "replace")
            return f"HTTP {self.answer.status} with a body that is not a JSON object: {text!r}"
        return None

    def error_code(self) -> Json:
        """Return the league's code of the refusal (E003), wherever the answer carries it."""
        inner = self.get("error")
        places = (self.reply_or_error, inner if isinstance(inner, dict) else {})
        codes = (place.get("error_code") or place.get("code") for place in places)
        return next((code for code in codes if isinstance(code, str)), None)


class Received(NamedTuple):
    """A message that a fake peer of the check received, and when."""

    at: float
    exchange: Exchange
    running: str = ""
    """The match that was running then, for agents that do not name it."""

    @property
    def message(self) -> Json:
        return self.exchange.request_message

    @property
    def match_id(self) -> Json:
        return self.message.get("match_id") or (self.running if self.kind else "")

    @property
    def kind(self) -> str:
        """Its message type, or the one that its call or its path stands for; else empty."""
        named = self.message.get("message_type")
        path = self.exchange.url.rpartition("/")[2]
        texts = (named, self.exchange.called, path)
        return next((kind for text in texts if (kind := _find_kind(text, self.message))), "")


_REGISTRATIONS = {"referee": "REFEREE_REGISTER_REQUEST", "": "LEAGUE_REGISTER_REQUEST"}


def _find_kind(text: Json, message: Json) -> str:
    """Return the message type that *text* means: its own name, or one with its words."""
    kind = find_kind(str(text or ""))
    if kind is not None:
        return name(kind)
    if not {"register", "registration"} & split_words(str(text)):
        return ""
    about = f"{text} {sorted(message)} {message.get('agent_type')} {message.get('role')}".lower()
    return next(found for role, found in _REGISTRATIONS.items() if role in about)


def _parse_object(raw: bytes) -> Json:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None
