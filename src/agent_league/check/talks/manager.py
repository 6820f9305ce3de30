"""What the check does to a league manager: asks, and with consent takes part. It judges nothing."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from agent_league.check.letters import GAME, QUERIES, Letters
from agent_league.check.seen import ManagerSeen, Progress, Trial
from agent_league.check.talks.caller import Caller
from agent_league.check.talks.stand_ins import StandIn
from agent_league.protocol import Role
from agent_league.vocabulary import Json

NO_TOKEN = "tok_P00_not-a-token-of-yours"
NOBODY = "P99999"
OF_PLAYERS = ("GET_NEXT_MATCH", "GET_PLAYER_STATS")


class Entrant:
    """A referee or a player that the check sends into the league."""

    def __init__(self, role: Role, number: int) -> None:
        self.role, self.name = role, f"Check {role} {number}"
        self.server = StandIn(self._reply)
        self.agent_id = ""
        self.token = ""
        self.orders: asyncio.Queue[Json] = asyncio.Queue()
        """The matches that a referee was given."""

    def _reply(self, said: Json) -> Json:
        if said.get("message_type") != "START_MATCH":
            return {"status": "ok"}
        self.orders.put_nowait(said)
        kept = {key: said.get(key) for key in ("protocol", "timestamp", "conversation_id")}
        taken = {"message_type": "START_MATCH_RESPONSE", "sender": f"referee:{self.agent_id}"}
        verdict = {"match_id": said.get("match_id"), "status": "ACCEPTED", "reason": None}
        return {**kept, **taken, **verdict}

    def meta(self, **changes: Json) -> Json:
        own = {"display_name": self.name, "version": "1.0.0", "game_types": [GAME]}
        room = {"max_concurrent_matches": 10} if self.role is Role.REFEREE else {}
        made = {**own, "contact_endpoint": self.server.url, **room, **changes}
        return {key: value for key, value in made.items() if value is not None}


class ManagerTalk:
    """A conversation with one league manager, written down in *seen*."""

    def __init__(
        self, caller: Caller, letters: Letters, seen: ManagerSeen, progress: Progress
    ) -> None:
        self._caller, self._letters, self._seen = caller, letters, seen
        self._progress = progress
        self._league_id = "league_check"
        self._referee = Entrant(Role.REFEREE, 1)
        self._players: Sequence[Entrant] = ()

    async def look(self) -> None:
        """Ask only what changes nothing."""
        self._progress("questions")
        query = self._query("GET_STANDINGS", token=None)
        self._seen.calls = [await self._caller.say_first(query, lambda said: not said.unknown)]
        self._seen.shunned = self._caller.shunned
        self._seen.string_id = await self._caller.say(query, id="check-1")
        if self._seen.calls[0].problem():
            self._seen.stopped = self._seen.unentered = "it did not answer the first question"
            return
        false = self._query("GET_STANDINGS", token=NO_TOKEN)
        self._seen.asked["false token"] = await self._caller.say(false)
        self._progress("bad input")
        for name, body in self._caller.spoiled(false, required="query_type").items():
            bad = await self._caller.send(body)
            self._seen.trials[name] = Trial(bad, await self._caller.say(query))

    async def take_part(self, players: int, host: str) -> None:
        """Register a referee and so many players at *host*, and play along if it begins."""
        if self._seen.calls[0].problem():
            return
        self._players = [Entrant(Role.PLAYER, number + 1) for number in range(players)]
        async with AsyncExitStack() as opened:
            for entrant in (self._referee, *self._players):
                await entrant.server.open(host)
                opened.push_async_callback(entrant.server.close)
            try:
                await self._enter()
                await self._play_along()
            finally:
                told = [heard for player in self._players for heard in player.server.heard]
                notices = [heard for heard in told if "message_type" in heard.message]
                self._seen.notices = sorted(notices, key=lambda heard: heard.at)

    async def _enter(self) -> None:
        self._progress("registrations")
        await self._refused_registrations()
        await self._register("referee", self._referee)
        for number, player in enumerate(self._players, 1):
            if number == len(self._players):
                await self._questions()
            await self._register(f"player {number}", player)
        self._seen.ids = [player.agent_id for player in self._players]

    async def _refused_registrations(self) -> None:
        """Try to be let in as nobody may be."""
        wrong: dict[str, dict[str, Json]] = {
            "no name": {"display_name": None},
            "no endpoint": {"contact_endpoint": None},
            "unknown game": {"game_types": ["quidditch"]},
            "old version": {"protocol_version": "1.0.0"},
        }
        for name, changes in wrong.items():
            request = self._application(Entrant(Role.PLAYER, 0), **changes)
            if "contact_endpoint" in request["player_meta"]:
                request["player_meta"]["contact_endpoint"] = self._players[0].server.url
            self._seen.asked[name] = await self._caller.say(request)

    async def _register(self, name: str, entrant: Entrant) -> None:
        said = await self._caller.say(self._application(entrant))
        self._seen.asked[name] = said
        message = said.message or {}
        key = "referee_id" if entrant.role is Role.REFEREE else "player_id"
        entrant.agent_id, entrant.token = (
            str(message.get(key) or ""),
            str(message.get("auth_token") or ""),
        )
        self._league_id = str(message.get("league_id") or self._league_id)
        if message.get("status") == "REJECTED":
            self._seen.unentered = f"the league lets nobody in: {message.get('reason')!s:.80}"

    async def _questions(self) -> None:
        """Ask everything, before the last player makes the league begin."""
        asks = self._players[0]
        if not asks.token:
            return
        for query_type in QUERIES:
            params = {"player_id": asks.agent_id} if query_type in OF_PLAYERS else {}
            query = self._query(query_type, token=asks.token, who=asks.agent_id, **params)
            self._seen.asked[query_type] = await self._caller.say(query)
        nobody = self._query("GET_PLAYER_STATS", asks.token, asks.agent_id, player_id=NOBODY)
        self._seen.asked["nobody"] = await self._caller.say(nobody)
        report = self._report({"match_id": "R1M1", "round_id": 1}, NO_TOKEN)
        self._seen.asked["forged report"] = await self._caller.say(report)

    async def _play_along(self) -> None:
        """Report a result for each match that the check's referee is given, until the end."""
        if not all(player.agent_id for player in self._players):
            self._seen.stopped = self._seen.unentered
            return
        listener, patience = self._players[0].server, self._caller.patience
        self._progress("waiting for the league to begin")
        if await listener.hears(None, patience.generic, "ROUND_ANNOUNCEMENT") is None:
            self._seen.stopped = "the league did not begin with the players of the check"
            return
        self._progress("playing along")
        reporting = asyncio.ensure_future(self._referee_matches())
        try:
            await listener.hears(None, patience.move, "LEAGUE_COMPLETED")
        finally:
            reporting.cancel()
        self._seen.stopped = "the league had not come to its end"

    async def _referee_matches(self) -> None:
        while True:
            order = await self._referee.orders.get()
            said = await self._caller.say(self._report(order, self._referee.token))
            self._seen.reports.append(said)

    def _application(self, entrant: Entrant, **changes: Json) -> Json:
        kind, key = (
            ("REFEREE_REGISTER_REQUEST", "referee_meta")
            if entrant.role is Role.REFEREE
            else ("LEAGUE_REGISTER_REQUEST", "player_meta")
        )
        sender = f"{entrant.role}:{entrant.name.replace(' ', '-').lower()}"
        stamp = self._letters.stamp(sender, f"conv-check-{entrant.name[-1]}")
        return {**stamp, "message_type": kind, key: entrant.meta(**changes)}

    def _query(
        self, query_type: str, token: str | None, who: str = "check", **params: Json
    ) -> Json:
        made: dict[str, Any] = {
            **self._letters.stamp(f"{Role.PLAYER}:{who}", "conv-check-query"),
            "message_type": "LEAGUE_QUERY",
            "league_id": self._league_id,
            "query_type": query_type,
            "query_params": params,
        }
        return {**made, "auth_token": token} if token else made

    def _report(self, order: Json, token: str) -> Json:
        """Return the report that the first of the two players won."""
        contestants = [each.get("player_id") for each in order.get("players", [])]
        first, second = (*contestants, "P01", "P02")[:2] if not contestants else contestants[:2]
        match_id = str(order.get("match_id"))
        sender = f"{Role.REFEREE}:{self._referee.agent_id or 'check'}"
        return {
            **self._letters.stamp(sender, f"conv-{match_id.lower()}-report"),
            "message_type": "MATCH_RESULT_REPORT",
            "auth_token": token,
            "league_id": self._league_id,
            "round_id": order.get("round_id", 1),
            "match_id": match_id,
            "game_type": GAME,
            "result": {
                "winner": first,
                "score": {first: 3, second: 0},
                "details": {"drawn_number": 8, "choices": {first: "even", second: "odd"}},
            },
            **({"ticket": order["ticket"]} if "ticket" in order else {}),
        }
