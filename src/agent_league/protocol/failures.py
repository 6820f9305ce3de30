"""Why a peer gave no answer that we can use.

NoAnswerError
├── LateError           nothing came in time                                    timeout
├── UnreachableError    no connection, or a broken one                           transient
│   └── StatusError     an HTTP status that says the server cannot answer        transient
│       ├── BusyError       a server that gets too many requests                  transient
│       └── CrashedError    a server that failed on this one request              transient
├── NonsenseError       an answer of no use: HTML, a wrong id, a bad field        permanent
│   ├── NoReplyError    an answer without the reply that was asked for            permanent
│   └── PromisedError   an answer that promises the reply for later               permanent
├── ToolsChangedError   tools that differ from those at registration              permanent
└── RefusedError        an error reply, with the peer's own code                 permanent
"""

from enum import Enum
from typing import ClassVar

from agent_league.protocol import ErrorCode, LeagueError, RpcCode
from agent_league.vocabulary import Json


class Failure(Enum):
    """What to do after a failure."""

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


class StatusError(UnreachableError):
    """The HTTP status of the answer says that the server cannot answer, or not now."""


class BusyError(StatusError):
    """The peer gets too many requests."""


class CrashedError(StatusError):
    """The server is there, but failed on this one request."""


class NonsenseError(NoAnswerError):
    """What came is not an answer to the request."""

    def __init__(
        self, detail: str, code: ErrorCode = ErrorCode.INVALID_FIELD_VALUE, **context: Json
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.context = context


class NoReplyError(NonsenseError):
    """The answer has no reply in it; perhaps the peer did not understand the request."""


class PromisedError(NonsenseError):
    """The peer says that its reply comes later, as a request of its own."""


class ToolsChangedError(NoAnswerError):
    """The peer offers other tools than when it registered."""

    code = ErrorCode.NOT_ALLOWED


class RefusedError(NoAnswerError):
    """The peer answered with an error; *data* is the data of that error."""

    def __init__(self, rpc_code: int, detail: str, data: Json = None) -> None:
        super().__init__(f"{rpc_code} {detail}")
        self.rpc_code, self.detail, self.data = rpc_code, detail, data
        code = str(data.get("error_code")) if isinstance(data, dict) else ""
        self.code = ErrorCode(code) if code in set(ErrorCode) else _read_rpc_code(rpc_code)


def _read_rpc_code(rpc_code: int) -> ErrorCode:
    """Return our code for an error without one: a peer that failed refused nothing."""
    failed = rpc_code == RpcCode.INTERNAL_ERROR
    return ErrorCode.CONNECTION_ERROR if failed else ErrorCode.NOT_ALLOWED
