"""One of our referees with two scripted players and a scripted league, for tests of a match."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from agent_league.dialects.v2.session import V2Session
from agent_league.http.memory import Network
from agent_league.peers.line import Line
from agent_league.protocol import Patience, Request, tokens
from agent_league.protocol.play import Contestant, MatchAccepted, StartMatch
from agent_league.referee import Referee
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, referee_meta
from scripted import STAMP, Behaviour, Scripted, hosted
from timewarp import clock, now, run

REFEREE_URL = "http://ref01/mcp"
URLS = {"P01": "http://p01/mcp", "P02": "http://p02/mcp"}
TOKEN = tokens.new_token("REF01")

Script = Mapping[str, Behaviour]


def admits(**changes: Json) -> Behaviour:
    """Admit the referee, with these changes of the usual reply."""
    admitted = {
        **STAMP,
        "message_type": "REFEREE_REGISTER_RESPONSE",
        "sender": "league_manager",
        "status": "ACCEPTED",
        "referee_id": "REF01",
        "reason": None,
        "auth_token": TOKEN,
        "league_id": "league_2025_even_odd",
    }
    return lambda call: call.returns({**admitted, **changes})


class Arena:
    """All agents that a match needs; *first* and *second* define how the players behave."""

    def __init__(
        self,
        first: Script | None = None,
        second: Script | None = None,
        league: Script | None = None,
        **meta: Any,
    ) -> None:
        self.net = Network()
        self.first, self.second = Scripted("P01", first), Scripted("P02", second)
        self.league = Scripted("LM", {"REFEREE_REGISTER_REQUEST": admits(), **(league or {})})
        chosen = referee_meta(REFEREE_URL, **meta)
        self.referee = Referee("REF01", self.net, LEAGUE_URL, meta=chosen, clock=clock)
        self.net.host(LEAGUE_URL, hosted(self.league))
        self.net.host(REFEREE_URL, make_site(self.referee))
        for player in self.players:
            self.net.host(URLS[player.who], hosted(player))
        self._line = Line(V2Session(REFEREE_URL, self.net.post), Patience())

    @property
    def players(self) -> tuple[Scripted, Scripted]:
        return self.first, self.second

    def contestant(self, player_id: str, **changes: Any) -> Contestant:
        ticket = f"tkt_{player_id}"
        return Contestant(
            **{"player_id": player_id, "endpoint": URLS[player_id], "ticket": ticket, **changes}
        )

    def order(self, match_id: str = "R1M1", token: str = TOKEN, **changes: Any) -> StartMatch:
        """Return the order that the league would write for this referee."""
        ticket = changes.get("ticket", f"tkt_{match_id}")
        proof = tokens.sign_ticket(tokens.hash_token(token), match_id, ticket)
        fields: dict[str, Any] = {
            **STAMP,
            "sender": "league_manager",
            "conversation_id": f"conv-{match_id.lower()}-001",
            "auth_token": proof,
            "league_id": "league_2025_even_odd",
            "round_id": 1,
            "match_id": match_id,
            "game_type": "even_odd",
            "players": [self.contestant("P01"), self.contestant("P02")],
            "ticket": ticket,
            "seed": "arena",
        }
        return StartMatch(**{**fields, **changes})

    async def ask(self, request: Request[Any]) -> Any:
        """Send *request* to the referee."""
        return await self._line.ask(request)

    async def start(self, **changes: Any) -> MatchAccepted:
        """Register the referee if need be, and give it a match."""
        if self.referee.token is None:
            await self.referee.register()
        accepted: MatchAccepted = await self.ask(self.order(**changes))
        return accepted

    async def use(self, tool: str, **arguments: Json) -> Json:
        """Call a tool of the referee by hand; return its result, or its error."""
        frame = {"jsonrpc": "2.0", "method": tool, "params": arguments, "id": 1}
        answer = await self.net.post(REFEREE_URL, json.dumps(frame).encode(), 100.0)
        reply = json.loads(answer.body)
        return reply.get("result", reply.get("error"))

    async def play(self, **changes: Any) -> None:
        """Play one match, to the report."""
        accepted = await self.start(**changes)
        assert accepted.status == "ACCEPTED"
        await self.league.has_heard("MATCH_RESULT_REPORT")

    @property
    def report(self) -> Json:
        """The one report that the league was sent."""
        (report,) = self.league.messages("MATCH_RESULT_REPORT")
        return report

    @property
    def result(self) -> Json:
        return self.report["result"]

    @property
    def reported_at(self) -> float:
        return self.league.times("MATCH_RESULT_REPORT")[0]


def contest(
    first: Script | None = None, second: Script | None = None, **changes: Any
) -> tuple[Arena, float]:
    """Play one match, and wait for late messages; return the arena and the seconds to the report."""

    async def main() -> tuple[Arena, float]:
        arena = Arena(first, second)
        await arena.play(**changes)
        took = now()
        await asyncio.sleep(60)
        await arena.referee.close()
        return arena, took

    return run(main())
