"""A stranger: it has no token, knows what everybody can read, and posts what it likes over HTTP."""

import json
from typing import Any

from agent_league.http.client import HttpClient
from agent_league.member import Member
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague

TIME = "2026-01-15T10:30:00Z"


def write(kind: str, sender: str = "referee:REF01", /, **fields: Json) -> Json:
    """Return a message as the documents have it."""
    envelope = {"protocol": "league.v2", "message_type": kind, "sender": sender}
    return {**envelope, "timestamp": TIME, "conversation_id": "conv-r1m1-001", **fields}


def write_order(match_id: str, endpoint: str, **fields: Json) -> Json:
    """Return an order to play a match between two players that the stranger has made up."""
    players = [{"player_id": who, "endpoint": endpoint} for who in ("P01", "P02")]
    own: Json = {"match_id": match_id, "game_type": "even_odd", "players": players, "round_id": 1}
    return write("MATCH_ASSIGNMENT", "league_manager", **own, league_id="any", **fields)


def write_move_call(match_id: str, player_id: str, **fields: Json) -> Json:
    own: Json = {"match_id": match_id, "player_id": player_id, "game_type": "even_odd"}
    return write("CHOOSE_PARITY_CALL", **own, deadline="2036-01-15T10:30:00Z", **fields)


def write_game_over(match_id: str, winner: str, **fields: Json) -> Json:
    """Return a result in which *winner* won with "even" against "odd"."""
    result = {
        "status": "WIN",
        "winner_player_id": winner,
        "drawn_number": 2,
        "number_parity": "even",
        "choices": {"P01": "even", "P02": "odd"},
        "reason": "forged",
    }
    own: Json = {"match_id": match_id, "game_type": "even_odd", "game_result": result}
    return write("GAME_OVER", **own, **fields)


def write_league_completed(league_id: str, **fields: Json) -> Json:
    champion = {"player_id": "P01", "display_name": "Stranger", "points": 99}
    totals = {"total_rounds": 1, "total_matches": 1, "final_standings": []}
    own: Json = {"league_id": league_id, "champion": champion, **totals}
    return write("LEAGUE_COMPLETED", "league_manager", **own, **fields)


class Stranger:
    """Posts to any agent of a league."""

    def __init__(self, league: HttpLeague) -> None:
        self.league = league
        self.wire: HttpClient = league.wire

    async def post(self, url: str, method: str, params: Json) -> Any:
        """Return the frame of the answer."""
        frame = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
        answer = await self.wire.post(url, json.dumps(frame).encode(), 20.0)
        return json.loads(answer.body)

    async def register_again(self, member: Member) -> str:
        """Register the endpoint of another agent, and return the token that comes for it."""
        kind, tool = "REFEREE_REGISTER_REQUEST", "register_referee"
        if member.role == "player":
            kind, tool = "LEAGUE_REGISTER_REQUEST", "register_player"
        meta = {
            "display_name": "Stranger",
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": member.endpoint,
        }
        request = write(kind, f"{member.role}:stranger", **{f"{member.role}_meta": meta})
        reply = await self.post(self.league.url, tool, request)
        return str(reply["result"]["auth_token"])

    async def ask_for_match(self, token: str) -> Any:
        """Ask for the next match of REF01, as some referees do."""
        league_id = self.league.manager.settings.league_id
        fields = {"league_id": league_id, "query_type": "GET_NEXT_MATCH", "query_params": {}}
        query = write("LEAGUE_QUERY", auth_token=token, **fields)
        return (await self.post(self.league.url, "league_query", query))["result"]

    async def report(self, match_id: str, token: str, winner: str, **fields: Json) -> Any:
        """Report that *winner* won a match of REF01."""
        result = {"winner": winner, "score": {}, "details": {"forged": True}}
        own: Json = {"league_id": "any", "round_id": 1, "match_id": match_id, "result": result}
        report = write(
            "MATCH_RESULT_REPORT", auth_token=token, game_type="even_odd", **own, **fields
        )
        return await self.post(self.league.url, "report_match_result", report)


def refusal_of(answer: Any) -> str:
    """Return the error code of *answer*; an answer that is no refusal fails the test."""
    assert "error" in answer, answer
    return str(answer["error"]["data"]["error_code"])
