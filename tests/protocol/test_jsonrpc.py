import json
import math
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_league.protocol import RpcCode, jsonrpc
from agent_league.vocabulary import Json


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"error": {"message": "x"}, "id": 1}, "error.code: a required member is missing"),
        ({"error": {"code": "x", "message": "x"}}, "error.code: expected a whole number"),
        (["tok_secret"], "frame: expected an object"),
    ],
)
def test_an_answer_that_is_no_frame_is_explained_in_our_words(body: Json, detail: str) -> None:
    with pytest.raises(jsonrpc.FrameError) as caught:
        jsonrpc.read_response(json.dumps(body).encode())
    assert caught.value.detail == f"the answer is not a JSON-RPC frame: {detail}"


LEGAL_IDS = [0, 1, -1, 2**31, 2**53 + 1, 2**63, 2**70, 1.5, -0.25, "", "1", "é\u2028\n🏆", None]


def frame(**members: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "choose_parity", **members}).encode()


def refusal(body: bytes) -> jsonrpc.FrameError:
    with pytest.raises(jsonrpc.FrameError) as caught:
        jsonrpc.read_call(body)
    return caught.value


def test_a_request_is_read_into_its_parts() -> None:
    call = jsonrpc.read_call(frame(params={"accept": True}, id=7))
    assert (call.method, call.id, call.bare) == ("choose_parity", 7, False)
    assert isinstance(call.params, msgspec.Raw)
    assert json.loads(bytes(call.params)) == {"accept": True}


def test_what_we_call_is_read_as_the_same_call() -> None:
    call = jsonrpc.read_call(jsonrpc.encode_call("league_query", b'{"a":1}', 3))
    assert (call.method, bytes(msgspec.Raw(call.params or b"")), call.id) == (
        "league_query",
        b'{"a":1}',
        3,
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"choose_parity",
        b'{"jsonrpc":"2.0",}',
        b"\xff",
        b'{"method":"m","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"jsonrpc":"2.0","method":"m","params":{"a":NaN},"id":1}',
        b'{"jsonrpc":"2.0","method":"m","id":' + b"9" * 5000 + b"}",
    ],
    ids=lambda body: body[:40].decode("latin-1"),
)
def test_what_is_not_json_is_a_parse_error_without_an_id(body: bytes) -> None:
    error = refusal(body)
    assert (error.code, error.id) == (RpcCode.PARSE_ERROR, None)


@pytest.mark.parametrize(
    "body",
    [
        b"1",
        b"null",
        b'"text"',
        b"{}",
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","method":1}',
        b'{"jsonrpc":"2.0","method":null}',
        b'{"method":"m"}',
        b'{"jsonrpc":2.0,"method":"m"}',
    ],
    ids=lambda body: body[:40].decode("latin-1"),
)
def test_json_that_is_no_request_is_an_invalid_request(body: bytes) -> None:
    assert refusal(body).code == RpcCode.INVALID_REQUEST


@pytest.mark.parametrize(
    "members", [{"jsonrpc": "1.0"}, {"params": 5}, {"params": "text"}, {"params": None}]
)
def test_an_invalid_request_keeps_the_id_that_could_be_read(members: Json) -> None:
    error = refusal(frame(id="abc", **members))
    assert (error.code, error.id) == (RpcCode.INVALID_REQUEST, "abc")


@pytest.mark.parametrize("body", [b"[]", b"[1]", b"[" + frame(id=1) + b"," + frame(id=2) + b"]"])
def test_a_batch_is_an_invalid_request(body: bytes) -> None:
    error = refusal(body)
    assert (error.code, error.id) == (RpcCode.INVALID_REQUEST, None)


@pytest.mark.parametrize("reply", LEGAL_IDS, ids=repr)
def test_an_id_of_any_legal_type_is_echoed_exactly(reply: Json) -> None:
    call = jsonrpc.read_call(frame(id=reply))
    assert not isinstance(call.id, msgspec.UnsetType)
    answers = [
        json.loads(jsonrpc.encode_result(call.id, b"{}")),
        json.loads(jsonrpc.encode_error(call.id, -32601, "no such method")),
    ]
    assert [(type(answer["id"]), answer["id"]) for answer in answers] == [(type(reply), reply)] * 2


@pytest.mark.parametrize("reply", [True, False, [], [1], {}, {"id": 1}], ids=repr)
def test_an_id_of_another_type_is_an_invalid_request(reply: Json) -> None:
    error = refusal(frame(id=reply))
    assert (error.code, error.id) == (RpcCode.INVALID_REQUEST, None)


def test_a_request_without_an_id_is_a_notification_and_not_one_with_null() -> None:
    assert jsonrpc.read_call(frame()).id is msgspec.UNSET
    assert jsonrpc.read_call(frame(id=None)).id is None


def test_a_message_without_a_frame_is_bare() -> None:
    call = jsonrpc.read_call(b'{"protocol":"league.v2","message_type":"GAME_OVER"}')
    assert call.bare


def test_a_framed_message_is_not_bare_even_if_it_names_a_type_beside_its_params() -> None:
    assert not jsonrpc.read_call(frame(message_type="GAME_OVER")).bare


def test_params_may_be_an_array_an_object_or_absent() -> None:
    assert bytes(msgspec.Raw(jsonrpc.read_call(frame(params=[1, 2])).params or b"")) == b"[1, 2]"
    assert bytes(msgspec.Raw(jsonrpc.read_call(frame(params={})).params or b"")) == b"{}"
    assert jsonrpc.read_call(frame()).params is msgspec.UNSET


def test_a_result_is_read_back() -> None:
    answer = jsonrpc.read_response(jsonrpc.encode_result("x", b'{"status":"ok"}'))
    assert isinstance(answer.result, msgspec.Raw)
    assert (answer.id, bytes(answer.result)) == ("x", b'{"status":"ok"}')
    assert answer.error is msgspec.UNSET


def test_an_error_is_read_back_with_its_data() -> None:
    written = jsonrpc.encode_error(5, -32012, "AUTH_TOKEN_INVALID", {"error_code": "E012"})
    answer = jsonrpc.read_response(written)
    assert isinstance(answer.error, jsonrpc.RpcError)
    assert (answer.id, answer.result) == (5, msgspec.UNSET)
    assert (answer.error.code, answer.error.message) == (-32012, "AUTH_TOKEN_INVALID")
    assert answer.error.data == {"error_code": "E012"}


def test_an_error_without_data_has_no_data_member() -> None:
    assert json.loads(jsonrpc.encode_error(None, -32700, "not JSON")) == {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "not JSON"},
        "id": None,
    }


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"error":5}', b'{"error":{"code":"x","message":1}}', b"\xff"]
)
def test_an_answer_that_is_no_frame_is_refused(body: bytes) -> None:
    with pytest.raises(jsonrpc.FrameError):
        jsonrpc.read_response(body)


def test_the_codes_are_those_of_json_rpc() -> None:
    assert (
        RpcCode.PARSE_ERROR,
        RpcCode.INVALID_REQUEST,
        RpcCode.METHOD_NOT_FOUND,
        RpcCode.INVALID_PARAMS,
        RpcCode.INTERNAL_ERROR,
    ) == (-32700, -32600, -32601, -32602, -32603)


@settings(max_examples=200)
@given(body=st.binary(max_size=100))
def test_any_bytes_are_a_call_or_a_frame_error(body: bytes) -> None:
    for reader in (jsonrpc.read_call, jsonrpc.read_response):
        with suppress(jsonrpc.FrameError):
            reader(body)


@settings(max_examples=200)
@given(reply=st.none() | st.integers() | st.text() | st.floats(allow_nan=False))
def test_any_legal_id_makes_the_round_trip(reply: Json) -> None:
    if isinstance(reply, float) and math.isinf(reply):
        return
    call = jsonrpc.read_call(frame(id=reply))
    assert not isinstance(call.id, msgspec.UnsetType)
    assert json.loads(jsonrpc.encode_result(call.id, b"1"))["id"] == reply
