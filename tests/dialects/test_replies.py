"""What an answer amounts to, asked over a line; and how a peer is spoken to that is choosy."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from agent_league.dialects.dialect import encode_message
from agent_league.dialects.v2.completion import Situation
from agent_league.dialects.v2.inbound import interpret
from agent_league.dialects.v2.session import V2Session
from agent_league.dialects.v2.writings import swap_ids, write_plain, write_rounds_as_text
from agent_league.http.exchange import Answer, check_answer
from agent_league.peers.line import Line
from agent_league.protocol import Patience, ProtocolError, Request
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.error_messages import GameErrorMessage
from agent_league.protocol.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    NoPathError,
    RefusedError,
)
from agent_league.protocol.play import JoinAck, ParityReply
from agent_league.vocabulary import Json
from protocol.samples import SAMPLES
from timewarp import now, run

URL = "http://p01/mcp"
INVITATION: Any = SAMPLES["GAME_INVITATION"]
CALL: Any = SAMPLES["CHOOSE_PARITY_CALL"]
ANNOUNCEMENT: Any = SAMPLES["ROUND_ANNOUNCEMENT"]
ACK = msgspec.to_builtins(SAMPLES["GAME_JOIN_ACK"])
MOVE = msgspec.to_builtins(SAMPLES["CHOOSE_PARITY_RESPONSE"])
ME = ACK["player_id"]
assert MOVE["match_id"] == CALL.match_id
assert ACK["match_id"] == INVITATION.match_id

Says = Callable[[Json], Json | Answer]


class Peer:
    """Answers each frame as it is told to, and keeps what it was sent."""

    def __init__(self, says: Says) -> None:
        self.says = says
        self.received: list[Json] = []

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        await asyncio.sleep(0)
        frame = json.loads(body)
        self.received.append(frame)
        reply = self.says(frame)
        return check_answer(
            reply if isinstance(reply, Answer) else Answer(200, json.dumps(reply).encode()), "p"
        )

    def line(self) -> Line:
        return Line(V2Session(URL, self.post), Patience())


def asked(request: Request[Any], says: Says, *, strict: bool = False) -> tuple[Any, Ledger]:
    ledger = Ledger(ME, strict=strict)
    return run(Peer(says).line().ask(request, ledger=ledger)), ledger


def right(result: Json) -> Callable[[Json], dict[str, Json]]:
    return lambda frame: {"jsonrpc": "2.0", "result": result, "id": frame.get("id")}


def without(message: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in keys}


AMOUNTS: list[tuple[str, Request[Any], Says, set[str]]] = [
    ("right", CALL, right(MOVE), set()),
    (
        "in params",
        CALL,
        lambda f: {"jsonrpc": "2.0", "params": MOVE, "id": f["id"]},
        {"reply-in-params"},
    ),
    ("in response", CALL, right({"response": MOVE}), {"reply-wrapped"}),
    (
        "as text",
        CALL,
        right({"content": [{"type": "text", "text": json.dumps(MOVE)}]}),
        {"reply-wrapped"},
    ),
    ("beside null", CALL, lambda f: right(MOVE)(f) | {"error": None}, {"reply-error-null"}),
    ("another id", CALL, lambda f: right(MOVE)(f) | {"id": "x"}, {"reply-id"}),
    ("no id", CALL, lambda f: without(right(MOVE)(f), "id"), {"reply-id"}),
    ("unframed", CALL, lambda f: MOVE, {"reply-unframed"}),
    ("choice", CALL, right(without(MOVE, "parity_choice") | {"choice": "even"}), {"choice-field"}),
    ("a word", CALL, right("even"), {"choice-field", "reply-envelope"}),
    (
        "small",
        CALL,
        right(MOVE | {"message_type": "choose_parity_response"}),
        {"message-type-case"},
    ),
    ("other player", CALL, right(MOVE | {"player_id": "P77"}), {"player-id-other"}),
    ("success", INVITATION, right(without(ACK, "accept") | {"success": True}), {"accept-field"}),
    ("status", INVITATION, right({"status": "ACCEPTED"}), {"accept-field", "reply-envelope"}),
    ("yes", INVITATION, right(True), {"accept-field", "reply-envelope"}),
    ("a status", INVITATION, right("ACCEPTED"), {"accept-field", "reply-envelope"}),
    ("only accept", INVITATION, right({"accept": True}), {"reply-envelope"}),
]


@pytest.mark.parametrize(
    ("request_", "says", "rules"), [case[1:] for case in AMOUNTS], ids=[case[0] for case in AMOUNTS]
)
def test_an_answer_amounts_to_the_reply_in_it(
    request_: Request[Any], says: Says, rules: set[str]
) -> None:
    reply, ledger = asked(request_, says)
    assert set(ledger.deviations) == rules
    assert reply.player_id == ME
    assert isinstance(reply, JoinAck | ParityReply)
    assert getattr(reply, "accept", True) is True
    assert getattr(reply, "move", "even") == "even"


@pytest.mark.parametrize(
    ("request_", "says", "rules"),
    [case[1:] for case in AMOUNTS if case[3]],
    ids=[case[0] for case in AMOUNTS if case[3]],
)
def test_a_strict_ledger_refuses_it_and_names_the_rule(
    request_: Request[Any], says: Says, rules: set[str]
) -> None:
    ledger = Ledger(ME, strict=True)
    with pytest.raises(NonsenseError) as refused:
        run(Peer(says).line().ask(request_, ledger=ledger))
    assert set(ledger.deviations) <= rules
    assert refused.value.context["rules"] == list(ledger.deviations)


@pytest.mark.parametrize(
    "reply",
    [
        {"status": "ok"},
        {"received": True},
        {},
        None,
        MOVE | {"parity_choice": "Even"},
        MOVE | {"match_id": "R9M9"},
        without(MOVE, "parity_choice") | {"choice": 2},
        ACK,
    ],
)
def test_what_is_no_answer_is_not_taken_for_one(reply: Json) -> None:
    with pytest.raises(NoAnswerError):
        asked(CALL, right(reply))


def test_an_ok_to_an_unknown_method_is_not_a_success_and_another_way_is_tried() -> None:
    def says(frame: Json) -> Json:
        known = frame.get("method") in {"GAME_INVITATION", "handle_game_invitation"}
        move = MOVE if frame.get("method") == "CHOOSE_PARITY_CALL" else {"status": "ok"}
        return right(ACK if known else move)(frame)

    async def main() -> None:
        for request in (INVITATION, CALL, INVITATION, CALL):
            await line.ask(request, ledger=ledger)

    peer, ledger = Peer(says), Ledger(ME)
    line = peer.line()
    run(main())
    methods = [frame["method"] for frame in peer.received]
    first = ["handle_game_invitation", "choose_parity", "CHOOSE_PARITY_CALL"]
    assert methods == [*first, "GAME_INVITATION", "CHOOSE_PARITY_CALL"]
    assert set(ledger.deviations) == {"ok-to-unknown"}


@pytest.mark.parametrize("depth", [50, 300, 900, 990, 1100, 5000])
def test_an_answer_may_be_as_deep_as_it_likes(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    for body in (b'{"result":%b,"id":1}' % deep, b'{"result":{"accept":%b},"id":1}' % deep):
        with pytest.raises(NoAnswerError):
            asked(INVITATION, lambda frame, body=body: Answer(200, body))  # type: ignore[misc]


@pytest.mark.parametrize("depth", [50, 300, 900, 990, 1100, 5000])
def test_a_message_may_be_as_deep_as_it_likes(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    for reply in (b'{"x":%b}', b'{"message":{"message_type":"GAME_OVER","sender":%b}}', b"%b"):
        frame = b'{"jsonrpc":"2.0","method":"run_match","params":%b,"id":1}' % (reply % deep)
        with suppress(ProtocolError):
            assert interpret(frame, Situation("2025-01-15T10:30:00Z")) is None


def test_a_peer_that_stumbles_over_a_method_is_told_in_another_way() -> None:
    def says(frame: Json) -> Json | Answer:
        known = frame.get("method") == "GAME_INVITATION"
        return right(ACK)(frame) if known else Answer(500, b"KeyError")

    reply, ledger = asked(INVITATION, says)
    assert reply.accept is True
    assert set(ledger.deviations) == {"ok-to-unknown"}


def test_a_peer_that_is_down_is_not_told_in_other_ways() -> None:
    peer = Peer(lambda frame: Answer(503, b"down"))
    with pytest.raises(NoAnswerError):
        run(peer.line().ask(INVITATION, ledger=Ledger(ME)))
    assert len(peer.received) == 1


def test_a_peer_that_refuses_right_messages_is_written_to_plainly_from_then_on() -> None:
    def says(frame: Json) -> Json:
        if frame["params"]["sender"] == "league_manager":
            error = {"code": -32602, "message": "bad sender"}
            return {"jsonrpc": "2.0", "error": error, "id": frame["id"]}
        return {"jsonrpc": "2.0", "result": {"status": "ok"}, "id": frame["id"]}

    async def main() -> None:
        await line.tell(ANNOUNCEMENT, ledger=ledger)
        await line.tell(ANNOUNCEMENT, ledger=ledger)

    peer, ledger = Peer(says), Ledger(ME)
    line = peer.line()
    run(main())
    senders = [frame["params"]["sender"] for frame in peer.received]
    assert senders == ["league_manager", "league_manager:LM01", "league_manager:LM01"]
    assert set(ledger.deviations) == {"right-refused"}


def test_a_peer_that_refuses_everything_is_tried_in_every_way_once() -> None:
    error = {"code": -32602, "message": "no"}
    peer = Peer(lambda frame: {"jsonrpc": "2.0", "error": error, "id": frame.get("id")})
    line = peer.line()

    async def main() -> None:
        for _ in range(3):
            with pytest.raises(NoAnswerError):
                await line.ask(INVITATION, ledger=Ledger(ME))

    run(main())
    assert len(peer.received) == 8 + 1 + 1


@pytest.mark.parametrize(
    "busy",
    [
        Answer(429, b""),
        Answer(
            200, b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"Rate limit exceeded"},"id":1}'
        ),
    ],
)
def test_a_peer_that_is_asked_too_often_is_asked_again_inside_the_window(busy: Answer) -> None:
    async def main() -> tuple[float, Ledger]:
        peer, ledger = Peer(lambda frame: busy if now() < 3 else right(ACK)(frame)), Ledger(ME)
        await peer.line().ask(INVITATION, ledger=ledger)
        return now(), ledger

    took, ledger = run(main())
    assert 3 <= took <= 5
    assert set(ledger.deviations) == {"rate-limit"}


def test_an_id_with_the_letters_of_a_code_in_it_is_no_rate_limit() -> None:
    ack = {**ACK, "conversation_id": "conv-4a51e027-E027-11ee"}
    peer, ledger = Peer(lambda frame: {**right(ack)(frame), "error": None}), Ledger(ME)
    run(peer.line().ask(INVITATION, ledger=ledger))
    assert set(ledger.deviations) == {"reply-error-null"}


def test_a_peer_that_goes_by_another_id_is_called_by_it() -> None:
    def says(frame: Json) -> Json:
        reply = frame["params"]
        if reply["message_type"] == "GAME_INVITATION":
            return right(ACK | {"player_id": "P77"})(frame)
        return right(MOVE | {"player_id": reply["player_id"]})(frame)

    async def main() -> Any:
        await line.ask(INVITATION, ledger=ledger)
        return await line.ask(msgspec.structs.replace(CALL, player_id=ME), ledger=ledger)

    peer, ledger = Peer(says), Ledger(ME)
    line = peer.line()
    assert run(main()).player_id == ME
    assert peer.received[-1]["params"]["player_id"] == "P77"


def test_two_ids_are_exchanged_wherever_they_stand() -> None:
    reply = {"player_id": "P03", "choices": {"P01": "even", "P03": "odd"}, "sender": "player:P01"}
    notices = json.loads(swap_ids("P03", "P01", json.dumps(reply).encode()))
    assert notices == {
        "player_id": "P01",
        "choices": {"P03": "even", "P01": "odd"},
        "sender": "player:P03",
    }


def test_the_reason_of_a_result_names_the_players_by_the_ids_that_the_peer_knows() -> None:
    result = {"reason": "P03 chose odd, number was 7 (odd); P031 and XP03 are others"}
    message = json.dumps({"game_result": result, "display_name": "Team P03"}).encode()
    swapped = json.loads(swap_ids("P03", "P01", message))
    expected = "P01 chose odd, number was 7 (odd); P031 and XP03 are others"
    assert swapped == {"game_result": {"reason": expected}, "display_name": "Team P03"}


def test_what_is_written_plainly_is_still_the_same_message() -> None:
    complaint = SAMPLES["GAME_ERROR"]
    assert isinstance(complaint, GameErrorMessage)
    notices = json.loads(write_plain(encode_message(complaint)))
    assert not {"detail", "retryable", "error_name"} & notices.keys()
    assert msgspec.convert(notices, GameErrorMessage).error_code == complaint.error_code


# What a peer says no with, and what is tried then


def refusing(code: int, message: str, status: int = 200, data: Json = None) -> Says:
    error = {"code": code, "message": message, "data": data}
    return lambda frame: Answer(
        status, json.dumps({"jsonrpc": "2.0", "error": error, "id": frame.get("id")}).encode()
    )


def first_then(first: Says, then: Says) -> Says:
    asked_before: list[Json] = []

    def says(frame: Json) -> Json | Answer:
        asked_before.append(frame)
        return (first if len(asked_before) == 1 else then)(frame)

    return says


UNREAD = [
    refusing(-32000, "Something is wrong"),
    refusing(-32603, "1 validation error for GameInvitation", 500),
    refusing(-32603, "Unknown tool: handle_game_invitation"),
    refusing(-32602, "Sender not registered", 400, {"error_code": "E004"}),
    lambda frame: {"status": "error", "message": "Unknown message type"},
    lambda frame: Answer(500, b'{"status":"error","message":"\'NoneType\' object"}'),
    lambda frame: Answer(404, b'{"detail":"Unknown method"}'),
]


@pytest.mark.parametrize("unread", UNREAD)
def test_a_peer_that_does_not_understand_one_form_is_tried_in_the_next(unread: Says) -> None:
    reply, _ = asked(INVITATION, first_then(unread, right(ACK)))
    assert reply.accept is True


@pytest.mark.parametrize(
    "final",
    [
        refusing(-32012, "no", 200, {"error_code": "E012"}),
        refusing(-32001, "Missing auth token", 401),
        refusing(-32000, "Player already registered", 409),
        right({"message_type": "LEAGUE_ERROR", "error_code": "E018"}),
        right({"content": [{"text": '{"message_type": "GAME_ERROR", "error_code": "E005"}'}]}),
    ],
)
def test_a_refusal_of_what_was_understood_ends_the_attempts(final: Says) -> None:
    peer = Peer(final)
    with pytest.raises(RefusedError):
        run(peer.line().ask(INVITATION, ledger=Ledger(ME)))
    assert len(peer.received) == 1


@pytest.mark.parametrize("status", [404, 405])
@pytest.mark.parametrize("body", [b'{"detail":"Not Found"}', b"<html>", b""])
def test_a_path_that_nobody_serves_is_not_an_answer(status: int, body: bytes) -> None:
    peer = Peer(lambda frame: Answer(status, body))
    with pytest.raises(NoPathError, match="nothing is served"):
        run(peer.line().ask(INVITATION, ledger=Ledger(ME)))
    assert len(peer.received) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"message_type": "LEAGUE_ERROR", "error_code": "E012", "error_description": "no"},
        {"status": "error", "message": "no such round"},
        {"error": "no"},
    ],
)
def test_a_notice_that_is_refused_in_the_result_is_not_taken(answer: Json) -> None:
    with pytest.raises(RefusedError):
        run(Peer(right(answer)).line().tell(ANNOUNCEMENT, ledger=Ledger(ME)))


def test_an_error_message_that_is_acknowledged_under_its_own_name_is_taken() -> None:
    notice: Any = SAMPLES["GAME_ERROR"]
    says = right({"message_type": "GAME_ERROR", "status": "acknowledged", "error_code": "E001"})
    run(Peer(says).line().tell(notice, ledger=Ledger(ME)))


def test_a_promise_counts_on_whichever_form_it_comes() -> None:
    says = first_then(refusing(-32601, "Method not found"), right({"status": "RECEIVED"}))
    peer = Peer(says)
    line = peer.line()
    with pytest.raises(LateError):
        run(line.ask(INVITATION, within=0.1, ledger=Ledger(ME)))
    assert [frame["method"] for frame in peer.received] == [
        "handle_game_invitation",
        "GAME_INVITATION",
    ]


FORMS: list[tuple[str, Callable[[Json], bool]]] = [
    ("lower-case type", lambda f: f.get("method") == "game_invitation"),
    ("tools/call", lambda f: f.get("method") == "tools/call" and "arguments" in f["params"]),
    ("in message", lambda f: "match_id" in f.get("params", {}).get("message", {})),
    ("in an object", lambda f: "match_id" in f.get("params", {}).get("game_invitation", {})),
    ("rounds as text", lambda f: f.get("params", {}).get("round_id") == "R1"),
]


@pytest.mark.parametrize(
    ("knows", "code"),
    [
        pytest.param(knows, code, id=f"{form} {code}")
        for form, knows in FORMS
        for code in (-32601, -32602, -32603)
        if (form, code) != ("rounds as text", -32601)  # then the method is known
    ],
)
def test_a_peer_that_knows_one_form_is_reached_in_it_and_called_so_from_then_on(
    knows: Callable[[Json], bool], code: int
) -> None:
    def says(frame: Json) -> Json | Answer:
        return (right(ACK) if knows(frame) else refusing(code, "what?"))(frame)

    async def main() -> None:
        for _ in range(2):
            assert (await line.ask(INVITATION, ledger=Ledger(ME))).accept is True

    peer = Peer(says)
    line = peer.line()
    run(main())
    assert len(peer.received) <= 10
    assert [knows(frame) for frame in peer.received[-2:]] == [True, True]


def test_a_reply_of_a_tool_may_be_in_its_text() -> None:
    text = {"content": [{"type": "text", "text": json.dumps(ACK)}]}

    def says(frame: Json) -> Json | Answer:
        is_call = frame.get("method") == "tools/call"
        return (right(text) if is_call else refusing(-32601, "Method not found"))(frame)

    _, ledger = asked(INVITATION, says)
    assert not ledger.deviations


def test_a_peer_that_knows_no_notice_is_not_asked_much_about_the_next() -> None:
    peer = Peer(refusing(-32601, "Method not found"))
    line = peer.line()

    async def main() -> None:
        for kind in ("ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED"):
            notice: Any = SAMPLES[kind]
            with pytest.raises(RefusedError):
                await line.tell(notice, ledger=Ledger(ME))

    run(main())
    assert len(peer.received) <= 5 + 2 + 2


def test_a_peer_that_knows_no_error_messages_is_told_the_result_in_every_form() -> None:
    def says(frame: Json) -> Json | Answer:
        knows = frame.get("method") == "game_over"
        return (right({"status": "ok"}) if knows else refusing(-32601, "Method not found"))(frame)

    async def main() -> None:
        complaint: Any = SAMPLES["GAME_ERROR"]
        with pytest.raises(RefusedError):
            await line.tell(complaint, ledger=Ledger(ME))
        over: Any = SAMPLES["GAME_OVER"]
        await line.tell(over, ledger=Ledger(ME))

    line = Peer(says).line()
    run(main())


@pytest.mark.parametrize(
    ("code", "words", "noted"),
    [
        (-32601, "Method not found", False),
        (-32602, "no", True),
        (-32603, "out of luck", False),
        (-32603, "2 validation errors for RoundAnnouncement", True),
    ],
)
def test_a_strict_league_notes_the_refusal_of_a_right_message_and_not_of_a_bare_one(
    code: int, words: str, noted: bool
) -> None:
    def says(frame: Json) -> Json | Answer:
        is_bare = "method" not in frame
        return refusing(-32600 if is_bare else code, "Invalid Request" if is_bare else words)(frame)

    ledger = Ledger(ME, strict=True)
    with pytest.raises(RefusedError):
        run(Peer(says).line().tell(ANNOUNCEMENT, ledger=ledger))
    assert ("right-refused" in ledger.deviations) is noted


def test_the_rounds_of_a_completed_league_can_be_written_as_text_with_whole_rows() -> None:
    row = {"player_id": "P01", "played": 3, "wins": 2, "losses": 1}
    completed = replace(
        encode_message(SAMPLES["LEAGUE_COMPLETED"]), get_extras=lambda: {"standings": [row]}
    )
    written = json.loads(write_rounds_as_text(completed))
    rows = {one["player_id"]: one for one in written["final_standings"]}
    assert (rows["P01"]["wins"], rows["P01"]["draws"]) == (2, 0)
    ended = json.loads(write_rounds_as_text(encode_message(SAMPLES["ROUND_COMPLETED"])))
    assert ended["round_id"] == "R3"
    assert ended["completed_matches"] == []


def test_a_report_can_be_written_with_its_facts_in_both_places() -> None:
    written = json.loads(write_rounds_as_text(encode_message(SAMPLES["MATCH_RESULT_REPORT"])))
    assert written["score"] == written["result"]["score"]
    assert written["result"]["winner_player_id"] == written["result"]["winner"]
    assert "ticket" not in written
