"""Every way a message can be wrong.

LeagueError
├── ProtocolError     a message breaks the protocol; carries the code that its sender is told
└── NoAnswerError     a peer gives no answer that can be used: see failures.py
"""

from enum import IntEnum, StrEnum

from agent_league.vocabulary import Json


class RpcCode(IntEnum):
    """The codes that JSON-RPC itself defines."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603


class ErrorCode(StrEnum):
    """The codes of the protocol, each with the name that goes beside it on the wire."""

    TIMEOUT_ERROR = "E001"
    MISSING_REQUIRED_FIELD = "E003"
    INVALID_PARITY_CHOICE = "E004"
    PLAYER_NOT_REGISTERED = "E005"
    CONNECTION_ERROR = "E009"
    AUTH_TOKEN_MISSING = "E011"
    AUTH_TOKEN_INVALID = "E012"
    REFEREE_NOT_REGISTERED = "E013"
    MATCH_ID_MISMATCH = "E015"
    PROTOCOL_VERSION_MISMATCH = "E018"
    LATE_REGISTRATION = "E019"
    INVALID_TIMESTAMP = "E021"
    INVALID_FIELD_VALUE = "E022"
    UNKNOWN_MESSAGE_TYPE = "E023"
    ILLEGAL_MOVE = "E024"
    NOT_ALLOWED = "E025"
    MESSAGE_TOO_LARGE = "E026"
    TOO_MANY_REQUESTS = "E027"

    @property
    def rpc(self) -> int:
        """The JSON-RPC code of an error reply that carries this code; that of E001 is -32001."""
        return _RPC.get(self, -32000 - int(self[1:]))

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed when it is simply sent again."""
        return self in {ErrorCode.TIMEOUT_ERROR, ErrorCode.CONNECTION_ERROR}


# The league's errors have -32000 to -32019 to themselves; MCP reserves what is below.
_RPC = {
    ErrorCode.MISSING_REQUIRED_FIELD: RpcCode.INVALID_PARAMS,
    ErrorCode.INVALID_PARITY_CHOICE: RpcCode.INVALID_PARAMS,
    ErrorCode.INVALID_TIMESTAMP: RpcCode.INVALID_PARAMS,
    ErrorCode.INVALID_FIELD_VALUE: RpcCode.INVALID_PARAMS,
    ErrorCode.UNKNOWN_MESSAGE_TYPE: RpcCode.METHOD_NOT_FOUND,
    ErrorCode.ILLEGAL_MOVE: RpcCode.INVALID_PARAMS,
    ErrorCode.NOT_ALLOWED: -32003,
    ErrorCode.MESSAGE_TOO_LARGE: -32000,
    ErrorCode.TOO_MANY_REQUESTS: -32000,
}


class LeagueError(Exception):
    """Anything this package raises on purpose."""


class ProtocolError(LeagueError):
    """A message breaks the protocol; *code* is what the sender is told, *detail* why.

    *context* is machine-readable (`field`, `expected`) and never holds a secret.
    """

    conversation_id: str | None = None
    """The conversation of the message, if that could be read."""

    def __init__(
        self, code: ErrorCode, detail: str, *, about: str = "UNKNOWN", **context: Json
    ) -> None:
        super().__init__(f"{code} {code.name}: {detail}")
        self.code = code
        self.detail = detail
        self.about = about
        self.context = context
