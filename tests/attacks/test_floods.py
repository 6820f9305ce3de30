"""T12, T7, T24: whoever floods a league has to wait, and the league around it plays on."""

import asyncio
import json
from typing import Any

import pytest

from agent_league.guests.guest import MOST_CALLS
from agent_league.http import allowances
from agent_league.http.allowances import LOCAL_REFUSAL_COST
from agent_league.http.limits import ConnectionLimit
from attacks.stranger import Stranger, refusal_of, write
from end_to_end.http_league import HttpLeague, played
from guests.guest_box import Caller, ToolError

FLOOD = 400


def write_query(league: HttpLeague, token: str) -> Any:
    fields = {"league_id": league.manager.settings.league_id, "query_type": "GET_STANDINGS"}
    return write("LEAGUE_QUERY", "player:P01", auth_token=token, **fields, query_params={})


def test_one_agent_cannot_ask_more_often_than_its_quota() -> None:
    async def script(league: HttpLeague) -> None:
        await league.add_referee()
        greedy, modest = await league.add_player(), await league.add_player()
        stranger = Stranger(league)
        answers = []
        for _ in range(240):
            query = write_query(league, str(greedy.token))
            answers.append(await stranger.post(league.url, "league_query", query))
        refused = [answer for answer in answers if "error" in answer]
        assert refused
        assert {refusal_of(answer) for answer in refused} == {"E027"}
        query = {**write_query(league, str(modest.token)), "sender": "player:P02"}
        answer = await stranger.post(league.url, "league_query", query)
        assert answer["result"]["success"]

    played(script, awaited_players=2)


def test_the_same_endpoint_cannot_be_registered_again_and_again() -> None:
    async def script(league: HttpLeague) -> None:
        player = await league.add_player()
        stranger = Stranger(league)
        meta = {
            "display_name": "Eve",
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": player.endpoint,
        }
        message = write("LEAGUE_REGISTER_REQUEST", "player:eve", player_meta=meta)
        before = len(list(league.events))
        codes = []
        for _ in range(100):
            reply = await stranger.post(league.url, "register_player", message)
            codes.append(reply["result"].get("error_code"))
        assert "E027" in codes
        assert len(list(league.events)) - before < 80, "a flood fills the disk"

    played(script)


async def flood(league: HttpLeague, body: bytes) -> list[int]:
    """Send *body* on one connection until it has to wait, and return the statuses."""
    host, port = league.url.removeprefix("http://").removesuffix("/mcp").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    statuses: list[int] = []
    while len(statuses) < FLOOD and 429 not in statuses:
        writer.write(request)
        lines = await reader.readuntil(b"\r\n\r\n")
        length = int(lines.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        statuses.append(int(lines.split()[1]))
    if statuses[-1] == 429:
        assert json.loads(answer)["error"]["data"]["error_code"] == "E027"
        assert b"retry-after: 1" in lines
    writer.close()
    return statuses


FORGED = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "league_query",
        "params": write("LEAGUE_QUERY", auth_token="tok_P01_guessed", query_type="GET_STANDINGS"),
    }
).encode()


@pytest.mark.parametrize("body", [FORGED, b"{", b"[1,2]"], ids=["token", "not JSON", "no frame"])
def test_a_flood_of_wrong_requests_has_to_wait_and_the_league_plays_on(
    body: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(allowances, "BURST", 50 * LOCAL_REFUSAL_COST)
    monkeypatch.setattr(allowances, "LOCAL_RATE", 10 * LOCAL_REFUSAL_COST)

    async def script(league: HttpLeague) -> None:
        league.servers[0].limit = ConnectionLimit(1000)
        await league.add_referee()
        for _ in range(4):
            await league.add_player()
        season = asyncio.ensure_future(league.play())
        floods = await asyncio.gather(*(flood(league, body) for _ in range(3)))
        await season
        assert all(statuses[-1] == 429 for statuses in floods)
        assert league.manager.season.played == 6
        assert not any(ended.forfeits for ended in league.manager.season.results.values())

    played(script, awaited_players=4)
    warnings = [
        one.getMessage() for one in caplog.records if "too many requests" in one.getMessage()
    ]
    assert len(warnings) == 1, "the operator is told once"


def test_one_guest_cannot_hold_every_connection_with_calls_that_wait() -> None:
    async def script(league: HttpLeague) -> None:
        async def post(body: bytes) -> bytes:
            return (await league.wire.post(league.url, body, 60.0)).body

        greedy, modest = Caller(post, "Greedy"), Caller(post, "Modest")
        await greedy.join()
        await modest.join()
        waits = [asyncio.ensure_future(greedy.wait(2.0)) for _ in range(MOST_CALLS)]
        await asyncio.sleep(0.2)  # until all of them wait
        with pytest.raises(ToolError) as refused:
            await greedy.wait(2.0)
        assert refused.value.code == "E027"
        assert (await modest.wait(0.1))["status"] == "NO_TURN_YET"
        assert {one["status"] for one in await asyncio.gather(*waits)} == {"NO_TURN_YET"}

    played(script, awaited_players=4)
