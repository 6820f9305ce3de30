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
├── NoPathError         a server that has nothing at this path                     permanent
└── RefusedError        an error reply, with the peer's own code                 permanent
    └── FailedError     an error reply of a server that failed on this request    transient
"""

import re
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
    """The peer says that its reply comes as a request of its own, or, if *is_sent*, has come."""

    def __init__(self, detail: str, *, is_sent: bool = False) -> None:
        super().__init__(detail)
        self.is_sent = is_sent


class ToolsChangedError(NoAnswerError):
    """The peer offers other tools than when it registered."""

    code = ErrorCode.NOT_ALLOWED


class NoPathError(NoAnswerError):
    """A server is there, but nothing serves this path."""


_UNKNOWN = re.compile(
    r"(unknown|unsupported|unrecogni[sz]ed|no such) (method|message|tool|type|action)"
    r"|\b(method|tool|message|type|action)\b.{0,60}"
    r"(unknown|unsupported|not (found|supported|recogni[sz]ed|implemented|known))",
    re.IGNORECASE,
)
_REGISTERED = re.compile(
    r"already (registered|exists|joined|a member)|duplicate registration|HTTP 409", re.IGNORECASE
)
_WANTS_TOKEN = re.compile(
    r"(auth\w*[ _-]?token|token|authentication)\b.{0,30}(missing|required|needed|invalid)"
    r"|(missing|no|invalid|empty) (auth\w*[ _-]?)?token|unauthori[sz]ed|HTTP 401",
    re.IGNORECASE,
)
ERROR_MESSAGES = frozenset({"LEAGUE_ERROR", "GAME_ERROR"})
"""The message types of errors."""
_ABOUT_TOKENS = {ErrorCode.AUTH_TOKEN_MISSING, ErrorCode.AUTH_TOKEN_INVALID}


class RefusedError(NoAnswerError):
    """The peer answered with an error; *data* is the data of that error."""

    def __init__(self, rpc_code: int, detail: str, data: Json = None) -> None:
        super().__init__(f"{rpc_code} {detail}")
        self.rpc_code, self.detail, self.data = rpc_code, detail, data
        self.code = read_error_code(data, rpc_code) or _read_rpc_code(rpc_code)

    @property
    def says_unknown(self) -> bool:
        """Whether the peer does not know the method, the tool or the type of the message."""
        return self.rpc_code == RpcCode.METHOD_NOT_FOUND or bool(_UNKNOWN.search(self.detail))

    @property
    def wants_token(self) -> bool:
        """Whether the peer asks for a token, or for another one."""
        return self.code in _ABOUT_TOKENS or bool(_WANTS_TOKEN.search(self.detail))


def says_registered(text: str) -> bool:
    """Whether a league refuses a registration because it has the agent already."""
    return bool(_REGISTERED.search(text))


class FailedError(RefusedError):
    """The server failed on this one request, and the peer answered so, with HTTP 500 and a reason."""

    failure = Failure.TRANSIENT


def read_error_code(data: Json, rpc_code: int | None = None) -> ErrorCode | None:
    """Return the code of the error that *data* tells about; None if it is not one of ours.

    Third parties use the same numbers for errors of their own, so our name, or our number in the
    frame, must come with it.
    """
    code = data.get("error_code") if isinstance(data, dict) else None
    if not isinstance(code, str) or code not in set(ErrorCode):
        return None
    names = [data.get(key) for key in ("error_name", "error_description")]
    is_message = data.get("message_type") in ERROR_MESSAGES and names == [None, None]
    found = ErrorCode(code)
    is_ours = found.name in names or (found.rpc == rpc_code and rpc_code not in set(RpcCode))
    return found if is_message or is_ours else None


def _read_rpc_code(rpc_code: int) -> ErrorCode:
    """Return our code for an error without one: a peer that failed refused nothing."""
    failed = rpc_code == RpcCode.INTERNAL_ERROR
    return ErrorCode.CONNECTION_ERROR if failed else ErrorCode.NOT_ALLOWED


_SERVER_ERROR = -32000
_FORM_RPC_CODES = {*RpcCode, _SERVER_ERROR} - {RpcCode.METHOD_NOT_FOUND}
_FORM_ERROR_CODES = {
    ErrorCode.NOT_ALLOWED,  # also stands for every code that is not ours
    ErrorCode.CONNECTION_ERROR,  # the peer failed, perhaps because of the form
    ErrorCode.MISSING_REQUIRED_FIELD,
    ErrorCode.INVALID_TIMESTAMP,
    ErrorCode.INVALID_FIELD_VALUE,
}


def is_unknown(error: NoAnswerError) -> bool:
    """Whether a peer says that it does not know what is called."""
    return isinstance(error, RefusedError) and error.says_unknown


def is_unread(error: NoAnswerError) -> bool:
    """Whether a peer refuses the form of a message, not its content, or fails on it."""
    return (
        isinstance(error, RefusedError)
        and error.rpc_code in _FORM_RPC_CODES
        and error.code in _FORM_ERROR_CODES
        and not says_registered(error.detail)
        and not error.wants_token
    )


def is_final(error: NoAnswerError) -> bool:
    """Whether no other form will help: the peer has read this one, or is not there."""
    if isinstance(error, RefusedError):
        return not is_unknown(error) and not is_unread(error)
    if isinstance(error, CrashedError):
        return False
    return isinstance(error, (LateError, UnreachableError, NoPathError, PromisedError))
