"""One explainer for messages and for files: the field, what was expected, what was found."""

import json
from typing import Any

import msgspec
import pytest

from agent_league.files.config_models import SystemConfig
from agent_league.protocol.explain import Explanation, explain, preview
from agent_league.protocol.queries import QueryAnswer
from agent_league.protocol.rounds import RoundAnnouncement

ENVELOPE = {
    "protocol": "league.v2",
    "sender": "league_manager",
    "timestamp": "2025-01-15T10:30:00Z",
    "conversation_id": "c",
}


def explained(kind: type[Any], body: dict[str, Any]) -> Explanation:
    whole = {"message_type": kind.__struct_config__.tag, **ENVELOPE, **body}
    body = whole if kind.__struct_config__.tag else body
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(json.dumps(body), type=kind)
    return explain(kind, body, str(caught.value))


def test_a_type_is_named_in_words_that_a_reader_of_json_knows() -> None:
    found = explained(QueryAnswer, {"query_type": "GET_STANDINGS", "success": 1})
    assert found[:3] == (("success",), "true or false", "1")


def test_a_word_that_is_not_one_of_a_few_comes_with_those_few() -> None:
    found = explained(QueryAnswer, {"query_type": "GET_FOO", "success": True})
    questions = '"CHECK_REFEREE" or "GET_NEXT_MATCH" or "GET_PLAYER_STATS" or "GET_SCHEDULE" or "GET_STANDINGS"'
    assert found[:3] == (("query_type",), questions, '"GET_FOO"')


def test_a_field_inside_a_list_is_found_by_its_number() -> None:
    body = {"league_id": "l", "round_id": 1, "matches": [{"match_id": ""}]}
    found = explained(RoundAnnouncement, body)
    assert found[:3] == (("matches", "[0]", "match_id"), "text", '""')


def test_a_missing_field_is_missing_and_a_null_one_as_well() -> None:
    assert explained(RoundAnnouncement, {"league_id": "l"}).missing
    found = explained(RoundAnnouncement, {"league_id": None})
    assert (found.path, found.missing, found.got) == (("league_id",), True, "null")


def test_an_unknown_key_comes_with_the_keys_that_are_known() -> None:
    found = explained(SystemConfig, {"timeout": {}})
    assert found.path == ("timeout",)
    assert "timeouts" in found.known_keys


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("é", '"é"'),
        ("\ud800", '"\\ud800"'),
        ([8010, 8001], "[8010, 8001]"),
        ({}, "{}"),
        ({"a": "tok_secret"}, "an object"),
        ([{"a": "tok_secret"}], "a list of 1"),
        (10**40, "1" + "0" * 40),
    ],
)
def test_a_value_is_shown_on_one_line_and_an_object_only_described(value: Any, shown: str) -> None:
    assert preview(value) == shown


def test_a_long_value_is_cut() -> None:
    assert len(preview("x" * 1000)) == 60
