"""T19: no version that somebody claims gives a right, makes a server error, or is taken for another."""

from typing import Any

import pytest

from agent_league.protocol.versions import PROTOCOLS, V1
from agent_league.vocabulary import Json
from attacks.stranger import Stranger, refusal_of, write, write_move_call
from attacks.test_players import endpoint_of, while_the_match_is_on
from end_to_end.http_league import HttpLeague, played

TOO_OLD = ("0.0.1", "1.0.0", "1.9.9", "1.99999.0", "1.9.9+2.1.0")
NO_VERSION: tuple[Json, ...] = (
    "v2.1.0",
    "latest",
    "",
    "2.1.0 ",
    "2.1.0\n",
    "2.1.0\0",
    "\uff12.1.0",
    "-1.0.0",
    "1e9.0.0",
    "9" * 400 + ".0.0",
    2.1,
    ["2.1.0"],
    {"major": 2},
    True,
)
NO_PROTOCOL: tuple[Json, ...] = (
    "league.v3",
    "league.v0",
    "league.v2.1",
    "LEAGUE.V2",
    "league.v2 ",
    "league.v2\0",
    "\uff4ceague.v2",
    2,
    ["league.v2"],
    {"league.v2": True},
)


def write_registration(version: Json, protocol: Json = "league.v2") -> Json:
    meta = {
        "display_name": "Eve",
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": "http://127.0.0.1:9/mcp",
        "protocol_version": version,
    }
    message = write("LEAGUE_REGISTER_REQUEST", "player:eve", player_meta=meta)
    return {**message, "protocol": protocol}


async def register(league: HttpLeague, message: Json) -> Any:
    return await Stranger(league).post(league.url, "register_player", message)


def test_whoever_speaks_too_old_a_version_is_not_let_in() -> None:
    async def script(league: HttpLeague) -> None:
        for version in TOO_OLD:
            reply = (await register(league, write_registration(version)))["result"]
            assert (reply["status"], reply["error_code"]) == ("REJECTED", "E018"), version
            assert "2.0.0" in reply["reason"], "it is told what is spoken here"
        assert not league.manager.season.roster.entries()

    played(script)


def test_what_is_no_version_is_refused_by_name() -> None:
    async def script(league: HttpLeague) -> None:
        for version in NO_VERSION:
            answer = await register(league, write_registration(version))
            assert refusal_of(answer) == "E022", version
            assert "player_meta.protocol_version" in answer["error"]["message"]
        assert not league.manager.season.roster.entries()

    played(script)


def test_a_protocol_that_nobody_speaks_is_refused_for_every_message() -> None:
    async def script(league: HttpLeague) -> None:
        for protocol in NO_PROTOCOL:
            answer = await register(league, write_registration("2.1.0", protocol))
            assert refusal_of(answer) == "E018", protocol
            query = {**write("LEAGUE_QUERY", query_type="GET_STANDINGS"), "protocol": protocol}
            answer = await Stranger(league).post(league.url, "league_query", query)
            assert refusal_of(answer) == "E018", protocol
        assert not league.manager.season.roster.entries()

    played(script)


def test_the_older_protocol_is_spoken_only_where_the_league_admits_it() -> None:
    async def script(league: HttpLeague) -> None:
        reply = (await register(league, write_registration("2.1.0", V1)))["result"]
        assert reply["status"] == "REJECTED"
        assert "speaks league.v2, not league.v1" in reply["reason"]
        assert not league.manager.season.roster.entries()

    played(script, protocols=("league.v2",))


@pytest.mark.parametrize("protocol", [*PROTOCOLS, "league.v3", "", None])
def test_no_protocol_gets_a_move_or_reports_a_result_without_proof(protocol: Json) -> None:
    async def attack(league: HttpLeague, stranger: Stranger) -> None:
        call = {**write_move_call("R1M1", "P01"), "protocol": protocol}
        answer = await stranger.post(endpoint_of(league, "P01"), "choose_parity", call)
        assert "error" in answer
        assert "parity_choice" not in str(answer)
        result = {"winner": "P01", "score": {}, "details": {}}
        own: Json = {"league_id": "any", "round_id": 1, "match_id": "R1M1", "result": result}
        report = write("MATCH_RESULT_REPORT", game_type="even_odd", **own)
        for kind in ("MATCH_RESULT_REPORT", "GAME_RESULT", "MATCH_RESULT"):
            forged = {**report, "message_type": kind, "protocol": protocol}
            answer = await stranger.post(league.url, "report_match_result", forged)
            assert "error" in answer, kind

    league = while_the_match_is_on(attack)
    assert league.manager.season.tally["TECHNICAL_LOSS"] == 0
    assert league.manager.season.played == 1
