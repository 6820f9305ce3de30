"""What the check does with a league manager: it asks, and with consent takes part.

It judges nothing.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import get_args

from agent_league.check.exchange import Exchange
from agent_league.check.messages import GAME, LEAGUE_ID, REFEREE_ID, CheckMessages
from agent_league.check.observations import ManagerObservations, Progress
from agent_league.check.sessions.client import ProbeClient
from agent_league.check.sessions.fake_peers import Entrant
from agent_league.protocol import Role
from agent_league.protocol.queries import PublicQuery, Query
from agent_league.vocabulary import Json

FALSE_TOKEN = "tok_P00_not-a-token-of-yours"
UNKNOWN_PLAYER = "P99999"
NO_CONSENT = "it would change the league: --allow-registration"
REFEREE_PORT, FIRST_PLAYER_PORT = 8001, 8100
"""Where the documents put REF01, and the port below that of P01."""
FIRST_BAD_NUMBER = 91
"""Each wrong registration comes from somebody else: P91, P92, ..."""
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
        self.progress("questions")
        query = self._make_query("GET_STANDINGS", token=None)
        first = await self.client.ask(query, _is_league_answer)
        self.observations.calls = [first]
        if first.problem():
            self.observations.stop_reason = "it did not answer the first question"
            return
        self.observations.knows_queries = _is_league_answer(first)
        self.observations.requests["anonymous no token"] = first
        false_query = self._make_query("GET_STANDINGS", token=FALSE_TOKEN)
        anonymous = await self.client.send_message(false_query)
        self.observations.requests["anonymous false token"] = anonymous
        if self.player_count:
            await self._take_part()
        else:
            self.observations.stop_reason = NO_CONSENT
            await self._send_bad_input(query)

    async def _send_bad_input(self, query: Json) -> None:
        self.progress("bad input")
        async for name, trial in self.client.run_trials(query, "query_type", query):
            self.observations.trials[name] = trial

    async def _take_part(self) -> None:
        """Register a referee and players, and play along if the league begins."""
        self._referee = Entrant(Role.REFEREE, REFEREE_ID, self.messages)
        ids = [f"P{number:02}" for number in range(1, self.player_count + 1)]
        self._players = [Entrant(Role.PLAYER, own_id, self.messages) for own_id in ids]
        async with AsyncExitStack() as stack:
            await self._referee.open_at(stack, self.host, REFEREE_PORT)
            for number, player in enumerate(self._players, 1):
                await player.open_at(stack, self.host, FIRST_PLAYER_PORT + number)
            try:
                await self._register_all()
                await self._play_along()
            finally:
                received = [got for player in self._players for got in player.received]
                notices = [got for got in received if "message_type" in got.message]
                self.observations.notices = sorted(notices, key=lambda got: got.at)

    async def _register_all(self) -> None:
        self.progress("registrations")
        for number, (name, changes) in enumerate(BAD_REGISTRATIONS.items(), FIRST_BAD_NUMBER):
            nobody = Entrant(Role.PLAYER, f"P{number}", self.messages)
            nobody.url = f"{self._players[0].url}?{nobody.own_id}"  # the same place, another name
            registration = nobody.make_registration(**changes)
            self.observations.requests[name] = await self.client.ask(registration, _is_admission)
        *early, last = self._players
        for entrant in (self._referee, *early):
            await self._register(entrant)
        await self._ask_queries()
        await self._register(last)

    async def _register(self, entrant: Entrant) -> None:
        exchange = await self.client.ask(entrant.make_registration(), _is_admission)
        self.observations.registrations.append(exchange)
        entrant.agent_id = str(exchange.get(f"{entrant.role}_id") or exchange.get("agent_id") or "")
        entrant.token = str(exchange.get("auth_token") or "")
        self._league_id = str(exchange.get("league_id") or self._league_id)
        if not entrant.agent_id:
            reason = str(exchange.get("reason") or exchange.refusal_text())
            self.observations.stop_reason = f"the league accepts nobody: {reason:.80}"

    async def _ask_queries(self) -> None:
        """Ask everything, before the last player makes the league begin."""
        player, requests = self._players[0], self.observations.requests
        report = self._make_report({"match_id": "R1M1", "round_id": 1}, FALSE_TOKEN)
        valid = self._make_query("GET_STANDINGS", player.token, player.agent_id)
        if player.agent_id:
            requests["forged report"] = await self.client.ask(report)
            self.client.give_another_chance()
        await self._send_bad_input(valid)
        if not player.agent_id or not self.observations.knows_queries:
            return
        for query_type in get_args(PublicQuery):
            params = {"player_id": player.agent_id} if query_type in PLAYER_QUERIES else {}
            query = self._make_query(query_type, player.token, player.agent_id, **params)
            requests[query_type] = await self.client.ask(query)
        others: dict[str, tuple[str | None, dict[str, Json]]] = {
            "nobody": (player.token, {"player_id": UNKNOWN_PLAYER}),
            "no token": (None, {"player_id": player.agent_id}),
            "false token": (FALSE_TOKEN, {"player_id": player.agent_id}),
        }
        for name, (token, params) in others.items():
            query_type = "GET_PLAYER_STATS" if name == "nobody" else "GET_STANDINGS"
            query = self._make_query(query_type, token, player.agent_id, **params)
            requests[name] = await self.client.send_message(query)

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
            ended = await listener.wait_for(None, patience.move, "LEAGUE_COMPLETED")
        finally:
            reporting.cancel()
        self.observations.stop_reason = (
            "the league did not end"
            if self.observations.reports or ended
            else "the referee of the check got no order for a match that it understood"
        )

    async def _report_matches(self) -> None:
        while True:
            report = self._make_report(await self._referee.orders.get(), self._referee.token)
            self.observations.reports.append(await self.client.ask(report))

    def _make_query(
        self, query_type: str, token: str | None, sender_id: str = "P01", **params: Json
    ) -> Json:
        return self.messages.write(
            Query,
            f"{Role.PLAYER}:{sender_id or 'P01'}",
            "conv-check-query",
            league_id=self._league_id,
            query_type=query_type,
            query_params=params,
            auth_token=token,
        )

    def _make_report(self, order: Json, token: str) -> Json:
        """Return the report that the first of the two players won."""
        first, second = find_player_ids(order)
        match_id = str(order.get("match_id"))
        sender = f"{Role.REFEREE}:{self._referee.agent_id or REFEREE_ID}"
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


def find_player_ids(order: Json) -> tuple[str, str]:
    """Return the ids of the two players of a match, whichever fields of the order hold them."""
    players = order.get("players")
    listed = [one.get("player_id") for one in players or [] if isinstance(one, dict)]
    seats = [order.get(f"player_{a}_id") or order.get(f"player_{a.lower()}_id") for a in "AB"]
    found = [str(each) for each in (listed or seats) if each]
    return (found[0], found[1]) if len(found) > 1 else ("P01", "P02")


def _is_league_answer(exchange: Exchange) -> bool:
    """Whether a query was understood: it was answered, or refused for what is in it."""
    types = ("LEAGUE_QUERY_RESPONSE", "LEAGUE_ERROR")
    is_known = not exchange.is_refusal and "success" in (exchange.message or {})
    is_typed = exchange.reply_or_error.get("message_type") in types
    return is_known or _refuses_content(exchange) or (is_typed and not exchange.is_unknown_call)


def _refuses_content(exchange: Exchange) -> bool:
    """Whether a framed call is known, and refused for what is in it."""
    return exchange.is_refusal and not exchange.is_unknown_call and bool(exchange.called)


def _is_admission(exchange: Exchange) -> bool:
    """Whether a registration was answered, with a yes or a no."""
    is_answered = not exchange.is_refusal and "status" in (exchange.message or {})
    has_id = any(exchange.get(key) for key in ("player_id", "referee_id", "agent_id"))
    return _refuses_content(exchange) or has_id or is_answered
