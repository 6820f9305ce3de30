"""One request of the check and what came back, and the pure reading of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec

from agent_league.protocol.jsonrpc import METHOD_NOT_FOUND
from agent_league.transport import LateError, NoAnswerError
from agent_league.transport.exchange import Answer
from agent_league.vocabulary import Json

OK = 299
"""The last of the statuses by which HTTP says yes."""
COMPLAINTS = frozenset({"LEAGUE_ERROR", "GAME_ERROR"})
Complaint = str | None
"""What is wrong, or None."""


@dataclass(frozen=True)
class Exchange:
    """A body that was sent, the answer to it or why there is none, and how long that took."""

    url: str
    sent: bytes
    answer: Answer | None
    failure: NoAnswerError | None
    seconds: float
    allowed: float
    """How many seconds the protocol gives to answer."""
    from_agent: bool = False
    """Whether it was the agent that asked, and the check that answered."""

    @property
    def late(self) -> bool:
        return isinstance(self.failure, LateError)

    @cached_property
    def asked(self) -> Json:
        """The message that was sent, even one level too deep; empty if it was not one."""
        found = self.request.get("params", self.request)
        if not isinstance(found, dict):
            return {}
        inner = [value for value in found.values() if isinstance(value, dict)]
        nested = next((value for value in inner if "message_type" in value), found)
        return found if "message_type" in found else nested

    @cached_property
    def request(self) -> Json:
        """The frame that was sent; empty if it was not an object."""
        read = _parsed(self.sent)
        return read if isinstance(read, dict) else {}

    @cached_property
    def frame(self) -> Json:
        """The answer as JSON; None if it is not an object, or there is none."""
        read = _parsed(self.answer.body) if self.answer else None
        return read if isinstance(read, dict) else None

    @property
    def error(self) -> Json:
        """The error of the frame; None if it has none."""
        return self.frame.get("error") if self.frame else None

    @cached_property
    def message(self) -> Json:
        """The message that came back, framed or bare; None if there is none to be read."""
        if self.frame is None or self.error:
            return None
        found = self.frame.get("result") if "result" in self.frame else self.frame
        return found if isinstance(found, dict) else None

    @property
    def unknown(self) -> bool:
        """Whether the answer is that there is no such method."""
        return isinstance(self.error, dict) and self.error.get("code") == METHOD_NOT_FOUND

    @property
    def told(self) -> Json:
        """The message that came back, be it the reply or the one inside an error."""
        found = self.error.get("data") if isinstance(self.error, dict) else self.message
        return found if isinstance(found, dict) else {}

    @property
    def refused(self) -> bool:
        """Whether the answer says that something was wrong with the request."""
        if self.answer is None:
            return False
        said = (self.message or {}).get("message_type")
        return bool(self.answer.status > OK or self.error or said in COMPLAINTS)

    def problem(self) -> Complaint:
        """Say why there is nothing to be read in the answer."""
        if self.failure is not None:
            return f"no answer: {self.failure}"
        if self.frame is None:
            status = self.answer.status if self.answer else 0
            return f"HTTP {status} with a body that is not a JSON object"
        return None

    def error_code(self) -> Json:
        """Return the league's code of the refusal (E003), wherever the answer carries it."""
        return self.told.get("error_code")


class Heard(NamedTuple):
    """A message that a stand-in was sent, and when."""

    at: float
    exchange: Exchange

    @property
    def message(self) -> Json:
        return self.exchange.asked

    @property
    def kind(self) -> str:
        return str(self.message.get("message_type")).upper()


def _parsed(raw: bytes) -> Json:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def first_wrong(
    exchanges: Iterable[Exchange], complain: Callable[[Exchange], Complaint]
) -> tuple[Exchange, str] | None:
    """Return the first exchange that *complain* objects to, and what it says."""
    for exchange in exchanges:
        said = complain(exchange)
        if said:
            return exchange, said
    return None
