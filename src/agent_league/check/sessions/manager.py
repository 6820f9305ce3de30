"""What the check does with a league manager: it asks, and with consent takes part.

It judges nothing.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import get_args

from agent_league.check.messages import GAME, LEAGUE_ID, CheckMessages
from agent_league.check.observations import ManagerObservations, Progress
from agent_league.check.sessions.client import ProbeClient
from agent_league.check.sessions.fake_peers import Entrant
from agent_league.protocol import Role
from agent_league.protocol.queries import PublicQuery, Query
from agent_league.vocabulary import Json

FALSE_TOKEN = "tok_P00_not-a-token-of-yours"
UNKNOWN_PLAYER = "P99999"
NO_CONSENT = "it would change the league: --allow-registration"
PLAYER_QUERIES = ("GET_NEXT_MATCH", "GET_PLAYER_STATS")
BAD_REGISTRATIONS: dict[str, dict[str, Json]] = {
    "no endpoint": {"contact_endpoint": None},
    "unknown game": {"game_types": ["quidditch"]},
    "old version": {"protocol_version": "1.0.0"},
}


@dataclass
class ManagerSession:
    """A conversation with one league manager, kept in *observations*."""

    client: ProbeClient
    messages: CheckMessages
    progress: Progress
    host: str
    """Where the players and the referee of the check listen."""
    player_count: int
    """How many players take part; none without consent."""
    observations: ManagerObservations = field(default_factory=ManagerObservations)
    _league_id: str = LEAGUE_ID
    _players: Sequence[Entrant] = ()
    _referee: Entrant = field(init=False)

    async def run(self) -> None:
        """Ask only what changes nothing; then take part, if that is allowed."""
        if not await self._probe():
            self.observations.stop_reason = "it did not answer the first question"
        elif not self.player_count:
            self.observations.stop_reason = NO_CONSENT
        else:
            await self._take_part()

    async def _probe(self) -> bool:
        self.progress("questions")
        observations, send = self.observations, self.client.send_message
        query = self._make_query("GET_STANDINGS", token=None)
        first = await self.client.send_first(query, lambda answer: not answer.is_unknown_method)
        observations.calls = [first]
        observations.string_id = await send(query, "check-1")
        if first.problem():
            return False
        false_query = self._make_query("GET_STANDINGS", token=FALSE_TOKEN)
        observations.requests["false token"] = await send(false_query)
        self.progress("bad input")
        async for name, trial in self.client.run_trials(false_query, "query_type", query):
            observations.trials[name] = trial
        return True

    async def _take_part(self) -> None:
        """Register a referee and players, and play along if the league begins."""
        self._referee = Entrant(Role.REFEREE, 1, self.messages)
        self._players = [
            Entrant(Role.PLAYER, number, self.messages)
            for number in range(1, self.player_count + 1)
        ]
        async with AsyncExitStack() as stack:
            for entrant in (self._referee, *self._players):
                await entrant.open(stack, self.host)
            try:
                await self._register_all()
                await self._play_along()
            finally:
                received = [got for player in self._players for got in player.received]
                notices = [got for got in received if "message_type" in got.message]
                self.observations.notices = sorted(notices, key=lambda got: got.at)

    async def _register_all(self) -> None:
        self.progress("registrations")
        for name, changes in BAD_REGISTRATIONS.items():
            nobody = Entrant(Role.PLAYER, 0, self.messages)
            nobody.url = self._players[0].url
            registration = nobody.make_registration(**changes)
            self.observations.requests[name] = await self.client.send_message(registration)
        *early, last = self._players
        for entrant in (self._referee, *early):
            await self._register(entrant)
        await self._ask_queries()
        await self._register(last)

    async def _register(self, entrant: Entrant) -> None:
        exchange = await self.client.send_message(entrant.make_registration())
        self.observations.registrations.append(exchange)
        entrant.agent_id = str(exchange.get(f"{entrant.role}_id") or "")
        entrant.token = str(exchange.get("auth_token") or "")
        self._league_id = str(exchange.get("league_id") or self._league_id)
        if exchange.get("status") == "REJECTED":
            reason = f"{exchange.get('reason')!s:.80}"
            self.observations.stop_reason = f"the league accepts nobody: {reason}"

    async def _ask_queries(self) -> None:
        """Ask everything, before the last player makes the league begin."""
        player, requests = self._players[0], self.observations.requests
        if not player.token:
            return
        for query_type in get_args(PublicQuery):
            params = {"player_id": player.agent_id} if query_type in PLAYER_QUERIES else {}
            query = self._make_query(query_type, player.token, player.agent_id, **params)
            requests[query_type] = await self.client.send_message(query)
        nobody = self._make_query(
            "GET_PLAYER_STATS", player.token, player.agent_id, player_id=UNKNOWN_PLAYER
        )
        requests["nobody"] = await self.client.send_message(nobody)
        report = self._make_report({"match_id": "R1M1", "round_id": 1}, FALSE_TOKEN)
        requests["forged report"] = await self.client.send_message(report)

    async def _play_along(self) -> None:
        """Report a result for each match that the check's referee is given, until the end."""
        if not all(player.agent_id for player in self._players):
            return
        listener, patience = self._players[0], self.client.patience
        self.progress("waiting for the league to begin")
        if await listener.wait_for(None, patience.generic, "ROUND_ANNOUNCEMENT") is None:
            self.observations.stop_reason = "the league did not begin with the players of the check"
            return
        self.progress("playing along")
        reporting = asyncio.ensure_future(self._report_matches())
        try:
            await listener.wait_for(None, patience.move, "LEAGUE_COMPLETED")
        finally:
            reporting.cancel()
        self.observations.stop_reason = "the league did not end"

    async def _report_matches(self) -> None:
        while True:
            report = self._make_report(await self._referee.orders.get(), self._referee.token)
            self.observations.reports.append(await self.client.send_message(report))

    def _make_query(
        self, query_type: str, token: str | None, sender_id: str = "check", **params: Json
    ) -> Json:
        return self.messages.write(
            Query,
            f"{Role.PLAYER}:{sender_id}",
            "conv-check-query",
            league_id=self._league_id,
            query_type=query_type,
            query_params=params,
            auth_token=token,
        )

    def _make_report(self, order: Json, token: str) -> Json:
        """Return the report that the first of the two players won."""
        playing = [player.get("player_id") for player in order.get("players", [])]
        first, second = (playing or ["P01", "P02"])[:2]
        match_id = str(order.get("match_id"))
        sender = f"{Role.REFEREE}:{self._referee.agent_id or 'check'}"
        return {
            **self.messages.envelope(sender, f"conv-{match_id.lower()}-report"),
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
