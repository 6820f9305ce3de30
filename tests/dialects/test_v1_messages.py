"""league.v1 as document 000 has it: its messages, its schema, its names."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from agent_league.dialects.v1_inbound import Inbound
from agent_league.dialects.v1_messages import MESSAGES_V1, builtins, read_v1
from agent_league.dialects.v1_names import (
    endpoint_v1,
    endpoint_v2,
    player_v1,
    player_v2,
    sender_v1,
    sender_v2,
    uuid_of,
)
from agent_league.dialects.v1_outbound import Outbound
from agent_league.dialects.v1_schema import BASE, schemas_v1
from agent_league.protocol import ErrorCode, ProtocolError
from dialects.v1_samples import NOW, SEED, told, written
from golden_files import GOLDEN, Golden

SCHEMAS = {said: Draft7Validator(schema) for said, schema in schemas_v1().items()}
WRITTEN = written()
every_message = pytest.mark.parametrize("said", MESSAGES_V1)


def test_there_are_the_twelve_messages_of_the_document() -> None:
    assert list(MESSAGES_V1) == BASE["properties"]["message_type"]["enum"]
    assert SEED.keys() == MESSAGES_V1.keys()


def test_the_common_schema_is_that_of_the_document() -> None:
    assert json.loads((GOLDEN / "seed_schema_v1.json").read_text("utf-8")) == BASE


@every_message
def test_a_schema_is_itself_valid(said: str) -> None:
    Draft7Validator.check_schema(schemas_v1()[said])


@every_message
def test_the_documents_own_example_is_read_and_written_as_it_is(said: str) -> None:
    SCHEMAS[said].validate(SEED[said])
    assert builtins(read_v1(MESSAGES_V1[said], SEED[said])) == SEED[said]


@every_message
def test_an_example_of_one_message_is_not_another_message(said: str) -> None:
    assert [one for one in MESSAGES_V1 if SCHEMAS[one].is_valid(SEED[said])] == [said]


@every_message
def test_what_we_write_is_as_its_golden_file_says(said: str, golden: Golden) -> None:
    SCHEMAS["BASE"].validate(WRITTEN[said])
    SCHEMAS[said].validate(WRITTEN[said])
    golden(f"wire/league.v1/{said}.json", WRITTEN[said])


@every_message
@pytest.mark.parametrize("field", BASE["required"])
def test_a_message_without_a_common_field_keeps_neither_schema(said: str, field: str) -> None:
    spoiled = {key: value for key, value in SEED[said].items() if key != field}
    assert not SCHEMAS["BASE"].is_valid(spoiled)
    assert not SCHEMAS[said].is_valid(spoiled)
    with pytest.raises(ProtocolError) as caught:
        read_v1(MESSAGES_V1[said], spoiled)
    assert caught.value.code is ErrorCode.MISSING_REQUIRED_FIELD


@given(st.integers(1, 10**6))
def test_a_player_is_the_same_in_both_versions(number: int) -> None:
    ours = f"P{number:02}"
    assert player_v2(player_v1(ours)) == ours
    assert sender_v2(sender_v1(f"player:{ours}")) == f"player:{ours}"


@pytest.mark.parametrize(
    ("ours", "theirs"), [("P01", "player_001"), ("P100", "player_100"), ("alpha", "player_alpha")]
)
def test_players_are_called_as_the_document_calls_them(ours: str, theirs: str) -> None:
    assert player_v1(ours) == theirs


@pytest.mark.parametrize("stranger", ["player_alpha", "player_0001", "player_01", "alpha"])
def test_a_name_that_is_none_of_ours_stays_as_it_is(stranger: str) -> None:
    assert player_v2(stranger) == stranger


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("mcp://localhost:5000/player_alpha", "http://localhost:5000/mcp"),
        ("mcp://192.168.1.100:8080/player_001", "http://192.168.1.100:8080/mcp"),
        ("mcp://agent-server.local:9000/my_agent", "http://agent-server.local:9000/mcp"),
        ("mcp://player-alpha", "http://player-alpha/mcp"),
        ("http://localhost:8101/mcp", "http://localhost:8101/mcp"),
    ],
)
def test_an_mcp_endpoint_can_be_posted_to(said: str, meant: str) -> None:
    assert endpoint_v2(said) == meant


def test_our_endpoint_is_written_as_the_document_writes_it() -> None:
    assert (
        endpoint_v1("http://localhost:8101/mcp", "player_001") == "mcp://localhost:8101/player_001"
    )
    assert endpoint_v1("https://host/mcp", "player_001") == "https://host/mcp"


@given(st.text(), st.text(max_size=30))
def test_a_thing_has_one_uuid_and_keeps_it(league: str, conversation: str) -> None:
    once = uuid_of(league, conversation)
    assert uuid_of(league, conversation) == once
    assert uuid_of("another", once) == once


def test_a_match_that_nobody_played_has_no_validations() -> None:
    result = {
        "status": "TECHNICAL_LOSS",
        "winner_player_id": "P02",
        "drawn_number": None,
        "number_parity": None,
        "choices": {"P01": None, "P02": None},
        "reason": "P01 declined the invitation - P02 wins by default",
    }
    (said,) = told(Outbound("P01"), "GAME_OVER", game_result=result)
    assert said["result"]["outcome"] == "FORFEIT"
    assert (said["result"]["winner"], said["result"]["loser"]) == ("player_002", "player_001")
    assert said["result"]["game_summary"]["winner_reason"].startswith("player_001 declined")


def test_a_missed_move_is_invalid_and_the_other_one_is_valid() -> None:
    result = {
        "status": "TECHNICAL_LOSS",
        "winner_player_id": "P02",
        "drawn_number": None,
        "number_parity": None,
        "choices": {"P01": None, "P02": "odd"},
        "reason": "P01 failed to respond within timeout - P02 wins by default",
    }
    *judged, _ = told(Outbound("P02"), "GAME_OVER", game_result=result)
    found = [(one["validation"]["status"], one["validation"]["error"]) for one in judged]
    assert found == [("INVALID", "Timeout exceeded"), ("VALID", None)]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("E001", "Timeout exceeded"),
        ("E004", "Choice not in allowed values"),
        ("E022", "Invalid choice format"),
        ("E015", "Malformed JSON"),
    ],
)
def test_a_complaint_about_a_move_is_an_invalid_play(code: str, error: str) -> None:
    about = {"action_required": "CHOOSE_PARITY_RESPONSE", "error_code": code}
    (said,) = told(Outbound("P01"), "GAME_ERROR", **about)
    assert said["validation"]["status"] == "INVALID"
    assert said["validation"]["error"] == error


@pytest.mark.parametrize("said", ["LEAGUE_STANDINGS_UPDATE", "LEAGUE_ERROR", "MATCH_TRANSCRIPT"])
def test_what_the_document_has_no_words_for_is_not_said(said: str) -> None:
    assert told(Outbound("P01"), said) == []


def test_a_result_is_understood_from_either_place_in_which_the_document_has_the_choices() -> None:
    flat = SEED["GAME_RESULT"]
    listed: Any = json.loads(json.dumps(flat))
    listed["result"]["game_summary"] = {
        "moves": [
            {
                "turn": 1,
                "player_001": "even",
                "player_002": "odd",
                "number": 42,
                "winner": "player_001",
            }
        ]
    }
    for said in (flat, listed):
        heard = Inbound().heard(json.dumps(said).encode(), "P01", NOW)
        assert heard is not None
        (over,) = heard.messages
        result = over.game_result  # type: ignore[attr-defined]
        assert result.choices == {"P01": "even", "P02": "odd"}
        assert result.winner_player_id == "P01"
