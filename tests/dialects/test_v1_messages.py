"""league.v1 as document 000 has it: its messages, its schema, its names."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from agent_league.dialects.v1.inbound import V1Reader
from agent_league.dialects.v1.messages import BASE, MESSAGES_V1, read_v1, schemas_v1
from agent_league.dialects.v1.names import (
    make_uuid,
    to_v1_endpoint,
    to_v1_player,
    to_v1_sender,
    to_v2_endpoint,
    to_v2_player,
    to_v2_sender,
)
from agent_league.dialects.v1.outbound import OutboundTranslator
from agent_league.protocol import ErrorCode, ProtocolError
from agent_league.protocol.play import GameOver
from dialects.v1_samples import NOW, SEED, translate, written
from golden_files import GOLDEN, Golden

SCHEMAS = {reply: Draft7Validator(schema) for reply, schema in schemas_v1().items()}
WRITTEN = written()
every_message = pytest.mark.parametrize("reply", MESSAGES_V1)


def test_there_are_the_twelve_messages_of_the_document() -> None:
    assert list(MESSAGES_V1) == BASE["properties"]["message_type"]["enum"]
    assert SEED.keys() == MESSAGES_V1.keys()


def test_the_common_schema_is_that_of_the_document() -> None:
    assert json.loads((GOLDEN / "seed_schema_v1.json").read_text("utf-8")) == BASE


@every_message
def test_a_schema_is_itself_valid(reply: str) -> None:
    Draft7Validator.check_schema(schemas_v1()[reply])


@every_message
def test_the_documents_own_example_is_read_and_written_as_it_is(reply: str) -> None:
    SCHEMAS[reply].validate(SEED[reply])
    assert msgspec.to_builtins(read_v1(MESSAGES_V1[reply], SEED[reply])) == SEED[reply]


@every_message
def test_an_example_of_one_message_is_not_another_message(reply: str) -> None:
    assert [one for one in MESSAGES_V1 if SCHEMAS[one].is_valid(SEED[reply])] == [reply]


@every_message
def test_what_we_write_is_as_its_golden_file_says(reply: str, golden: Golden) -> None:
    SCHEMAS["BASE"].validate(WRITTEN[reply])
    SCHEMAS[reply].validate(WRITTEN[reply])
    golden(f"wire/league.v1/{reply}.json", WRITTEN[reply])


@every_message
def test_a_message_without_a_common_field_keeps_neither_schema(reply: str) -> None:
    for field in BASE["required"]:
        spoiled = {key: value for key, value in SEED[reply].items() if key != field}
        assert not SCHEMAS["BASE"].is_valid(spoiled), field
        assert not SCHEMAS[reply].is_valid(spoiled), field
        with pytest.raises(ProtocolError) as caught:
            read_v1(MESSAGES_V1[reply], spoiled)
        assert caught.value.code is ErrorCode.MISSING_REQUIRED_FIELD, field


@given(st.integers(1, 10**6))
def test_a_player_is_the_same_in_both_versions(number: int) -> None:
    ours = f"P{number:02}"
    assert to_v2_player(to_v1_player(ours)) == ours
    assert to_v2_sender(to_v1_sender(f"player:{ours}")) == f"player:{ours}"


@pytest.mark.parametrize(
    ("ours", "theirs"), [("P01", "player_001"), ("P100", "player_100"), ("alpha", "player_alpha")]
)
def test_players_are_called_as_the_document_calls_them(ours: str, theirs: str) -> None:
    assert to_v1_player(ours) == theirs


@pytest.mark.parametrize("stranger", ["player_alpha", "player_0001", "player_01", "alpha"])
def test_a_name_that_is_none_of_ours_stays_as_it_is(stranger: str) -> None:
    assert to_v2_player(stranger) == stranger


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("mcp://localhost:5000/player_alpha", "http://localhost:5000/mcp"),
        ("mcp://192.168.1.100:8080/player_001", "http://192.168.1.100:8080/mcp"),
        ("mcp://agent-server.local:9000/my_agent", "http://agent-server.local:9000/mcp"),
        ("mcp://player-alpha", "http://player-alpha/mcp"),
        ("http://localhost:8101/mcp", "http://localhost:8101/mcp"),
    ],
)
def test_an_mcp_endpoint_can_be_posted_to(reply: str, meant: str) -> None:
    assert to_v2_endpoint(reply) == meant


def test_our_endpoint_is_written_as_the_document_writes_it() -> None:
    assert (
        to_v1_endpoint("http://localhost:8101/mcp", "player_001")
        == "mcp://localhost:8101/player_001"
    )
    assert to_v1_endpoint("https://host/mcp", "player_001") == "https://host/mcp"


@given(st.text(), st.text(max_size=30))
def test_a_thing_has_one_uuid_and_keeps_it(league: str, conversation: str) -> None:
    once = make_uuid(league, conversation)
    assert make_uuid(league, conversation) == once
    assert make_uuid("another", once) == once


def test_a_match_that_nobody_played_has_no_validations() -> None:
    result = {
        "status": "TECHNICAL_LOSS",
        "winner_player_id": "P02",
        "drawn_number": None,
        "number_parity": None,
        "choices": {"P01": None, "P02": None},
        "reason": "P01 declined the invitation - P02 wins by default",
    }
    (reply,) = translate(OutboundTranslator("P01"), "GAME_OVER", game_result=result)
    assert reply["result"]["outcome"] == "FORFEIT"
    assert (reply["result"]["winner"], reply["result"]["loser"]) == ("player_002", "player_001")
    assert reply["result"]["game_summary"]["winner_reason"].startswith("player_001 declined")


def test_a_missed_move_is_invalid_and_the_other_one_is_valid() -> None:
    result = {
        "status": "TECHNICAL_LOSS",
        "winner_player_id": "P02",
        "drawn_number": None,
        "number_parity": None,
        "choices": {"P01": None, "P02": "odd"},
        "reason": "P01 failed to respond within timeout - P02 wins by default",
    }
    *judged, _ = translate(OutboundTranslator("P02"), "GAME_OVER", game_result=result)
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
    (reply,) = translate(OutboundTranslator("P01"), "GAME_ERROR", **about)
    assert reply["validation"]["status"] == "INVALID"
    assert reply["validation"]["error"] == error


@pytest.mark.parametrize("reply", ["LEAGUE_STANDINGS_UPDATE", "LEAGUE_ERROR", "MATCH_TRANSCRIPT"])
def test_what_the_document_has_no_words_for_is_not_said(reply: str) -> None:
    assert translate(OutboundTranslator("P01"), reply) == []


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
    for reply in (flat, listed):
        received = V1Reader().translate(json.dumps(reply).encode(), "P01", NOW)
        assert received is not None
        (over,) = received.messages
        result = over.game_result  # type: ignore[attr-defined]
        assert result.choices == {"P01": "even", "P02": "odd"}
        assert result.winner_player_id == "P01"


@pytest.mark.parametrize(
    ("changes", "code", "detail"),
    [
        ({"player_meta": {}}, "E003", "player_meta.display_name: a required field is missing"),
        ({"sender": "me"}, "E022", 'sender: expected "league_manager", "referee" or "player_..."'),
        ({"league_id": "x"}, "E022", 'league_id: expected a UUID, got "x"'),
        ({"round_id": "1"}, "E022", "round_id: expected"),
    ],
)
def test_what_is_wrong_is_said_in_our_words_not_in_those_of_a_library(
    changes: dict[str, Any], code: str, detail: str
) -> None:
    kind = MESSAGES_V1["LEAGUE_REGISTER_REQUEST"]
    with pytest.raises(ProtocolError) as caught:
        read_v1(kind, {**SEED["LEAGUE_REGISTER_REQUEST"], **changes})
    assert (caught.value.code, caught.value.about) == (code, "LEAGUE_REGISTER_REQUEST")
    assert caught.value.detail.startswith(detail)
    assert "`" not in caught.value.detail


def test_the_reason_of_a_result_names_players_by_our_ids() -> None:
    result = json.loads(json.dumps(SEED["GAME_RESULT"]))
    result["result"]["game_summary"]["winner_reason"] = "player_001 chose even; player_002 odd"
    received = V1Reader().translate(json.dumps(result).encode(), "P01", NOW)
    assert received is not None
    (over,) = received.messages
    assert isinstance(over, GameOver)
    assert over.game_result.reason == "P01 chose even; P02 odd"
