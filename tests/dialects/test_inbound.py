"""From what a third-party agent sent to the message that it meant."""

import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.dialects.v2 import replies
from agent_league.dialects.v2.completion import Situation
from agent_league.dialects.v2.inbound import find_frame_deviations, interpret
from agent_league.protocol import MESSAGES, ProtocolError, Request, name
from agent_league.protocol.jsonrpc import read_call
from agent_league.protocol.play import StartMatch
from agent_league.protocol.reading import read_message_call
from agent_league.vocabulary import Json
from protocol.samples import SAMPLES

NOW = "2025-01-15T10:30:00Z"
HERE = Situation(NOW)
REGISTER = msgspec.to_builtins(SAMPLES["LEAGUE_REGISTER_REQUEST"])
REFEREE = msgspec.to_builtins(SAMPLES["REFEREE_REGISTER_REQUEST"])
ACK = msgspec.to_builtins(SAMPLES["GAME_JOIN_ACK"])
CHOICE = msgspec.to_builtins(SAMPLES["CHOOSE_PARITY_RESPONSE"])
QUERY = msgspec.to_builtins(SAMPLES["LEAGUE_QUERY"])


def framed(params: Json, method: str = "any", **frame: Json) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "method": method, "params": params, "id": 1} | frame
    ).encode()


def without(message: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in keys}


MEANT: list[tuple[str, dict[str, Any], dict[str, Any], set[str]]] = [
    ("nested", {"payload": REGISTER}, {}, {"message-nested"}),
    (
        "small letters",
        REGISTER | {"message_type": "league_register_request"},
        {},
        {"message-type-case"},
    ),
    ("plural", REGISTER | {"sender": "players:P01"}, {"sender": "player:P01"}, {"sender-form"}),
    ("no role", REGISTER | {"sender": "P01"}, {"sender": "player:P01"}, {"sender-form"}),
    ("no sender", without(REGISTER, "sender"), {}, {"sender-missing"}),
    ("no time", without(REGISTER, "timestamp"), {"timestamp": NOW}, {"timestamp-missing"}),
    (
        "two zones",
        REGISTER | {"timestamp": "2025-01-15T10:30:00.123456+00:00Z"},
        {"timestamp": "2025-01-15T10:30:00.123456Z"},
        {"timestamp-form"},
    ),
    (
        "compact",
        REGISTER | {"timestamp": "20250115T103000Z"},
        {"timestamp": NOW},
        {"timestamp-form"},
    ),
    (
        "null",
        REFEREE | {"referee_meta": REFEREE["referee_meta"] | {"max_concurrent_matches": None}},
        {},
        {"null-field"},
    ),
    ("accepted", without(ACK, "accept") | {"accepted": True}, {"accept": True}, {"accept-field"}),
    (
        "declined",
        without(ACK, "accept") | {"status": "declined"},
        {"accept": False},
        {"accept-field"},
    ),
    (
        "choice",
        without(CHOICE, "parity_choice") | {"choice": "odd"},
        {"move": "odd"},
        {"choice-field"},
    ),
    (
        "question",
        without(QUERY, "query_params") | {"query_type": "GET_ASSIGNED_MATCHES"},
        {"query_type": "GET_NEXT_MATCH", "query_params": {}},
        {"query-form"},
    ),
]


@pytest.mark.parametrize(
    ("reply", "fields", "rules"), [case[1:] for case in MEANT], ids=[case[0] for case in MEANT]
)
def test_a_message_with_a_habit_is_read_as_it_was_meant(
    reply: dict[str, Any], fields: dict[str, Any], rules: set[str]
) -> None:
    found = interpret(framed(reply), HERE)
    assert found is not None
    assert {deviation.rule.id for deviation in found.deviations} == rules
    assert {key: getattr(found.message, key) for key in fields} == fields


@pytest.mark.parametrize("reply", SAMPLES, ids=list(SAMPLES))
def test_a_right_message_has_nothing_to_be_understood(reply: str) -> None:
    body = framed(msgspec.to_builtins(SAMPLES[reply]), SAMPLES[reply].route.tool or reply)
    assert read_message_call(body) is not None
    assert find_frame_deviations(read_call(body), SAMPLES[reply]) == []
    assert interpret(body, HERE) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"timestamp": "2025-01-15T10:30:00+02:00"},
        {"timestamp": "2025-01-15T10:30:00"},
        {"protocol": "league.v0"},
        {"player_meta": {}},
        {"player_meta": None},
    ],
)
def test_what_is_really_wrong_stays_wrong(wrong: dict[str, Any]) -> None:
    """In a message that is also nested, so that there is something to understand."""
    with pytest.raises(ProtocolError):
        interpret(framed({"message": REGISTER | wrong}), HERE)


def test_a_reply_without_a_sender_is_from_the_player_that_it_names() -> None:
    found = interpret(framed(without(ACK, "sender")), HERE)
    assert found is not None
    assert found.message.sender == f"player:{ACK['player_id']}"


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        (json.dumps(REGISTER).encode(), {"frame-missing"}),
        (framed(REGISTER, "join_please"), {"method-invented"}),
        (framed(REGISTER, "league_register_request"), set()),
        (framed(REGISTER, "LEAGUE_REGISTER_REQUEST"), set()),
    ],
)
def test_a_frame_of_ones_own_is_a_habit(body: bytes, rules: set[str]) -> None:
    deviations = find_frame_deviations(read_call(body), SAMPLES["LEAGUE_REGISTER_REQUEST"])
    assert {deviation.rule.id for deviation in deviations} == rules


@pytest.mark.parametrize("reply", SAMPLES, ids=list(SAMPLES))
def test_only_a_request_must_have_an_id(reply: str) -> None:
    message = SAMPLES[reply]
    frame = json.loads(framed(msgspec.to_builtins(message), message.route.tool or reply))
    del frame["id"]
    deviations = find_frame_deviations(read_call(json.dumps(frame).encode()), message)
    expected = ["frame-id-missing"] if isinstance(message, Request) else []
    assert [deviation.rule.id for deviation in deviations] == expected


PLAYERS = [{"player_id": f"P0{n}", "endpoint": f"http://127.0.0.1:810{n}/mcp"} for n in (1, 2)]
SEATS = {f"player_{s}_id": p["player_id"] for s, p in zip("AB", PLAYERS, strict=True)}
PLACES = {f"player_{s}_endpoint": p["endpoint"] for s, p in zip("AB", PLAYERS, strict=True)}
ORDERS: list[tuple[str, dict[str, Any]]] = [
    ("run_match", {"players": PLAYERS}),
    ("assign_match", {**SEATS, **PLACES}),
    ("start_match", {"player_a": PLAYERS[0], "player_b": PLAYERS[1]}),
    ("assign_match", {"match": {"match_id": "R2M1", "players": PLAYERS}}),
    ("MATCH_ASSIGNMENT", {"players": {p["player_id"]: p["endpoint"] for p in PLAYERS}}),
    (
        "run_match",
        {**SEATS, "player_endpoints": {p["player_id"]: p["endpoint"] for p in PLAYERS}},
    ),
]


@pytest.mark.parametrize(("method", "reply"), ORDERS)
def test_an_order_is_understood_however_it_names_the_players(
    method: str, reply: dict[str, Any]
) -> None:
    found = interpret(framed({"match_id": "R2M1"} | reply, method), HERE)
    assert found is not None
    order = found.message
    assert isinstance(order, StartMatch)
    assert found.deviations[0].rule.id == "order-form"
    assert (order.match_id, order.round_id, order.game_type) == ("R2M1", 2, "even_odd")
    assert [(p.player_id, p.endpoint) for p in order.players] == [
        (p["player_id"], p["endpoint"]) for p in PLAYERS
    ]


def test_an_order_with_a_ticket_is_ours_and_must_be_right() -> None:
    reply = msgspec.to_builtins(SAMPLES["START_MATCH"])
    with pytest.raises(ProtocolError, match="sender: a required field is missing"):
        interpret(framed(without(reply, "sender"), "start_match"), HERE)


KEYS = [
    "message_type",
    "sender",
    "timestamp",
    "params",
    "players",
    "match_id",
    "result",
    "winner",
    "score",
    "details",
    "status",
    "player_meta",
    "query_type",
    "content",
    "text",
    "player_A",
    "player_endpoints",
    "matches",
    "accept",
    "choice",
    "error",
    "id",
    "method",
    "jsonrpc",
]
WORDS = [*sorted(MESSAGES), "WIN", "DRAW", "ok", "RECEIVED", "even", "GET_MY_MATCH", "players:P01"]
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=15,
)


@given(json_values, st.sampled_from(["run_match", "register_player", "x"]))
def test_whatever_comes_is_understood_or_refused_and_nothing_else_happens(
    reply: Any, method: str
) -> None:
    try:
        found = interpret(framed(reply, method), HERE)
    except ProtocolError:
        return
    assert found is None or name(type(found.message)) in MESSAGES


@given(
    st.sampled_from(sorted(SAMPLES)),
    st.dictionaries(st.sampled_from(KEYS), json_values, max_size=3),
)
def test_a_message_spoilt_in_any_way_is_understood_or_refused(
    reply: str, spoilt: dict[str, Any]
) -> None:
    body = framed({"inside": msgspec.to_builtins(SAMPLES[reply]) | spoilt})
    try:
        found = interpret(body, HERE)
    except ProtocolError:
        return
    assert found is None or name(type(found.message)) in MESSAGES


@given(json_values, st.sampled_from(sorted(SAMPLES)))
def test_whatever_is_answered_is_a_reply_or_none(answer: Any, asked: str) -> None:
    request = SAMPLES[asked]
    if not isinstance(request, Request):
        return
    found = replies.find_reply(answer, request.reply, 1)
    replies.is_promise(answer)
    if found is not None:
        with suppress(ProtocolError):
            reply, _ = replies.interpret_reply(request, found.body, "P01", NOW)
            assert isinstance(reply, request.reply)
