"""Our league orders a match from a third-party referee in whichever form that referee has."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from agent_league.dialects.v2.order_forms import (
    ORDER_FORMS,
    find_order_path,
    format_match,
    is_order_path,
    locate_order,
)
from agent_league.dialects.v2.session import V2Session
from agent_league.http.exchange import Answer
from agent_league.peers.line import Line
from agent_league.protocol import Patience
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.failures import UnreachableError
from agent_league.protocol.play import StartMatch
from protocol.samples import SAMPLES
from timewarp import run

ORDER: dict[str, Any] = msgspec.to_builtins(SAMPLES["START_MATCH"])
RPC = {"jsonrpc": "2.0"}
FIRST, SECOND = (player["player_id"] for player in ORDER["players"])


def test_every_form_says_who_sends_it_as_the_examples_do() -> None:
    for form in ORDER_FORMS:
        if form.path is None:
            params = json.loads(form.write(ORDER, 1))["params"]
            assert params.get("arguments", params).get("sender", "league_manager:LM01") == (
                "league_manager:LM01"
            )


@pytest.mark.parametrize("seats", [("_A", "_B"), ("_a", "_b"), ("1", "2")])
def test_a_player_is_named_in_every_way_that_referees_look_for(seats: tuple[str, str]) -> None:
    match = format_match(ORDER)
    assert [match[f"player{seat}_id"] for seat in seats] == [FIRST, SECOND]
    assert all(match[f"player{seat}_endpoint"].startswith("http://") for seat in seats)
    assert [match[key]["display_name"] for key in ("player1", "player2")] == [FIRST, SECOND]


def test_what_only_our_referee_may_know_is_in_no_form() -> None:
    for form in ORDER_FORMS:
        body = form.write(ORDER, 1)
        assert ORDER["ticket"].encode() not in body
        assert ORDER["seed"].encode() not in body


def test_the_endpoint_of_a_player_carries_what_proves_its_referee() -> None:
    (player, _) = ORDER["players"]
    query = parse_qs(urlsplit(format_match(ORDER)["player_A_endpoint"]).query)
    assert query == {
        "match_id": [ORDER["match_id"]],
        "conversation_id": [ORDER["conversation_id"]],
        "auth_token": [player["ticket"]],
    }


def test_an_order_to_a_path_has_its_fields_in_the_query_and_the_ticket_behind_the_round() -> None:
    url = locate_order("http://ref/mcp", "/admin/run_match", ORDER)
    query = parse_qs(urlsplit(url).query)
    assert url.startswith("http://ref/admin/run_match?")
    assert query["player_a_id"] == [FIRST]
    assert query["round_id"] == [f"R{ORDER['round_id']}~{ORDER['ticket']}"]


def find_path(answer: Answer | None) -> str | None:
    async def get(url: str, within: float) -> Answer:
        assert url == "http://ref/openapi.json"
        if answer is None:
            raise UnreachableError("nobody is there")
        return answer

    return run(find_order_path("http://ref/mcp", get, 1.0))


def test_the_path_of_orders_is_read_from_the_description_of_the_server() -> None:
    paths: dict[str, Any] = {
        "/mcp": {"post": {}},
        "/run_match": {"get": {}},
        "/v1/start-match": {"post": {}},
    }
    assert find_path(Answer(200, json.dumps({"paths": paths}).encode())) == "/v1/start-match"


@pytest.mark.parametrize(
    "answer", [None, Answer(404, b'{"detail": "Not Found"}'), Answer(200, b"[]"), Answer(200, b"<")]
)
def test_a_server_without_a_description_names_no_path(answer: Answer | None) -> None:
    assert find_path(answer) is None


def test_only_the_name_of_an_order_is_a_path_of_orders() -> None:
    assert is_order_path("/admin/run_match")
    assert not is_order_path("/admin/start_league")


def test_an_order_that_fails_while_another_finds_the_form_is_given_in_that_form() -> None:
    first = SAMPLES["START_MATCH"]
    assert isinstance(first, StartMatch)
    second = msgspec.structs.replace(first, match_id="R9M9")

    async def main() -> list[str]:
        is_found = asyncio.Event()

        async def post(url: str, body: bytes, within: float) -> Answer:
            await asyncio.sleep(0)  # both orders are on their way
            frame = json.loads(body or b"{}")
            params = frame.get("params", {})
            taken = {"status": "ACCEPTED", "match_id": params.get("match_id")}
            if frame.get("method") == "START_MATCH" and params["sender"] != "league_manager":
                is_found.set()
                return Answer(200, json.dumps({**RPC, "id": frame["id"], "result": taken}).encode())
            if params.get("match_id") == second.match_id:
                await is_found.wait()
            unknown = {"code": -32601, "message": "Method not found"}
            return Answer(
                404, json.dumps({**RPC, "id": frame.get("id"), "error": unknown}).encode()
            )

        line = Line(V2Session("http://referee/mcp", post), Patience())
        ledger = Ledger("REF01", strict=False)
        replies = await asyncio.gather(*(line.ask(order, 5.0, None, ledger) for order in orders))
        return [reply.status for reply in replies]

    orders = (first, second)
    assert run(main()) == ["ACCEPTED", "ACCEPTED"]
