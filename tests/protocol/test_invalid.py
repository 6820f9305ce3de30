"""What is wrong is refused with the right code, and with nothing but a `ProtocolError`."""

import copy
import json
from collections.abc import Iterator
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_league.protocol import MESSAGES, ErrorCode, Message, ProtocolError, read, read_as
from agent_league.vocabulary import Json
from golden_files import GOLDEN
from protocol.samples import SAMPLES

BODIES = {name: msgspec.to_builtins(sample) for name, sample in SAMPLES.items()}
CASES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((GOLDEN / "invalid").glob("*.json"))
}

Path = tuple[str | int, ...]


def places(value: Json, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value inside *value*."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from places(inner, (*path, key))


def changed(body: Json, path: Path, value: Json) -> Json:
    made = copy.deepcopy(body)
    here = made
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return made


def refusal(raw: bytes) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        read(raw)
    return caught.value


def everything_shown(error: ProtocolError) -> str:
    cause = f"{error.__cause__} {error.__context__ if not error.__suppress_context__ else ''}"
    return f"{error} {error.detail} {error.about} {error.context} {cause}"


def test_every_message_has_invalid_examples_of_every_kind() -> None:
    assert CASES.keys() == MESSAGES.keys()
    for found in CASES.values():
        codes = {case["code"] for case in found}
        assert {"E003", "E018", "E021", "E022", "E023"} <= codes


def named_cases() -> Iterator[tuple[str, Json]]:
    for message_type, found in CASES.items():
        for case in found:
            yield f"{message_type}: {case['why']}", case


def test_an_invalid_message_is_refused_with_the_code_and_the_field() -> None:
    wrong = []
    for name, case in named_cases():
        error = refusal(json.dumps(case["body"]).encode())
        if (error.code, error.context["field"]) != (case["code"], case["field"]):
            wrong.append(f"{name}: {error.code} at {error.context['field']}")
        elif case["field"].rpartition(".")[2] not in error.detail:
            wrong.append(f"{name}: the field is not in {error.detail!r}")
    assert wrong == []


def test_a_parsed_message_is_refused_in_the_same_way() -> None:
    wrong = []
    for name, case in named_cases():
        if case["field"] == "message_type":
            continue  # who reads a message as a kind has already looked at its type
        with pytest.raises(ProtocolError) as caught:
            read_as(MESSAGES[case["body"]["message_type"]], case["body"])
        error = caught.value
        if (error.code, error.context["field"]) != (case["code"], case["field"]):
            wrong.append(f"{name}: {error.code} at {error.context['field']}")
    assert wrong == []


def test_a_body_that_does_not_name_its_type_is_read_as_what_the_method_meant() -> None:
    body = {key: value for key, value in BODIES["GAME_OVER"].items() if key != "message_type"}
    with pytest.raises(ProtocolError) as caught:
        read(json.dumps(body).encode(), expected=MESSAGES["GAME_OVER"])
    assert caught.value.code is ErrorCode.MISSING_REQUIRED_FIELD
    assert caught.value.about == "GAME_OVER"
    assert caught.value.context["field"] == "message_type"


DEFECTS: list[Json] = [
    {"auth_token": "tok_secret", "timestamp": "yesterday"},
    {"auth_token": "tok_secret", "sender": 5},
    {"auth_token": "tok_secret", "protocol": None},
    {"auth_token": ["tok_secret"]},
    {"auth_token": {"tok_secret": "tok_secret"}},
    {"auth_token": [[["tok_secret"]]]},
    # A sender that nests its envelope puts its token where something else belongs.
    {"conversation_id": {"auth_token": "tok_secret"}},
    {"conversation_id": {"ticket": "tok_secret"}},
]


@pytest.mark.parametrize("defect", DEFECTS, ids=json.dumps)
def test_an_error_does_not_echo_the_token(defect: Json) -> None:
    errors = {
        message_type: refusal(json.dumps({**body, **defect}).encode())
        for message_type, body in BODIES.items()
    }
    assert [name for name, error in errors.items() if "tok_secret" in everything_shown(error)] == []
    if not isinstance(defect.get("auth_token", ""), str):
        assert {error.context["field"] for error in errors.values()} == {"auth_token"}


def test_an_error_does_not_echo_the_ticket_of_a_contestant() -> None:
    body = {**BODIES["START_MATCH"], "players": {"ticket": "tok_secret"}}
    assert "tok_secret" not in everything_shown(refusal(json.dumps(body).encode()))
    body = changed(BODIES["START_MATCH"], ("players", 0, "ticket"), ["tok_secret"])
    assert "tok_secret" not in everything_shown(refusal(json.dumps(body).encode()))


def test_an_error_about_a_value_in_a_map_names_the_map_and_shows_the_value() -> None:
    body = changed(BODIES["MATCH_RESULT_REPORT"], ("result", "score", "P01"), "three")
    error = refusal(json.dumps(body).encode())
    assert not str(error.context["field"]).endswith(".")
    assert "got null" not in error.detail


def test_an_error_shows_no_more_than_a_line_of_what_was_sent() -> None:
    error = refusal(json.dumps({**BODIES["GAME_OVER"], "match_id": ["x" * 9000]}).encode())
    assert len(error.detail) < 200


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**31, 2**80)
    | st.floats()
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
spots = st.sampled_from([(name, path) for name, body in BODIES.items() for path in places(body)])


@settings(max_examples=200)
@given(spot=spots, value=json_values)
def test_any_value_in_any_field_is_read_or_refused(spot: tuple[str, Path], value: Json) -> None:
    name, path = spot
    raw = json.dumps(changed(BODIES[name], path, value)).encode()
    message: Message | None = None
    with suppress(ProtocolError):
        message = read(raw)
    if message is not None:
        assert read(msgspec.json.encode(message)) == message


@settings(max_examples=200)
@given(raw=st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    refusal(raw)


@settings(max_examples=200)
@given(name=st.sampled_from(sorted(BODIES)), at=st.integers(0, 10_000), junk=st.binary(max_size=4))
def test_a_message_damaged_on_its_way_is_read_or_refused(name: str, at: int, junk: bytes) -> None:
    whole = json.dumps(BODIES[name]).encode()
    cut = at % len(whole)
    with suppress(ProtocolError):
        read(whole[:cut] + junk + whole[cut + len(junk) :])


HOSTILE = {
    "nothing": b"",
    "deep nesting": b"[" * 100_000,
    "deep nesting that closes": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "not a number": b"NaN",
    "infinity": b"-Infinity",
    "an integer of 5000 digits": b"9" * 5000,
    "a float out of range": b"1e400",
    "a lone surrogate": b'"\\ud800"',
    "a lone low surrogate": b'"\\udc00 and more"',
    "a surrogate in UTF-8": b'"\xed\xa0\x80"',
    "no UTF-8": b'"\xff\xfe"',
    "UTF-16": '"even"'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf"even"',
    "a string without end": b'"even',
    "a control character": b'"\x00"',
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bytes_are_refused(raw: bytes) -> None:
    assert refusal(raw).detail
    for field in (b"protocol", b"round_id", b"match_id", b"game_result", b"unknown"):
        for earlier_defect in (b"", b'"sender":5,'):
            body = b'{"message_type":"GAME_OVER",%b"%b":%b}' % (earlier_defect, field, raw)
            assert refusal(body).detail, body[:80]


@pytest.mark.parametrize(
    "text", ["Ωmega", "\u202eevil", "\x00", "\U0001d570ven", "e\u0301ven", "\uff45ven"]
)
def test_unicode_that_looks_like_a_choice_is_no_choice(text: str) -> None:
    body = {**BODIES["CHOOSE_PARITY_RESPONSE"], "parity_choice": text}
    assert refusal(json.dumps(body).encode()).code is ErrorCode.INVALID_PARITY_CHOICE


@pytest.mark.parametrize("field", ["timestamp", "arrival_timestamp"])
def test_digits_of_other_scripts_are_no_time(field: str) -> None:
    body = {**BODIES["GAME_JOIN_ACK"], field: "٢٠٢٥-01-15T10:30:00Z"}
    assert refusal(json.dumps(body).encode()).code is ErrorCode.INVALID_TIMESTAMP


def test_a_type_given_twice_is_refused() -> None:
    error = refusal(b'{"message_type":"GAME_OVER","message_type":"GAME_JOIN_ACK","protocol":5}')
    assert error.context["field"] == "message_type"
