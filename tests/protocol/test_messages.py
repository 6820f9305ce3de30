import json
from typing import get_args

import msgspec
import pytest

from agent_league.protocol import MESSAGES, TOOLS, Request, name, read, read_as
from agent_league.protocol.fields import KNOWN_SENDERS, MOST_KNOWN, is_sender
from agent_league.vocabulary import Json
from golden_files import GOLDEN, Golden
from protocol.samples import QUERY_TYPES, SAMPLES, SENDERS, UNSAMPLED, stamp

EXAMPLES = json.loads((GOLDEN / "seed_examples.json").read_text(encoding="utf-8"))

TOOL_NAMES = {
    "REFEREE_REGISTER_REQUEST": "register_referee",
    "LEAGUE_REGISTER_REQUEST": "register_player",
    "ROUND_ANNOUNCEMENT": "notify_round",
    "ROUND_COMPLETED": "notify_round_completed",
    "LEAGUE_STANDINGS_UPDATE": "update_standings",
    "LEAGUE_COMPLETED": "notify_league_completed",
    "GAME_INVITATION": "handle_game_invitation",
    "CHOOSE_PARITY_CALL": "choose_parity",
    "GAME_OVER": "notify_match_result",
    "GAME_ERROR": "notify_game_error",
    "MATCH_RESULT_REPORT": "report_match_result",
    "LEAGUE_QUERY": "league_query",
    "LEAGUE_ERROR": "notify_league_error",
    "START_MATCH": "start_match",
    "GAME_MOVE_CALL": "choose_move",
    "MATCH_TRANSCRIPT": "report_transcript",
}

every_message = pytest.mark.parametrize("reply", sorted(MESSAGES))


def with_envelope(example: Json) -> bytes:
    """Add what the documents leave out of their examples "to reduce verbosity"."""
    sender = MESSAGES[example["message_type"]].route.sender[0]
    return json.dumps({**stamp(sender), **example}).encode()


def test_every_message_has_a_sample() -> None:
    assert not UNSAMPLED


@every_message
def test_a_message_is_written_as_its_golden_file_says(reply: str, golden: Golden) -> None:
    golden(f"wire/league.v2/{reply}.json", msgspec.to_builtins(SAMPLES[reply]))


@every_message
def test_a_golden_file_reads_as_the_message_it_was_written_from(reply: str) -> None:
    raw = (GOLDEN / "wire" / "league.v2" / f"{reply}.json").read_bytes()
    assert read(raw) == SAMPLES[reply]
    assert read_as(MESSAGES[reply], json.loads(raw)) == SAMPLES[reply]


@every_message
def test_what_is_written_reads_back_equal(reply: str) -> None:
    assert read(msgspec.json.encode(SAMPLES[reply])) == SAMPLES[reply]


@every_message
def test_a_message_is_sent_by_the_role_that_its_sample_names(reply: str) -> None:
    sender = SAMPLES[reply].sender
    assert sender in {SENDERS[role] for role in MESSAGES[reply].route.sender}


@pytest.mark.parametrize("document", EXAMPLES)
def test_the_documents_own_examples_are_accepted(document: str) -> None:
    for section, example in EXAMPLES[document].items():
        message = read(with_envelope(example))
        assert name(type(message)) == example["message_type"], section
        fields = msgspec.to_builtins(message)
        assert {key: fields.get(key) for key in example} == example, section


def test_fields_that_nobody_knows_are_ignored() -> None:
    body = msgspec.to_builtins(SAMPLES["GAME_JOIN_ACK"])
    stranger = {**body, "mood": "curious", "more": [{"deep": None}]}
    assert read(json.dumps(stranger).encode()) == SAMPLES["GAME_JOIN_ACK"]


@pytest.mark.parametrize("query_type", QUERY_TYPES)
def test_every_kind_of_query_can_be_asked(query_type: str) -> None:
    body = msgspec.to_builtins(SAMPLES["LEAGUE_QUERY"])
    asked = read(json.dumps({**body, "query_type": query_type}).encode())
    assert msgspec.to_builtins(asked)["query_type"] == query_type


@pytest.mark.parametrize(
    "timestamp",
    [
        "2025-01-15T10:30:00Z",
        "2025-01-15T10:30:00+00:00",
        "2025-01-15T10:30:00.5Z",
        "2025-01-15T10:30:00.123456+00:00",
        "20250115T10:30:00Z",
        "2024-02-29T23:59:59Z",
    ],
)
def test_every_spelling_of_utc_is_accepted(timestamp: str) -> None:
    body = msgspec.to_builtins(SAMPLES["GAME_JOIN_ACK"])
    notices = {**body, "timestamp": timestamp, "arrival_timestamp": timestamp}
    assert read(json.dumps(notices).encode()).timestamp == timestamp


@pytest.mark.parametrize(
    "sender", ["player:P01", "player:alpha", "referee:REF01", "league_manager", "league_manager:x"]
)
def test_every_kind_of_sender_is_accepted(sender: str) -> None:
    body = msgspec.to_builtins(SAMPLES["GAME_JOIN_ACK"])
    assert read(json.dumps({**body, "sender": sender}).encode()).sender == sender


@pytest.mark.parametrize(
    "display_name", ["A", "a" * 50, "  Agent Alpha  ", "סוכן אלפא", "Ægent 🏆", "a b", "[/]"]
)
def test_every_visible_name_is_accepted(display_name: str) -> None:
    body = msgspec.to_builtins(SAMPLES["LEAGUE_REGISTER_REQUEST"])
    body["player_meta"]["display_name"] = display_name
    notices = msgspec.to_builtins(read(json.dumps(body).encode()))
    assert notices["player_meta"]["display_name"] == display_name


def test_tools_are_named_as_the_documents_name_them() -> None:
    assert {name(kind): tool for tool, kind in TOOLS.items()} == TOOL_NAMES


@every_message
def test_a_request_declares_the_reply_that_its_type_promises(reply: str) -> None:
    kind = MESSAGES[reply]
    if not issubclass(kind, Request):
        return
    promised = [
        argument
        for base in getattr(kind, "__orig_bases__", ())
        for argument in get_args(base)
        if isinstance(argument, type)
    ]
    assert promised == [kind.reply]
    assert kind.reply.route.receiver == kind.route.sender or reply == "LEAGUE_QUERY"
    assert not kind.reply.route.tool


def test_eighteen_messages_of_the_document_and_five_of_ours() -> None:
    moves = {"GAME_MOVE_CALL", "GAME_MOVE_RESPONSE"}
    ours = {"START_MATCH", "START_MATCH_RESPONSE", "MATCH_TRANSCRIPT", *moves}
    assert ours <= MESSAGES.keys()
    assert len(MESSAGES.keys() - ours) == 18


def test_what_strangers_call_themselves_does_not_fill_the_memory() -> None:
    assert all(is_sender(f"player:{number}") for number in range(2 * MOST_KNOWN))
    assert len(KNOWN_SENDERS) <= MOST_KNOWN
    assert not is_sender("nobody")
    assert "nobody" not in KNOWN_SENDERS
