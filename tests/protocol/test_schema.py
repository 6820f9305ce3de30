import json

import msgspec
import pytest
from jsonschema import Draft202012Validator

from agent_league.protocol import MESSAGES, Acknowledgement
from agent_league.protocol.contracts import schemas
from agent_league.vocabulary import Json
from golden_files import GOLDEN
from protocol.samples import SAMPLES

SCHEMAS = schemas()

# A pattern knows neither how long February is nor, in Python, that a new line ends no name.
BEYOND_A_SCHEMA = ("no calendar has", "new line", "\\n")


def invalid_examples(reply: str) -> list[Json]:
    path = GOLDEN / "invalid" / f"{reply}.json"
    found: list[Json] = json.loads(path.read_text(encoding="utf-8"))
    return [case for case in found if not any(word in case["why"] for word in BEYOND_A_SCHEMA)]


every_message = pytest.mark.parametrize("reply", sorted(MESSAGES))


def test_every_message_has_a_schema_and_so_does_the_acknowledgement() -> None:
    assert SCHEMAS.keys() == {*MESSAGES, "ACKNOWLEDGEMENT"}


@pytest.mark.parametrize("reply", sorted(SCHEMAS))
def test_a_schema_is_itself_valid_and_stands_alone(reply: str) -> None:
    schema = SCHEMAS[reply]
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == reply
    assert schema["description"]
    assert json.loads(json.dumps(schema)) == schema


@every_message
def test_a_sample_is_valid(reply: str) -> None:
    Draft202012Validator(SCHEMAS[reply]).validate(msgspec.to_builtins(SAMPLES[reply]))


@every_message
def test_a_sample_of_one_message_is_not_another_message(reply: str) -> None:
    body = msgspec.to_builtins(SAMPLES[reply])
    accepted = [name for name in MESSAGES if Draft202012Validator(SCHEMAS[name]).is_valid(body)]
    assert accepted == [reply]


@every_message
def test_what_the_reader_refuses_the_schema_refuses(reply: str) -> None:
    validator = Draft202012Validator(SCHEMAS[reply])
    passed = [case["why"] for case in invalid_examples(reply) if validator.is_valid(case["body"])]
    assert passed == []


def test_an_acknowledgement_is_valid() -> None:
    validator = Draft202012Validator(SCHEMAS["ACKNOWLEDGEMENT"])
    for sent in (Acknowledgement(), Acknowledgement(match_id="R1M1", note="taken")):
        validator.validate(msgspec.to_builtins(sent))
