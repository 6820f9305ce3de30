"""T12, T7, T24: whoever floods a league has to wait, and the league around it plays on."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest

from agent_league.guests.guest import MOST_CALLS
from agent_league.http import allowances, slow_lane
from agent_league.http.allowances import BURST, LOCAL_REFUSAL_COST, REMOTE_REFUSAL_COST
from agent_league.http.limits import ConnectionLimit
from agent_league.member import Member
from agent_league.protocol.queries import RefereeClaim
from agent_league.running.serve import LOOPBACK
from attacks.stranger import Stranger, refusal_of, write, write_move_call
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


Asked: TypeAlias = Callable[[], Awaitable[tuple[bytes, bytes]]]


@asynccontextmanager
async def repeating(
    league: HttpLeague, body: bytes, source: str = LOOPBACK
) -> AsyncIterator[Asked]:
    """Yield what sends *body* on one connection of *source*, and returns head and body of the answer."""
    host, port = league.url.removeprefix("http://").removesuffix("/mcp").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), local_addr=(source, 0))
    head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body

    async def ask() -> tuple[bytes, bytes]:
        writer.write(request)
        lines = await reader.readuntil(b"\r\n\r\n")
        length = int(lines.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return lines, await reader.readexactly(length)

    try:
        yield ask
    finally:
        writer.close()


async def flood(league: HttpLeague, body: bytes, source: str = LOOPBACK) -> list[int]:
    """Send *body* on one connection until it has to wait, and return the statuses."""
    statuses: list[int] = []
    async with repeating(league, body, source) as ask:
        while len(statuses) < FLOOD and 429 not in statuses:
            lines, answer = await ask()
            statuses.append(int(lines.split()[1]))
    if statuses[-1] == 429:
        assert json.loads(answer)["error"]["data"]["error_code"] == "E027"
        assert b"retry-after: 1" in lines
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


def test_forged_calls_to_a_player_do_not_become_a_flood_of_queries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    confirm = Member.confirm_referee

    async def count(member: Member, claim: RefereeClaim) -> bool:
        asked.append(claim.match_id)
        return await confirm(member, claim)

    monkeypatch.setattr(Member, "confirm_referee", count)

    async def script(league: HttpLeague) -> None:
        player = await league.add_player()
        stranger = Stranger(league)
        codes = []
        for number in range(90):
            call = write_move_call(f"R1M{number}", "P01", auth_token="tkt_guessed")
            codes.append(refusal_of(await stranger.post(player.endpoint, "choose_parity", call)))
        assert "E027" in codes
        assert len(asked) < 70, "each forged call costs the league a query"

    played(script, awaited_players=2)


LIST_TOOLS = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()


def test_one_machine_cannot_use_up_a_league_with_requests_to_the_sdk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slow_lane, "PAUSE", 0.05)

    async def script(league: HttpLeague) -> None:
        answered, has_begun = list[str](), asyncio.Event()

        async def ask_once(source: str) -> None:
            async with repeating(league, LIST_TOOLS, source) as ask:
                assert b"get_standings" in (await ask())[1]
                answered.append(source)
                if len(answered) > 2:
                    has_begun.set()

        await ask_once(LOOPBACK)  # now the SDK is loaded
        others = [asyncio.ensure_future(ask_once("127.0.0.2")) for _ in range(30)]
        await has_begun.wait()
        await ask_once("127.0.0.3")
        assert answered.count("127.0.0.2") < 10, "who asks once waits behind who floods"
        await asyncio.gather(*others)

    played(script)


def test_refusals_of_many_machines_together_are_limited() -> None:
    async def script(league: HttpLeague) -> None:
        sources = [f"127.0.0.{number}" for number in range(2, 22)]
        floods = await asyncio.gather(*(flood(league, FORGED, source) for source in sources))
        refused = sum(map(len, floods)) - len(floods)
        alone = BURST // REMOTE_REFUSAL_COST
        assert refused < 20 * alone / 2
        assert all(statuses[-1] == 429 for statuses in floods)

    played(script)


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
