"""Every way a message can be wrong.

LeagueError
├── ProtocolError     a message breaks the protocol; carries the code that its sender is told
└── (transport) NoAnswerError and its kinds, for a peer that does not answer as asked
"""

from enum import StrEnum

from agent_league.vocabulary import Json


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
        """The JSON-RPC code of an error reply that carries this code."""
        return _RPC.get(self, -32000)

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed when it is simply sent again."""
        return self in {ErrorCode.TIMEOUT_ERROR, ErrorCode.CONNECTION_ERROR}


INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601

# League errors have -32000 to -32019 to themselves; MCP reserves what is below.
_RPC = {
    ErrorCode.TIMEOUT_ERROR: -32001,
    ErrorCode.MISSING_REQUIRED_FIELD: INVALID_PARAMS,
    ErrorCode.INVALID_PARITY_CHOICE: INVALID_PARAMS,
    ErrorCode.PLAYER_NOT_REGISTERED: -32005,
    ErrorCode.CONNECTION_ERROR: -32009,
    ErrorCode.AUTH_TOKEN_MISSING: -32011,
    ErrorCode.AUTH_TOKEN_INVALID: -32012,
    ErrorCode.REFEREE_NOT_REGISTERED: -32013,
    ErrorCode.MATCH_ID_MISMATCH: -32015,
    ErrorCode.PROTOCOL_VERSION_MISMATCH: -32018,
    ErrorCode.LATE_REGISTRATION: -32019,
    ErrorCode.INVALID_TIMESTAMP: INVALID_PARAMS,
    ErrorCode.INVALID_FIELD_VALUE: INVALID_PARAMS,
    ErrorCode.UNKNOWN_MESSAGE_TYPE: METHOD_NOT_FOUND,
    ErrorCode.ILLEGAL_MOVE: INVALID_PARAMS,
    ErrorCode.NOT_ALLOWED: -32003,
}


class LeagueError(Exception):
    """Anything this package raises on purpose."""


class ProtocolError(LeagueError):
    """A message breaks the protocol; *code* is what the sender is told, *detail* why.

    *context* is machine-readable (`field`, `expected`) and never holds a secret.
    """

    def __init__(
        self, code: ErrorCode, detail: str, *, about: str = "UNKNOWN", **context: Json
    ) -> None:
        super().__init__(f"{code} {code.name}: {detail}")
        self.code = code
        self.detail = detail
        self.about = about
        self.context = context
