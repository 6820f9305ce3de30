"""Our referee in a third-party league: it understands its orders, and finds its players."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from agent_league.http.exchange import Answer
from agent_league.referee.address_book import guess_endpoint
from agent_league.serving.site import make_site
from arena import REFEREE_URL, URLS, Arena
from league_box import LEAGUE_URL, referee_meta
from scripted import STAMP, Call, hosted
from timewarp import run

ORDER = {"match_id": "R1M1", "round_id": "R1", "player_a_id": "P01", "player_b_id": "P02"}
ENDPOINTS = {f"player_{seat}_endpoint": url for seat, url in zip("ab", URLS.values(), strict=True)}


def framed(method: str, params: dict[str, Any]) -> bytes:
    frame = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
    return json.dumps(frame).encode()


async def order(arena: Arena, params: dict[str, Any], method: str = "START_MATCH") -> Any:
    """Send an order to the referee of *arena*; return its result, or its error."""
    if arena.referee.token is None:
        await arena.referee.register()
    answer = await arena.net.post(REFEREE_URL, framed(method, params), 1000.0)
    reply = json.loads(answer.body)
    return reply.get("result", reply.get("error"))


def abroad(script: Callable[[Arena], Awaitable[Any]], **options: Any) -> tuple[Arena, Any]:
    arena = Arena(**options)

    async def main() -> Any:
        result = await script(arena)
        await asyncio.sleep(5)
        await arena.referee.close()
        return result

    return arena, run(main())


def reports(arena: Arena) -> list[Any]:
    return arena.league.messages("MATCH_RESULT_REPORT")


def test_an_order_with_little_in_it_is_played_and_reported() -> None:
    arena, answer = abroad(lambda arena: order(arena, {**ORDER, **ENDPOINTS}))
    assert answer["status"] == "ACCEPTED"
    (report,) = reports(arena)
    assert (report["match_id"], report["round_id"]) == ("R1M1", 1)
    assert report["league_id"] == "league_2025_even_odd"  # the one that was joined


def test_an_order_may_be_the_query_of_a_path() -> None:
    async def script(arena: Arena) -> Answer:
        await arena.referee.register()
        base = REFEREE_URL.removesuffix("/mcp")
        url = f"{base}/admin/run_match?{urlencode({**ORDER, **ENDPOINTS})}"
        return await arena.net.post(url, b"", 1000.0)

    arena, answer = abroad(script)
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "ACCEPTED")
    assert [report["match_id"] for report in reports(arena)] == ["R1M1"]


@pytest.mark.parametrize(
    "players",
    [
        {"player1_id": "P01", "player2_id": "P02"}
        | {"player1_endpoint": URLS["P01"], "player2_endpoint": URLS["P02"]},
        {f"player{n}": {"display_name": f"P0{n}", "endpoint": URLS[f"P0{n}"]} for n in (1, 2)},
        {"players": ["P01", "P02"], "player_a": "P01", "player_b": "P02", **ENDPOINTS},
    ],
)
def test_players_are_found_under_many_names(players: dict[str, Any]) -> None:
    arena, answer = abroad(lambda arena: order(arena, {"match_id": "R2M1", **players}))
    assert answer["status"] == "ACCEPTED"
    assert [report["round_id"] for report in reports(arena)] == [2]


def knows_players(call: Call) -> Answer:
    rows = [{"player_id": who, "contact_endpoint": url} for who, url in URLS.items()]
    return call.returns({"data": {"players": rows}})


def test_players_without_endpoints_are_asked_for_at_the_league() -> None:
    arena, answer = abroad(
        lambda arena: order(arena, ORDER), league={"LEAGUE_QUERY": knows_players}
    )
    assert answer["status"] == "ACCEPTED"
    assert len(reports(arena)) == 1


def test_players_without_endpoints_are_looked_up_in_the_file_of_agents() -> None:
    async def script(arena: Arena) -> Any:
        referee = type(arena.referee)(
            "REF01", arena.net, LEAGUE_URL, meta=referee_meta(REFEREE_URL), addresses=URLS
        )
        arena.referee = referee
        arena.net.host(REFEREE_URL, make_site(referee))
        return await order(arena, ORDER)

    arena, answer = abroad(script)
    assert answer["status"] == "ACCEPTED"
    assert len(reports(arena)) == 1


def test_players_without_endpoints_are_tried_at_the_ports_of_the_documents() -> None:
    async def script(arena: Arena) -> Any:
        host = LEAGUE_URL.removesuffix("/mcp")
        for number, player in enumerate(arena.players, 1):
            arena.net.host(f"{host}:{8100 + number}/mcp", hosted(player))
        return await order(arena, ORDER)

    arena, answer = abroad(script)
    assert answer["status"] == "ACCEPTED"
    assert len(reports(arena)) == 1


def test_only_ids_of_the_documents_have_a_port() -> None:
    assert guess_endpoint("P04", "http://host:9000/mcp") == "http://host:8104/mcp"
    assert guess_endpoint("Alice", "http://host:9000/mcp") is None


def test_an_order_whose_players_nobody_knows_is_refused_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def script(arena: Arena) -> list[Any]:
        return [await order(arena, ORDER), await order(arena, {**ORDER, "match_id": "R1M2"})]

    arena, answers = abroad(script)
    assert all("nobody says where P01 listens" in answer["message"] for answer in answers)
    said = [record.getMessage() for record in caplog.records]
    assert len([text for text in said if "cannot play with P01" in text]) == 1
    assert not reports(arena)


def announce(**match: Any) -> dict[str, Any]:
    entry = {"match_id": "R1M1", "game_type": "even_odd", "player_A_id": "P01"}
    entry |= {"player_B_id": "P02", "referee_endpoint": REFEREE_URL, **match}
    stamp = {**STAMP, "sender": "league_manager"}
    league = {"message_type": "ROUND_ANNOUNCEMENT", "league_id": "theirs", "round_id": 1}
    return {**stamp, **league, "matches": [entry]}


def test_an_announcement_of_a_league_that_does_not_sign_is_an_order() -> None:
    arena, _ = abroad(
        lambda arena: order(arena, announce(), "round_announcement"),
        league={"LEAGUE_QUERY": knows_players},
    )
    (report,) = reports(arena)
    assert report["league_id"] == "theirs"


def test_an_announcement_of_a_league_that_signs_is_no_order() -> None:
    async def script(arena: Arena) -> Any:
        await arena.referee.register()
        arena.referee.league_signs = True
        return await order(arena, announce(), "notify_round")

    arena, answer = abroad(script, league={"LEAGUE_QUERY": knows_players})
    assert answer["status"] == "ok"
    assert not arena.first.calls("GAME_INVITATION")


@pytest.mark.parametrize(
    ("url", "body"),
    [
        (REFEREE_URL, framed("run_match", {**ORDER, **ENDPOINTS})),
        (REFEREE_URL, framed("START_MATCH", {**ORDER, **ENDPOINTS})),
        (
            REFEREE_URL,
            framed("tools/call", {"name": "start_match", "arguments": {**ORDER, **ENDPOINTS}}),
        ),
        (REFEREE_URL.replace("/mcp", f"/admin/run_match?{urlencode(ORDER | ENDPOINTS)}"), b""),
    ],
)
def test_a_referee_whose_league_signs_takes_no_order_in_another_form(url: str, body: bytes) -> None:
    async def script(arena: Arena) -> bytes:
        await arena.referee.register()
        arena.referee.league_signs = True
        return (await arena.net.post(url, body, 10.0)).body

    arena, answer = abroad(script)
    assert b"signs its orders" in answer
    assert not arena.first.received


def test_an_order_to_a_path_is_taken_in_a_league_that_does_not_sign() -> None:
    async def script(arena: Arena) -> Any:
        await arena.referee.register()
        url = REFEREE_URL.replace("/mcp", f"/admin/run_match?{urlencode(ORDER | ENDPOINTS)}")
        return json.loads((await arena.net.post(url, b"", 10.0)).body)

    arena, answer = abroad(script)
    assert answer["status"] == "ACCEPTED"
    assert len(reports(arena)) == 1


def test_a_match_that_is_announced_and_ordered_is_played_once() -> None:
    async def script(arena: Arena) -> Any:
        await order(arena, announce(), "round_announcement")
        await asyncio.sleep(2)
        return await order(arena, {**ORDER, **ENDPOINTS})

    arena, answer = abroad(script, league={"LEAGUE_QUERY": knows_players})
    assert answer["status"] == "ACCEPTED"
    assert len(reports(arena)) == 1


def test_orders_beyond_the_capacity_wait_for_a_place() -> None:
    async def script(arena: Arena) -> list[str]:
        orders = [{**ORDER, **ENDPOINTS, "match_id": f"R1M{number}"} for number in range(1, 5)]
        return [(await order(arena, one))["status"] for one in orders]

    arena, answers = abroad(script, max_concurrent_matches=1)
    assert answers == ["ACCEPTED"] * 4
    assert [one["match_id"] for one in reports(arena)] == ["R1M1", "R1M2", "R1M3", "R1M4"]


def admits_without_token(call: Call) -> Answer:
    return call.returns({"status": "registered", "referee_id": "REF01"})


def test_a_league_that_wants_the_result_as_the_answer_gets_it_there() -> None:
    names = {f"player{n}": {"display_name": f"P0{n}", "endpoint": URLS[f"P0{n}"]} for n in (1, 2)}
    arena, answer = abroad(
        lambda arena: order(arena, {"match_id": "match_1f", **names}, "run_match"),
        league={"REFEREE_REGISTER_REQUEST": admits_without_token},
    )
    assert answer["match_id"] == "match_1f"
    assert {answer["player1"], answer["player2"]} == {"P01", "P02"}
    assert {answer["player1_choice"], answer["player2_choice"]} <= {"even", "odd"}
    assert answer["dice_roll"] in range(1, 11)
    assert answer["is_draw"] is (answer["winner"] is None)
    assert not reports(arena)


def test_a_player_that_is_called_by_its_tools_is_recognised() -> None:
    calls: list[str] = []

    def serve(body: bytes) -> Answer:
        frame = json.loads(body)
        calls.append(frame["method"])
        tools = {"tools": [{"name": "handle_game_invitation"}, {"name": "choose_parity"}]}
        hello = {"protocolVersion": "2024-11-05", "serverInfo": {"name": "P", "version": "1"}}
        results = {"initialize": {**hello, "capabilities": {"tools": {}}}, "tools/list": tools}
        if frame["method"] in results:
            result: Any = results[frame["method"]]
        elif frame["method"] == "tools/call":
            text = json.dumps({"status": "ACK", "parity_choice": "even"})
            result = {"content": [{"type": "text", "text": text}]}
        else:
            error = {"code": -32601, "message": "Method not found"}
            body = json.dumps({"jsonrpc": "2.0", "error": error, "id": frame.get("id")}).encode()
            return Answer(200, body)
        frame = {"jsonrpc": "2.0", "result": result, "id": frame.get("id")}
        return Answer(200, json.dumps(frame).encode())

    async def script(arena: Arena) -> Any:
        arena.net.host(URLS["P02"], hosted(serve))
        return await order(arena, {**ORDER, **ENDPOINTS})

    arena, _ = abroad(script)
    assert "tools/call" in calls
    (report,) = reports(arena)
    assert report["result"]["details"]["choices"]["P02"] == "even"
