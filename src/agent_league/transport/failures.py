"""Why a peer gave no answer that we can use.

NoAnswerError
├── LateError           nothing came in time                                    timeout
├── UnreachableError    no connection, a broken one, or a server that is down   transient
│   ├── BusyError       a server that does not want to be asked so often          transient
│   └── CrashedError    a server that stumbled over this one request              transient
├── NonsenseError       an answer that is not one: HTML, a wrong id, a bad field  permanent
│   ├── NoReplyError    an answer that says nothing of what was asked             permanent
│   └── PromisedError   an answer that says that the real one comes later         permanent
├── ToolsChangedError   tools that are not what they were at the first look       permanent
└── RefusedError        an error reply, with the peer's own code                 permanent
"""

from enum import Enum
from typing import ClassVar

from agent_league.protocol import ErrorCode, LeagueError
from agent_league.vocabulary import Json


class Failure(Enum):
    """What a failure asks of us."""

    TRANSIENT = "try again"
    TIMEOUT = "try again, perhaps with more patience"
    PERMANENT = "trying again will not help"


class NoAnswerError(LeagueError):
    """The peer did not answer as asked; *code* is what the protocol calls it."""

    failure: ClassVar[Failure] = Failure.PERMANENT
    code: ErrorCode = ErrorCode.CONNECTION_ERROR

    @property
    def retryable(self) -> bool:
        return self.failure is not Failure.PERMANENT


class LateError(NoAnswerError):
    """Nothing came in time."""

    failure = Failure.TIMEOUT
    code = ErrorCode.TIMEOUT_ERROR


class UnreachableError(NoAnswerError):
    """There is no connection, it broke, or the server behind it is down."""

    failure = Failure.TRANSIENT


class BusyError(UnreachableError):
    """The peer does not want to be asked so often."""


class CrashedError(UnreachableError):
    """The server is there, and stumbled over this one request."""


class NonsenseError(NoAnswerError):
    """Something came that is not an answer to what was asked."""

    def __init__(
        self, detail: str, code: ErrorCode = ErrorCode.INVALID_FIELD_VALUE, **context: Json
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.context = context


class NoReplyError(NonsenseError):
    """Something came that says nothing of what was asked: it was perhaps not understood."""


class PromisedError(NonsenseError):
    """The peer says that its answer comes later, as a request of its own."""


class ToolsChangedError(NoAnswerError):
    """The peer offers other tools than it did when it was let in."""

    code = ErrorCode.NOT_ALLOWED


class RefusedError(NoAnswerError):
    """The peer answered with an error; *data* is what it said beside."""

    def __init__(self, rpc_code: int, detail: str, data: Json = None) -> None:
        super().__init__(f"{rpc_code} {detail}")
        self.rpc_code, self.detail, self.data = rpc_code, detail, data
        self.code = _league_code(data)


def _league_code(data: Json) -> ErrorCode:
    said = data.get("error_code") if isinstance(data, dict) else None
    if isinstance(said, str) and said in set(ErrorCode):
        return ErrorCode(said)
    return ErrorCode.NOT_ALLOWED
