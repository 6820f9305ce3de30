"""Callers with forms of their own: other paths, other names for tools, queries, other words."""

import asyncio
import json
import logging
from collections.abc import Awaitable
from typing import Any

import msgspec
import pytest

from agent_league.http.exchange import Answer
from agent_league.http.memory import Network
from agent_league.league import LeagueManager
from agent_league.player import Player, load_brain
from agent_league.protocol import tokens
from agent_league.season.settings import LeagueSettings
from agent_league.serving.rest import fill_in
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, player_meta, player_url
from memory_log import MemoryLog
from protocol.samples import SAMPLES
from timewarp import clock, run

BASE = LEAGUE_URL.removesuffix("/mcp")
FLAT = {"display_name": "C1", "version": "1.0.0", "endpoint": "http://127.0.0.1:8201/mcp"}


def league(**changes: Any) -> tuple[Network, LeagueManager]:
    net = Network()
    manager = LeagueManager(LeagueSettings(seed="7", **changes), net, MemoryLog(), clock=clock)
    net.host(LEAGUE_URL, make_site(manager))
    return net, manager


def posted(path: str, body: Json, **changes: Any) -> tuple[int, dict[str, Any]]:
    """Return the status and the body with which a league answers a POST at *path*."""

    async def script() -> Answer:
        net, manager = league(**changes)
        await manager.open()
        try:
            return await net.post(f"{BASE}{path}", json.dumps(body).encode(), 5.0)
        finally:
            await manager.close()

    answer = run(script())
    return answer.status, json.loads(answer.body)


@pytest.mark.parametrize(
    ("path", "body", "role"),
    [
        ("/register", FLAT, "player"),
        ("/register", {**FLAT, "agent_type": "referee"}, "referee"),
        ("/api/v1/register/player", FLAT, "player"),
        ("/api/v1/referees/registration", FLAT, "referee"),
        ("/referee/register", FLAT, "referee"),
        ("/agents", FLAT, "player"),
    ],
)
def test_an_agent_registers_at_a_path_of_its_own(path: str, body: Json, role: str) -> None:
    status, answer = posted(path, body)
    assert (status, answer["status"], answer["agent_type"]) == (200, "registered", role)
    assert answer["agent_id"] == answer[f"{role}_id"]
    assert answer["auth_token"]


def test_a_whole_message_at_such_a_path_is_answered_in_its_own_words() -> None:
    body = msgspec.to_builtins(SAMPLES["LEAGUE_REGISTER_REQUEST"])
    status, answer = posted("/register", body)
    assert (status, answer["status"], answer["registered"]) == (200, "ACCEPTED", True)
    assert answer["sender"] == "league_manager:LM01"


@pytest.mark.parametrize(
    ("body", "changes", "status"),
    [
        ({"display_name": "C1"}, {}, 400),
        ({**FLAT, "supported_game_types": ["chess"]}, {}, 400),
        (FLAT, {"strictness": "strict"}, 400),
        (FLAT, {"max_players": 0, "min_players": 0}, 409),
    ],
)
def test_a_refusal_has_the_status_that_such_callers_read(
    body: Json, changes: dict[str, Any], status: int
) -> None:
    found, answer = posted("/register", body, **changes)
    assert found == status
    assert answer["error"]
    assert answer["status"] == "rejected"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/nothing", {}),
        ("/nothing", {"display_name": "C1"}),
        ("/start_league", {}),
        ("/guests/0", {"jsonrpc": "2.0", "id": 1, "method": "league_probe"}),
        ("/register", []),
    ],
)
def test_what_is_no_message_finds_nothing_there(path: str, body: Json) -> None:
    assert posted(path, body)[0] == 404


def test_a_refused_application_is_shown_once_for_each_cause(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def script() -> None:
        net, manager = league()
        await manager.open()
        for body in [
            {"display_name": "C1"},
            {"display_name": "C2"},
            {**FLAT, "game_types": ["go"]},
        ]:
            for _ in range(3):
                await net.post(f"{BASE}/register", json.dumps(body).encode(), 5.0)
        await manager.close()

    with caplog.at_level(logging.WARNING):
        run(script())
    said = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert len(said) == 2
    assert "contact_endpoint" in said[0]
    assert said[1].startswith("C1 is refused: ")


def tool_call(name: str, arguments: Json) -> bytes:
    params = {"name": name, "arguments": arguments}
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()


def test_a_registration_by_tools_call_may_leave_out_as_much() -> None:
    meta = {"contact_endpoint": "http://localhost:9101/mcp", "game_types": ["even_odd"]}
    body = json.loads(tool_call("register_player", {"player_meta": meta}))
    status, answer = posted("/mcp", body)
    reply = answer["result"]["structuredContent"]
    assert (status, reply["status"], answer["result"]["isError"]) == (200, "ACCEPTED", False)


def test_a_strict_league_refuses_what_a_call_of_a_tool_leaves_out() -> None:
    meta = {"contact_endpoint": "http://localhost:9101/mcp", "game_types": ["even_odd"]}
    body = json.loads(tool_call("register_player", {"player_meta": meta}))
    _, answer = posted("/mcp", body, strictness="strict")
    assert answer["result"]["isError"]


def player() -> Player:
    meta, brain = player_meta(player_url(1)), load_brain("always_even")
    return Player("P01", Network(), LEAGUE_URL, meta=meta, brain=brain, seed="7", clock=clock)


def asked(
    *bodies: bytes,
    accept: str = "application/json",
    agent: Player | None = None,
    query: bytes = b"",
) -> Any:
    """Return what a player answers to the last of *bodies*."""
    site = make_site(agent or player())

    async def script() -> Any:
        answer: Answer | Awaitable[Answer] | None = None
        for body in bodies:
            filled = site.fill_in(body, query)
            answer = site.answer(filled, ((b"accept", accept.encode()),))
            if not isinstance(answer, Answer):
                assert answer is not None
                answer = await answer
        assert isinstance(answer, Answer)
        assert answer.status == 200
        return json.loads(answer.body)

    return run(script())


INVITATION: dict[str, Json] = msgspec.to_builtins(SAMPLES["GAME_INVITATION"])
QUESTION: dict[str, Json] = msgspec.to_builtins(SAMPLES["CHOOSE_PARITY_CALL"])


@pytest.mark.parametrize("accept", ["application/json", "*/*", "text/plain"])
def test_tools_are_called_by_what_their_names_mean(accept: str) -> None:
    context = {"context": {"opponent_id": "", "round_id": 0}}
    answer = asked(
        tool_call("receive_game_invitation", INVITATION),
        tool_call("choose_parity", QUESTION | context),
        accept=accept,
    )
    assert answer["result"]["structuredContent"]["parity_choice"] == "even"
    # Some referees look beside the content.
    assert answer["result"]["parity_choice"] == answer["result"]["choice"] == "even"


def test_an_unknown_tool_is_an_error_that_any_client_can_read() -> None:
    assert asked(tool_call("fly_to_the_moon", {}))["error"]["code"] == -32602


def call(method: str, params: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 3, "method": method, "params": params}).encode()


def test_whoever_shows_no_ticket_finds_the_reply_in_every_place_and_word() -> None:
    invited = asked(call("handle_game_invitation", {"game_id": "game_1"}))
    assert invited["result"]["type"] == invited["message_type"] == "GAME_JOIN_ACK"
    assert invited["result"]["accepted"] is invited["accept"] is True
    assert invited["result"]["game_id"] == "game_1"
    assert invited["id"] == 3
    bodies = [call(name, {"game_id": "g"}) for name in ("handle_game_invitation", "parity_choose")]
    moved = asked(*bodies)
    assert moved["result"]["choice"] == moved["parity_choice"] == "even"
    over = asked(*bodies, call("notify_match_result", {"game_id": "g", "winner": None}))
    assert over["result"]["ok"] is True
    assert set(over) == {"jsonrpc", "id", "result"}


def test_whoever_writes_as_the_protocol_asks_gets_the_reply_and_nothing_else() -> None:
    invited = asked(call("handle_game_invitation", INVITATION | {"auth_token": "tok_REF01_x"}))
    assert set(invited) == {"jsonrpc", "id", "result"}
    assert "accepted" not in invited["result"]


def test_a_question_that_is_repeated_is_answered_in_other_words_too() -> None:
    question = call("handle_game_invitation", INVITATION | {"auth_token": "tok_REF01_x"})
    assert "accepted" not in asked(question)["result"]
    again = asked(question, question)
    assert again["result"]["accepted"] is again["accept"] is True
    ticket = call("handle_game_invitation", INVITATION | {"auth_token": "tkt_x"})
    assert "accepted" not in asked(ticket, ticket)["result"]  # our own referee reads our own words


def test_the_query_of_an_endpoint_proves_a_referee_that_shows_no_ticket() -> None:
    async def register(agent: Player) -> None:
        agent.token, agent.league_signs = "tok_P01_secret", True

    agent = player()
    asyncio.run(register(agent))
    key = tokens.hash_token("tok_P01_secret")
    ticket = tokens.sign_for_any([key], "R1M1", "conv-1", "P01")
    query = f"match_id=R1M1&conversation_id=conv-1&auth_token={ticket}".encode()
    bodies = (
        call("handle_game_invitation", {"game_id": "g"}),
        call("parity_choose", {"game_id": "g"}),
    )
    moved = asked(*bodies, agent=agent, query=query)
    assert (moved["result"]["choice"], moved["result"]["match_id"]) == ("even", "R1M1")
    assert moved["result"]["game_id"] == "g"


@pytest.mark.parametrize(
    ("params", "filled"),
    [
        ({}, {"match_id": "R1M1", "conversation_id": "c", "auth_token": "t"}),
        (
            {"auth_token": "", "conversation_id": "mine"},
            {"match_id": "R1M1", "conversation_id": "c", "auth_token": "t"},
        ),
        (
            {"auth_token": "own", "conversation_id": "mine"},
            {"match_id": "R1M1", "conversation_id": "mine", "auth_token": "own"},
        ),
    ],
)
def test_a_query_fills_in_what_a_message_leaves_out(params: Json, filled: Json) -> None:
    query = b"match_id=R1M1&conversation_id=c&auth_token=t&other=x"
    assert json.loads(fill_in(call("x", params), query))["params"] == filled
    inner = json.loads(fill_in(tool_call("x", params), query))["params"]["arguments"]
    assert inner == filled
    assert json.loads(fill_in(json.dumps(params).encode(), query)) == filled


def test_a_body_that_is_no_object_stays_as_it_is() -> None:
    assert fill_in(b"[1", b"match_id=R1M1") == b"[1"
    assert fill_in(b"{ }", b"x=1") == b"{ }"
