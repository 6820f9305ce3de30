import pytest

from agent_league.protocol import ErrorCode, LeagueError, ProtocolError

CODES = {
    "E001": "TIMEOUT_ERROR",
    "E003": "MISSING_REQUIRED_FIELD",
    "E004": "INVALID_PARITY_CHOICE",
    "E005": "PLAYER_NOT_REGISTERED",
    "E009": "CONNECTION_ERROR",
    "E011": "AUTH_TOKEN_MISSING",
    "E012": "AUTH_TOKEN_INVALID",
    "E013": "REFEREE_NOT_REGISTERED",
    "E015": "MATCH_ID_MISMATCH",
    "E018": "PROTOCOL_VERSION_MISMATCH",
    "E019": "LATE_REGISTRATION",
    "E021": "INVALID_TIMESTAMP",
    "E022": "INVALID_FIELD_VALUE",
    "E023": "UNKNOWN_MESSAGE_TYPE",
    "E024": "ILLEGAL_MOVE",
    "E025": "NOT_ALLOWED",
    "E026": "MESSAGE_TOO_LARGE",
    "E027": "TOO_MANY_REQUESTS",
}
JSON_RPC = {-32700, -32600, -32601, -32602, -32603}


def test_the_codes_are_those_of_the_documents_with_their_names() -> None:
    assert {code.value: code.name for code in ErrorCode} == CODES


@pytest.mark.parametrize("code", ErrorCode)
def test_a_code_travels_as_json_rpc_or_as_a_league_error(code: ErrorCode) -> None:
    assert code.rpc in JSON_RPC or -32019 <= code.rpc <= -32000


@pytest.mark.parametrize("code", ErrorCode)
def test_only_timeouts_and_lost_connections_are_worth_a_retry(code: ErrorCode) -> None:
    assert code.retryable == (code in {"E001", "E009"})


def test_an_error_carries_its_code_its_sentence_and_its_context() -> None:
    error = ProtocolError(
        ErrorCode.INVALID_FIELD_VALUE, "round_id: expected 1", about="GAME_OVER", field="round_id"
    )
    assert isinstance(error, LeagueError)
    assert str(error) == "E022 INVALID_FIELD_VALUE: round_id: expected 1"
    assert (error.about, error.context) == ("GAME_OVER", {"field": "round_id"})
