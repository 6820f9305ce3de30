"""Everything that crosses the wire of a league keeps the published contract, in both directions."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

from agent_league.protocol import MESSAGES, TOOLS, Role, name
from agent_league.protocol.contracts import schemas
from agent_league.protocol.failures import NoAnswerError
from agent_league.store.log import NullSink
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, Box, Exchange
from scripted import Scripted, behaves, breaks, in_turn, says, stays_silent
from timewarp import run

VALIDATORS = {answer: Draft202012Validator(schema) for answer, schema in schemas().items()}

SEED_003 = {
    "REFEREE_REGISTER_REQUEST",
    "REFEREE_REGISTER_RESPONSE",
    "LEAGUE_REGISTER_REQUEST",
    "LEAGUE_REGISTER_RESPONSE",
    "ROUND_ANNOUNCEMENT",
    "ROUND_COMPLETED",
    "LEAGUE_STANDINGS_UPDATE",
    "LEAGUE_COMPLETED",
    "GAME_INVITATION",
    "GAME_JOIN_ACK",
    "CHOOSE_PARITY_CALL",
    "CHOOSE_PARITY_RESPONSE",
    "GAME_OVER",
    "GAME_ERROR",
    "MATCH_RESULT_REPORT",
    "LEAGUE_QUERY",
    "LEAGUE_QUERY_RESPONSE",
    "LEAGUE_ERROR",
}
OURS = {
    "START_MATCH",
    "START_MATCH_RESPONSE",
    "MATCH_TRANSCRIPT",
    "GAME_MOVE_CALL",
    "GAME_MOVE_RESPONSE",
}

ROLES = {LEAGUE_URL: Role.LEAGUE}


def role_at(url: str) -> Role:
    return ROLES.get(url, Role.REFEREE if url.startswith("http://ref") else Role.PLAYER)


async def eventful() -> Box:
    """Play a league in which somebody needs corrections, is late, asks badly, asks well."""
    clumsy = Scripted(
        "?",
        {
            "GAME_INVITATION": in_turn(behaves, breaks, behaves),
            "CHOOSE_PARITY_CALL": in_turn(
                says(parity_choice="EVEN"), behaves, says(match_id="X"), stays_silent, behaves
            ),
        },
    )
    box = Box(["random", "markov"], 2, guests=2)
    guest, absent = box.guest(clumsy), box.guest(Scripted("?"))
    await box.open()
    await box.fill()
    await asyncio.sleep(1)  # everybody answers once
    absent.leave()
    await box.manager.run()
    for token in ("tok_forged", None):
        with pytest.raises(NoAnswerError):
            await guest.query("GET_STANDINGS", {}, auth_token=token)
    await guest.query("GET_PLAYER_STATS", {"player_id": "P99"})
    await box.players[0].query("GET_STANDINGS")
    await box.players[0].query("GET_SCHEDULE", round_id=1)
    await box.players[0].query("GET_NEXT_MATCH", player_id="P01")
    await box.players[0].query("GET_PLAYER_STATS", player_id=guest.name)
    await box.guest(Scripted("?")).register()
    await asyncio.sleep(60)
    await box.close()
    return box


class Lasting(NullSink):
    """A sink that the league takes for one that lasts, so that it asks for transcripts."""


async def of_turns() -> Box:
    box = Box(["random", "random"], game_type="tic_tac_toe")
    box.manager.events.attach(Lasting())
    await box.play()
    return box


@pytest.fixture(scope="module")
def exchanges() -> list[Exchange]:
    # The question which dialect a newcomer speaks is no message of the protocol.
    both = [*run(eventful()).exchanges, *run(of_turns()).exchanges]
    return [exchange for exchange in both if b"league_probe" not in exchange.sent]


def messages(exchange: Exchange) -> Iterator[tuple[str, Json]]:
    """Yield each message of an exchange, and what it was: a request, a result or an error."""
    yield "request", exchange.message
    if exchange.answer is None or exchange.answer.status != 200:
        return
    reply = json.loads(exchange.answer.body)
    if "error" in reply:
        yield "error", reply["error"]["data"]
    else:
        yield "result", reply["result"]


def test_every_message_that_crosses_the_wire_is_valid(exchanges: list[Exchange]) -> None:
    answer: set[str] = set()
    by_hand = {"X", "EVEN"}  # what the clumsy player says wrongly, on purpose
    for exchange in exchanges:
        for what, message in messages(exchange):
            kind = message.get("message_type", "ACKNOWLEDGEMENT")
            wrong = {message.get("match_id"), message.get("parity_choice")} & by_hand
            if wrong:
                continue
            VALIDATORS[kind].validate(message)
            answer.add(kind)
            assert what != "error" or kind in {"LEAGUE_ERROR", "GAME_ERROR"}
    assert answer >= SEED_003
    assert answer == {*SEED_003, *OURS, "ACKNOWLEDGEMENT"}


def test_every_request_is_a_json_rpc_call_of_the_tool_of_its_message(
    exchanges: list[Exchange],
) -> None:
    for exchange in exchanges:
        frame = json.loads(exchange.sent)
        assert frame.keys() == {"jsonrpc", "method", "params", "id"}
        assert frame["jsonrpc"] == "2.0"
        assert name(TOOLS[frame["method"]]) == exchange.kind


def test_every_answer_is_the_reply_that_the_request_names(exchanges: list[Exchange]) -> None:
    for exchange in exchanges:
        if exchange.answer is None or exchange.answer.status != 200:
            continue
        reply = json.loads(exchange.answer.body)
        assert reply["id"] == json.loads(exchange.sent)["id"]
        assert reply.keys() == {"jsonrpc", "id", "error" if "error" in reply else "result"}
        wanted = getattr(MESSAGES[exchange.kind], "reply", None)
        if "result" in reply and wanted is not None:
            assert reply["result"]["message_type"] == name(wanted)


def test_every_message_goes_where_its_route_says_and_comes_from_there(
    exchanges: list[Exchange],
) -> None:
    for exchange in exchanges:
        route = MESSAGES[exchange.kind].route
        assert role_at(exchange.url) in route.receiver
        sender = exchange.message["sender"].partition(":")[0]
        assert sender in route.sender


def test_every_message_that_a_member_sends_the_league_after_joining_shows_its_token(
    exchanges: list[Exchange],
) -> None:
    registrations = {"REFEREE_REGISTER_REQUEST", "LEAGUE_REGISTER_REQUEST"}
    forged = 0
    for exchange in exchanges:
        if exchange.url == LEAGUE_URL and exchange.kind not in registrations:
            sender = exchange.message["sender"].partition(":")[2]
            token = exchange.message.get("auth_token", "")
            forged += not token.startswith(f"tok_{sender}_")
    assert forged == 2  # the two bad queries


def test_what_belongs_to_one_match_has_one_conversation(exchanges: list[Exchange]) -> None:
    about = {"GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "GAME_ERROR"}
    talks: dict[str, set[str]] = {}
    for exchange in exchanges:
        if exchange.kind in about:
            match_id = exchange.message["match_id"]
            talks.setdefault(match_id, set()).add(exchange.message["conversation_id"])
    assert talks
    assert {len(conversations) for conversations in talks.values()} == {1}


def test_the_seed_has_eighteen_messages_and_we_add_four() -> None:
    assert len(SEED_003) == 18
    assert MESSAGES.keys() == SEED_003 | OURS
