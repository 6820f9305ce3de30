"""The check's own league: agents register there, report there, and may ask."""

from agent_league.check.exchange import Exchange
from agent_league.check.letters import LEAGUE_ID, Letters
from agent_league.check.talks.stand_ins import StandIn
from agent_league.protocol import Role, tokens
from agent_league.vocabulary import Json

GIVEN = {Role.PLAYER: "P77", Role.REFEREE: "REF77"}
_REQUESTS = {
    "LEAGUE_REGISTER_REQUEST": Role.PLAYER,
    "REFEREE_REGISTER_REQUEST": Role.REFEREE,
}
_RESPONSES = {
    Role.PLAYER: ("LEAGUE_REGISTER_RESPONSE", "player_id"),
    Role.REFEREE: ("REFEREE_REGISTER_RESPONSE", "referee_id"),
}


class Reception:
    """Admits everybody, and gives each part the one id that it has."""

    def __init__(self, letters: Letters) -> None:
        self._letters = letters
        self.tokens = {role: tokens.new_token(given) for role, given in GIVEN.items()}
        self.league = StandIn(self._reply)

    def _reply(self, said: Json) -> Json:
        kind = str(said.get("message_type")).upper()
        role = _REQUESTS.get(kind)
        if role is not None:
            return self._admitted(role, said)
        if kind == "LEAGUE_QUERY":
            return self._standings(said)
        return {"status": "ok", "match_id": said.get("match_id")}

    def _admitted(self, role: Role, said: Json) -> Json:
        response, own_id = _RESPONSES[role]
        return {
            **self._stamp(said),
            "message_type": response,
            "status": "ACCEPTED",
            own_id: GIVEN[role],
            "reason": None,
            "auth_token": self.tokens[role],
            "league_id": LEAGUE_ID,
        }

    def _standings(self, said: Json) -> Json:
        found = {"query_type": said.get("query_type"), "success": True, "data": {"standings": []}}
        return {**self._stamp(said), "message_type": "LEAGUE_QUERY_RESPONSE", **found}

    def _stamp(self, said: Json) -> Json:
        return self._letters.stamp(Role.LEAGUE, str(said.get("conversation_id") or "conv-check"))

    async def registration(self, within: float) -> tuple[Role, Exchange] | None:
        """Return who asked to be let in, and how, waiting for it so many seconds."""
        heard = await self.league.hears(None, within, *_REQUESTS)
        return (_REQUESTS[heard.kind], heard.exchange) if heard else None
