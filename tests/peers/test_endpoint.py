import asyncio
import json
from collections.abc import Awaitable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.agent import Agent
from agent_league.http.exchange import Answer
from agent_league.http.memory import Network
from agent_league.peers.endpoint import Deferred, Endpoint
from agent_league.protocol import (
    Acknowledgement,
    ErrorCode,
    Message,
    ProtocolError,
    Role,
    name,
    read,
)
from agent_league.protocol.error_messages import LeagueErrorMessage
from agent_league.protocol.play import GameOver, Invitation, JoinAck, ParityCall, ParityReply
from agent_league.vocabulary import Json
from peers.plain_dialect import PLAIN
from protocol.samples import BY_PLAYER, SAMPLES
from wiring import WIRINGS, Wiring

SECRET = "tok_P01_this-is-nobody-elses-business"
CALL = msgspec.to_builtins(SAMPLES["CHOOSE_PARITY_CALL"])
OVER = msgspec.to_builtins(SAMPLES["GAME_OVER"])


class Complaining(Agent):
    """An agent whose errors have the same envelope each time."""

    role = Role.PLAYER

    def make_error(self, error: ProtocolError) -> LeagueErrorMessage:
        return LeagueErrorMessage(
            **BY_PLAYER,
            error_code=error.code,
            error_description=error.code.name,
            original_message_type=error.about,
            detail=error.detail,
            context=error.context or None,
        )


AGENT = Complaining("P01", Network())


class Heard:
    """An endpoint with one handler that answers at once, one that waits, one that refuses."""

    def __init__(self, wire: Wiring = WIRINGS["memory"]) -> None:
        self._wire = wire
        self.messages: list[Message] = []
        self.endpoint = Endpoint(
            {ParityCall: self.chosen, GameOver: self.take_game_over, Invitation: self.refused},
            {"add": self.added, "add_later": self.added_later},
            AGENT,
            [PLAIN],
        )

    def chosen(self, call: ParityCall) -> Message:
        self.messages.append(call)
        return SAMPLES["CHOOSE_PARITY_RESPONSE"]

    async def take_game_over(self, over: GameOver) -> Acknowledgement:
        await asyncio.sleep(0)
        self.messages.append(over)
        return Acknowledgement(match_id=over.match_id)

    async def refused(self, invitation: Invitation) -> JoinAck:
        await asyncio.sleep(0)
        raise ProtocolError(ErrorCode.NOT_ALLOWED, "not today", about="GAME_INVITATION")

    def added(self, arguments: dict[str, Json]) -> dict[str, Json]:
        if "one" not in arguments:
            raise ProtocolError(ErrorCode.MISSING_REQUIRED_FIELD, "one: missing", field="one")
        return {"sum": arguments["one"] + arguments["other"]}

    async def added_later(self, arguments: dict[str, Json]) -> dict[str, Json]:
        await asyncio.sleep(0)
        return self.added(arguments)

    def raw(self, body: bytes) -> Answer:
        return self._wire.run(self._respond, lambda url, wire: wire.post(url, body, 5.0))

    def _respond(self, body: bytes) -> Answer | Awaitable[Answer]:
        return self.endpoint.answer(body)

    def answer(self, body: Json) -> Json:
        answer = self.raw(json.dumps(body).encode())
        assert answer.status == 200
        return json.loads(answer.body)


def framed(method: str, params: Json, **more: Json) -> dict[str, Json]:
    return {"jsonrpc": "2.0", "method": method, "params": params, "id": 1, **more}


def without_id(frame: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in frame.items() if key != "id"}


@pytest.fixture
def recorder(wire: Wiring) -> Heard:
    return Heard(wire)


@pytest.mark.parametrize(
    "method",
    [
        "choose_parity",
        "CHOOSE_PARITY_CALL",
        "choose_parity_call",
        "Choose_Parity_Call",
        "whatever/it is called",
        "",
        "notify_match_result",
    ],
)
def test_the_message_type_decides_whatever_the_method_is_called(
    recorder: Heard, method: str
) -> None:
    reply = recorder.answer(framed(method, CALL))
    assert read(json.dumps(reply["result"]).encode()) == SAMPLES["CHOOSE_PARITY_RESPONSE"]
    assert recorder.messages == [SAMPLES["CHOOSE_PARITY_CALL"]]


def test_the_message_type_decides_even_over_a_tool_that_is_no_message(recorder: Heard) -> None:
    # Spec, "Which handler": params.message_type decides, then the method name.
    reply = recorder.answer(framed("add", CALL))
    assert reply.get("result", {}).get("message_type") == "CHOOSE_PARITY_RESPONSE"


def test_a_handler_may_wait_before_it_answers(recorder: Heard) -> None:
    # Seed 001 shows {"status": "ok"}: an acknowledgement must not lose it as a default.
    assert recorder.answer(framed("notify_match_result", OVER))["result"] == {
        "status": "ok",
        "match_id": "R1M1",
    }
    assert recorder.messages == [SAMPLES["GAME_OVER"]]


@pytest.mark.parametrize("tool", ["add", "add_later"])
def test_a_tool_that_is_no_message_gets_its_arguments_as_they_came(
    recorder: Heard, tool: str
) -> None:
    assert recorder.answer(framed(tool, {"one": 1, "other": 2}))["result"] == {"sum": 3}


@pytest.mark.parametrize("tool", ["add", "add_later"])
@pytest.mark.parametrize("params", [{}, []])
def test_a_tool_may_refuse_its_arguments(recorder: Heard, tool: str, params: Json) -> None:
    assert recorder.answer(framed(tool, params))["error"]["code"] == -32602


def test_a_bare_message_is_answered_bare(recorder: Heard) -> None:
    assert read(json.dumps(recorder.answer(CALL)).encode()) == SAMPLES["CHOOSE_PARITY_RESPONSE"]
    assert recorder.answer(OVER)["match_id"] == "R1M1"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({**CALL, "deadline": "tomorrow"}, "E021"),
        ({"message_type": "NO_SUCH_MESSAGE"}, "E023"),
        (msgspec.to_builtins(SAMPLES["GAME_INVITATION"]), "E025"),
        (msgspec.to_builtins(SAMPLES["LEAGUE_QUERY"]), "E023"),
    ],
)
def test_a_bare_message_that_is_refused_is_answered_with_the_bare_complaint(
    recorder: Heard, body: Json, code: str
) -> None:
    reply = recorder.answer(body)
    assert (reply["message_type"], reply["error_code"]) == ("LEAGUE_ERROR", code)


@pytest.mark.parametrize("message", [CALL, OVER], ids=["at once", "later"])
def test_a_notification_is_taken_in_and_not_answered(recorder: Heard, message: Json) -> None:
    body = json.dumps(without_id(framed("anything", message))).encode()
    assert recorder.raw(body) == Answer(202, b"")
    assert len(recorder.messages) == 1


@pytest.mark.parametrize(
    "params",
    [{**CALL, "deadline": None}, msgspec.to_builtins(SAMPLES["GAME_INVITATION"]), {}],
    ids=["malformed", "refused", "nothing"],
)
def test_a_notification_that_is_wrong_is_not_answered_either(recorder: Heard, params: Json) -> None:
    answer = recorder.raw(json.dumps(without_id(framed("x", params))).encode())
    assert (answer.status, answer.body) == (202, b"")


@given(
    st.none()
    | st.text()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
)
def test_an_id_of_any_legal_type_comes_back_as_it_was(id_: Json) -> None:
    for params in (CALL, {**CALL, "player_id": 7}):
        reply = Heard().answer(framed("choose_parity", params, id=id_))
        assert reply["id"] == id_
        assert type(reply["id"]) is type(id_)
        assert reply["jsonrpc"] == "2.0"
        assert ("result" in reply) != ("error" in reply)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"<html></html>", -32700),
        (b'{"params":' + b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'"choose_parity"', -32600),
        (b"[%b, %b]" % ((json.dumps(framed("x", CALL)).encode(),) * 2), -32600),
        (json.dumps({**framed("x", CALL), "jsonrpc": "1.0"}).encode(), -32600),
        (json.dumps({**framed("x", CALL), "jsonrpc": 2.0}).encode(), -32600),
        (json.dumps({"method": "x", "params": CALL, "id": 1}).encode(), -32600),
        (json.dumps({"jsonrpc": "2.0", "params": CALL, "id": 1}).encode(), -32600),
        (json.dumps(framed("x", CALL, id=True)).encode(), -32600),
        (json.dumps(framed("x", CALL, id=[1])).encode(), -32600),
        (json.dumps(framed("choose_parity", "even")).encode(), -32600),
        (json.dumps(framed("no_such_tool", {})).encode(), -32601),
        (json.dumps(framed("no_such_tool", {"message_type": "NOPE"})).encode(), -32601),
        (json.dumps({"jsonrpc": "2.0", "method": "no_such_tool", "id": 1}).encode(), -32601),
        (json.dumps({"jsonrpc": "2.0", "method": "choose_parity", "id": 1}).encode(), -32602),
        (json.dumps(framed("choose_parity", {})).encode(), -32602),
        (json.dumps(framed("choose_parity", [CALL])).encode(), -32602),
        (json.dumps(framed("x", {**CALL, "player_id": None})).encode(), -32602),
    ],
)
def test_json_rpc_has_a_code_for_it(recorder: Heard, body: bytes, code: int) -> None:
    answer = recorder.raw(body)
    assert answer.status == 200
    reply = json.loads(answer.body)
    assert reply["error"]["code"] == code
    assert "result" not in reply
    assert recorder.messages == []


REFUSALS: list[tuple[str, Json, str, int, str]] = [
    ("missing field", {**CALL, "player_id": None}, "E003", -32602, "CHOOSE_PARITY_CALL"),
    ("wrong type", {**CALL, "player_id": 7}, "E022", -32602, "CHOOSE_PARITY_CALL"),
    ("bad time", {**CALL, "timestamp": "noon"}, "E021", -32602, "CHOOSE_PARITY_CALL"),
    ("old protocol", {**CALL, "protocol": "league.v0"}, "E018", -32018, "CHOOSE_PARITY_CALL"),
    (
        "refused later",
        msgspec.to_builtins(SAMPLES["GAME_INVITATION"]),
        "E025",
        -32003,
        "GAME_INVITATION",
    ),
    (
        "for another agent",
        msgspec.to_builtins(SAMPLES["MATCH_RESULT_REPORT"]),
        "E023",
        -32601,
        "MATCH_RESULT_REPORT",
    ),
    (
        "a reply, not a request",
        msgspec.to_builtins(SAMPLES["GAME_JOIN_ACK"]),
        "E023",
        -32601,
        "GAME_JOIN_ACK",
    ),
]


@pytest.mark.parametrize(
    ("params", "code", "rpc", "about"),
    [case[1:] for case in REFUSALS],
    ids=[case[0] for case in REFUSALS],
)
def test_an_error_carries_the_whole_complaint(
    recorder: Heard, params: Json, code: str, rpc: int, about: str
) -> None:
    error = recorder.answer(framed("some_method", params))["error"]
    assert error["code"] == rpc
    complaint = read(json.dumps(error["data"]).encode())
    assert isinstance(complaint, LeagueErrorMessage)
    assert complaint.error_code == code
    assert complaint.original_message_type == about
    assert code in error["message"]


def test_a_body_too_large_to_be_read_has_an_answer_too() -> None:
    answer = Heard().endpoint.too_large()
    assert answer.status == 413
    reply = json.loads(answer.body)
    assert reply["id"] is None
    assert reply["error"]["data"]["error_code"] == "E026"
    assert reply["error"]["data"]["message_type"] == "LEAGUE_ERROR"


@pytest.mark.parametrize(
    "params",
    [
        {**CALL, "auth_token": SECRET, "player_id": 7},
        {**CALL, "auth_token": [SECRET]},
        {**CALL, "auth_token": {"token": SECRET}},
        {**msgspec.to_builtins(SAMPLES["GAME_INVITATION"]), "auth_token": SECRET},
        {**msgspec.to_builtins(SAMPLES["START_MATCH"]), "ticket": [SECRET]},
        {"message_type": "LEAGUE_QUERY", "auth_token": SECRET},
        [SECRET],
    ],
)
def test_no_error_echoes_a_secret(recorder: Heard, params: Json) -> None:
    for body in (framed("choose_parity", params), framed("x", params), params):
        assert SECRET.encode() not in recorder.raw(json.dumps(body).encode()).body


@given(st.binary(max_size=60))
def test_no_bytes_at_all_break_an_endpoint(body: bytes) -> None:
    answer = Heard().raw(body)
    assert answer.status in {200, 202}


@given(
    st.dictionaries(
        st.sampled_from(["jsonrpc", "method", "params", "id", "message_type", "sender"]),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.sampled_from(["2.0", "add", "GAME_OVER"]),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(
                    st.sampled_from(["message_type", "one", "other"]), inner, max_size=3
                )
            ),
            max_leaves=5,
        ),
    )
)
def test_no_json_object_at_all_breaks_an_endpoint(body: dict[str, Any]) -> None:
    recorder = Heard()
    recorder.endpoint = Endpoint({ParityCall: recorder.chosen}, {}, AGENT, [PLAIN])
    answer = recorder.raw(json.dumps(body).encode())
    assert answer.status in {200, 202}
    assert (answer.status == 202) == (answer.body == b"")


def test_what_a_handler_answers_is_written_with_the_names_of_the_wire(recorder: Heard) -> None:
    assert name(ParityReply) == "CHOOSE_PARITY_RESPONSE"
    assert recorder.answer(framed("choose_parity", CALL))["result"]["parity_choice"] == "even"


@pytest.mark.parametrize("fails", [False, True])
def test_a_result_that_waits_for_something_is_sent_when_that_is_done(fails: bool) -> None:
    async def scenario() -> None:
        until: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        result = Acknowledgement(match_id="R1M1")
        endpoint = Endpoint({GameOver: lambda over: Deferred(result, until)}, {}, AGENT, [PLAIN])
        body = json.dumps(framed("notify_match_result", OVER)).encode()
        answer, waits_too = endpoint.answer(body), Deferred(result, until)
        assert isinstance(answer, asyncio.Future)
        await asyncio.sleep(0.01)
        assert not answer.done()
        if fails:
            until.set_exception(LookupError("the disk is full"))
            with pytest.raises(LookupError):
                await answer
        else:
            until.set_result(None)
            assert json.loads((await answer).body)["result"]["match_id"] == "R1M1"
            assert await waits_too is result

    asyncio.run(scenario())


def test_a_result_is_not_sent_if_what_it_waits_for_is_cancelled() -> None:
    async def scenario() -> None:
        until: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        later = Deferred(Acknowledgement(), until)
        endpoint = Endpoint({GameOver: lambda over: later}, {}, AGENT, [PLAIN])
        answer = endpoint.answer(json.dumps(framed("notify_match_result", OVER)).encode())
        assert isinstance(answer, asyncio.Future)
        until.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answer

    asyncio.run(scenario())
