"""A league manager written without our package, right but in what it is told to do wrong."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from check.crooked_player import RefusalError

Body = dict[str, Any]
STAMP = {
    "protocol": "league.v2",
    "sender": "league_manager",
    "timestamp": "2025-01-15T10:30:00Z",
    "league_id": "league_plain",
}
REGISTRATIONS = {
    "LEAGUE_REGISTER_REQUEST": ("LEAGUE_REGISTER_RESPONSE", "player", "P"),
    "REFEREE_REGISTER_REQUEST": ("REFEREE_REGISTER_RESPONSE", "referee", "REF"),
}
PLAYERS = 2


class WrongError(Exception):
    """What it answers with a LEAGUE_ERROR of this code."""


class PlainManager:
    """A right manager of a league of two players and one match."""

    def __init__(self) -> None:
        self.wire = HttpClient()
        self.agents: dict[str, Body] = {}
        self.reported = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        for task in tuple(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.wire.close()

    async def __call__(self, body: bytes) -> Answer:
        frame: Body = {}
        try:
            frame = json.loads(body)
            result = self.result(frame["params"])
        except (ValueError, KeyError) as error:
            return self.framed(frame, error={"code": -32602, "message": repr(error)})
        except RefusalError as error:
            return self.framed(frame, error={"code": -32601, "message": str(error)})
        except WrongError as error:
            return self.framed(frame, error=self.complaint(str(error)))
        return self.framed(frame, result=self.spoken(result))

    def framed(self, frame: Body, **reply: Any) -> Answer:
        return Answer(200, json.dumps({"jsonrpc": "2.0", "id": frame.get("id"), **reply}).encode())

    def complaint(self, code: str) -> Body:
        data = {**STAMP, "message_type": "LEAGUE_ERROR", "error_code": code}
        return {"code": -32000, "message": code, "data": self.spoken(data)}

    def spoken(self, message: Body) -> Body:
        """Return what is said in the end."""
        return message

    def result(self, reply: Body) -> Body:
        kind = reply.get("message_type")
        if kind in REGISTRATIONS:
            return self.register(reply, *REGISTRATIONS[kind])
        if kind == "LEAGUE_QUERY":
            self.authenticate(reply)
            return self.query(reply)
        if kind == "MATCH_RESULT_REPORT":
            self.authenticate(reply)
            return self.take(reply)
        raise RefusalError("method not found")

    def authenticate(self, reply: Body) -> None:
        token = reply.get("auth_token")
        if not token:
            raise WrongError("E011")
        if token not in [agent["token"] for agent in self.agents.values()]:
            raise WrongError("E012")

    # Registration.

    def register(self, reply: Body, response: str, role: str, letter: str) -> Body:
        meta = reply[f"{role}_meta"]
        reason = self.objection(meta)
        made = {**STAMP, "message_type": response, "conversation_id": reply["conversation_id"]}
        if reason:
            return {**made, "status": "REJECTED", f"{role}_id": None, "reason": reason}
        agent_id = f"{letter}{sum(key.startswith(letter) for key in self.agents) + 1:02}"
        agent_id = self.named(agent_id)
        token = self.token(agent_id)
        self.agents[agent_id] = {"url": meta["contact_endpoint"], "token": token, "role": role}
        self.perhaps_begin()
        accepted = {"status": "ACCEPTED", f"{role}_id": agent_id, "reason": None}
        return {**made, **accepted, "auth_token": token}

    def objection(self, meta: Body) -> str | None:
        if not meta.get("display_name") or not meta.get("contact_endpoint"):
            raise WrongError("E003")
        if "even_odd" not in meta["game_types"]:
            return "Unsupported game type"
        if str(meta.get("protocol_version", "2.1.0")) < "2.0.0":
            return "Protocol version mismatch"
        return None

    def named(self, agent_id: str) -> str:
        return agent_id

    def token(self, agent_id: str) -> str:
        return f"tok_{agent_id}_0123456789"

    def perhaps_begin(self) -> None:
        if sum(agent["role"] == "player" for agent in self.agents.values()) == PLAYERS:
            task = asyncio.get_running_loop().create_task(self.play())
            self.tasks.add(task)

    # Queries and results.

    def query(self, reply: Body) -> Body:
        kind, who = reply["query_type"], reply["query_params"].get("player_id")
        made = {**STAMP, "message_type": "LEAGUE_QUERY_RESPONSE", "query_type": kind}
        if who is not None and not self.knows(who):
            error = {"error_code": "E005", "error_name": "PLAYER_NOT_REGISTERED"}
            return {**made, "success": False, "error": error}
        return {**made, "success": True, "data": {}}

    def knows(self, player_id: str) -> bool:
        return player_id in self.agents

    def take(self, reply: Body) -> Body:
        self.reported.set()
        return {"status": "ok", "match_id": reply["match_id"]}

    # The season.

    async def post(self, agent: str, message: Body) -> None:
        reply = self.spoken({**STAMP, "conversation_id": "conv-league", **message})
        frame = {"jsonrpc": "2.0", "method": "say", "params": reply, "id": 1}
        await self.wire.post(self.agents[agent]["url"], json.dumps(frame).encode(), 2.0)

    async def everybody(self, kind: str, **fields: Any) -> None:
        for agent in self.agents:
            await self.post(agent, {"message_type": kind, **fields})

    async def play(self) -> None:
        await asyncio.sleep(0)
        players = [agent for agent in self.agents if agent.startswith("P")]
        await self.everybody("ROUND_ANNOUNCEMENT", round_id=1, matches=self.matches(players))
        contestants = [
            {"player_id": player, "endpoint": self.agents[player]["url"], "ticket": "t"}
            for player in players
        ]
        order = {"match_id": "R1M1", "round_id": 1, "players": contestants, "ticket": "tkt_1"}
        await self.post("REF01", {"message_type": "START_MATCH", **order})
        await self.reported.wait()
        await self.finish(players)

    def matches(self, players: list[str]) -> list[Body]:
        match = {"match_id": "R1M1", "game_type": "even_odd", "referee_endpoint": "http://r/mcp"}
        return [{**match, "player_A_id": players[0], "player_B_id": players[1]}]

    async def finish(self, players: list[str]) -> None:
        await self.everybody("LEAGUE_STANDINGS_UPDATE", round_id=1, standings=self.table(players))
        await self.everybody("ROUND_COMPLETED", round_id=1, summary=self.summary())
        champion = {"player_id": players[0], "display_name": "First", "points": 3}
        final = [{"rank": rank, "player_id": who} for rank, who in enumerate(players, 1)]
        await self.everybody("LEAGUE_COMPLETED", champion=champion, final_standings=final)

    def table(self, players: list[str]) -> list[Body]:
        won = {"played": 1, "wins": 1, "draws": 0, "losses": 0, "points": 3}
        lost = {"played": 1, "wins": 0, "draws": 0, "losses": 1, "points": 0}
        rows = zip(players, (won, lost), strict=True)
        return [{"rank": n, "player_id": who, **row} for n, (who, row) in enumerate(rows, 1)]

    def summary(self) -> Body:
        return {"total_matches": 1, "wins": 1, "draws": 0, "technical_losses": 0}


def saying(kind: str, **wrong: Any) -> type[PlainManager]:
    """Return a manager whose messages of *kind* have these fields; None leaves one out."""

    class Crooked(PlainManager):
        def spoken(self, message: Body) -> Body:
            made = {**message, **(wrong if message.get("message_type") == kind else {})}
            return {key: value for key, value in made.items() if value is not None}

    return Crooked


def replacing(**methods: Any) -> type[PlainManager]:
    """Return a manager with these methods instead of its own."""
    return type("Crooked", (PlainManager,), methods)


def answering(when: Callable[[bytes], bool], answer: Answer | None = None) -> type[PlainManager]:
    """Return a manager that has this answer to some bodies, or none."""

    class Crooked(PlainManager):
        async def __call__(self, body: bytes) -> Answer:
            if not when(body):
                return await super().__call__(body)
            if answer is None:
                await asyncio.Event().wait()
            return answer or Answer(500, b"")

    return Crooked


class Capital(PlainManager):
    """Is called by the names of messages."""

    async def __call__(self, body: bytes) -> Answer:
        called = re.search(rb'"method":"([^"]*)"', body)
        if called and not called[1].isupper():
            problem = {"code": -32601, "message": "method not found"}
            return self.framed({"id": 1}, error=problem)
        return await super().__call__(body)


class Trusting(PlainManager):
    """Looks at no token at all where somebody asks."""

    def authenticate(self, reply: Body) -> None:
        if reply["message_type"] != "LEAGUE_QUERY" or reply.get("auth_token"):
            super().authenticate(reply)


class Vague(PlainManager):
    """Has one code for every wrong token."""

    def authenticate(self, reply: Body) -> None:
        try:
            super().authenticate(reply)
        except WrongError as error:
            raise WrongError("E022" if str(error) == "E012" else str(error)) from None


class Gullible(PlainManager):
    """Takes a result from anybody."""

    def authenticate(self, reply: Body) -> None:
        if reply["message_type"] == "LEAGUE_QUERY":
            super().authenticate(reply)

    def take(self, reply: Body) -> Body:
        if reply["auth_token"] == self.agents["REF01"]["token"]:
            self.reported.set()
        return {"status": "ok"}


class Sloppy(PlainManager):
    """Lets agents in that it could never call."""

    def objection(self, meta: Body) -> str | None:
        if not meta.get("contact_endpoint"):
            return "It is nowhere"
        return super().objection(meta)


class Hungry(PlainManager):
    """Lets anybody in, whatever they play, as a guest."""

    def register(self, reply: Body, response: str, role: str, letter: str) -> Body:
        meta = reply[f"{role}_meta"]
        if "quidditch" in meta["game_types"]:
            return {**STAMP, "message_type": response, "status": "ACCEPTED", "player_id": "P90"}
        return super().register(reply, response, role, letter)


class Nostalgic(PlainManager):
    def register(self, reply: Body, response: str, role: str, letter: str) -> Body:
        if reply[f"{role}_meta"]["protocol_version"] < "2.0.0":
            return {**STAMP, "message_type": response, "status": "ACCEPTED", "player_id": "P90"}
        return super().register(reply, response, role, letter)


class Wordy(PlainManager):
    """Counts rounds in words."""

    def take(self, reply: Body) -> Body:
        if isinstance(reply["round_id"], int):
            raise WrongError("E022")
        return super().take(reply)


class Unasked(PlainManager):
    """Answers no questions."""

    def result(self, reply: Body) -> Body:
        if str(reply.get("message_type")).upper() == "LEAGUE_QUERY":
            raise RefusalError("method not found")
        return super().result(reply)


class Refusing(PlainManager):
    """Will have a result only from its friends."""

    def take(self, reply: Body) -> Body:
        self.reported.set()
        raise WrongError("E025")


class Quiet(PlainManager):
    async def everybody(self, kind: str, **fields: Any) -> None:
        if kind != "LEAGUE_STANDINGS_UPDATE":
            await super().everybody(kind, **fields)


def _query_of(kind: str, **wrong: Any) -> type[PlainManager]:
    class Crooked(PlainManager):
        def query(self, reply: Body) -> Body:
            found = super().query(reply)
            mistaken = reply["query_type"] == kind and found["success"]
            return {**found, **wrong} if mistaken else found

    return Crooked


def _not_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return True
    return False


def _text(part: bytes) -> Callable[[bytes], bool]:
    return lambda body: part in body


def _no_version(self: PlainManager, frame: Body, **reply: Any) -> Answer:
    return Answer(200, json.dumps({"id": frame.get("id"), **reply}).encode())


def _string_id(self: PlainManager, frame: Body, **reply: Any) -> Answer:
    return PlainManager.framed(self, {"id": str(frame.get("id"))}, **reply)


def _alone(self: PlainManager, players: list[str]) -> list[Body]:
    match = PlainManager.matches(self, players)[0]
    return [{**match, "player_B_id": match["player_A_id"]}]


def _unplaced(self: PlainManager, players: list[str]) -> list[Body]:
    match = PlainManager.matches(self, players)[0]
    return [{key: value for key, value in match.items() if key != "referee_endpoint"}]


def _padded(self: PlainManager, players: list[str]) -> list[Body]:
    rows = PlainManager.table(self, players)
    return [{**rows[0], "points": 5}, rows[1]]


OK = Answer(200, b'{"jsonrpc": "2.0", "result": {"status": "ok"}, "id": 4711}')
REGISTERED = "LEAGUE_REGISTER_RESPONSE"
CROOKED: Mapping[str, Callable[[], PlainManager]] = {
    "http.json": answering(lambda body: True, Answer(200, b"<html>It works!</html>")),
    "frame.jsonrpc": replacing(framed=_no_version),
    "frame.id": replacing(framed=_string_id),
    "frame.unknown-method": answering(_text(b"fly_to_the_moon"), OK),
    "frame.broken-json": answering(_not_json, OK),
    "frame.missing-field": answering(
        lambda body: b'"query_params"' in body and b'"query_type"' not in body, OK
    ),
    "frame.wrong-case": answering(_text(b'"message_type":"league_query"')),
    "frame.non-utc-time": answering(_text(b"+02:00"), Answer(500, b"oops")),
    "frame.huge-body": answering(lambda body: len(body) > 1 << 19),
    "frame.tool-name": Capital,
    "manager.envelope.protocol": saying(REGISTERED, protocol="league.v3"),
    "manager.envelope.sender": saying("ROUND_ANNOUNCEMENT", sender="manager"),
    "manager.envelope.timestamp": saying("LEAGUE_QUERY_RESPONSE", timestamp=None),
    "manager.token.missing": Trusting,
    "manager.token.false": Vague,
    "manager.register.missing-field": Sloppy,
    "manager.register.unknown-game": Hungry,
    "manager.register.old-version": Nostalgic,
    "manager.register.accepted": saying(REGISTERED, message_type="REGISTERED"),
    "manager.register.id": replacing(
        named=lambda self, agent_id: agent_id.replace("P0", "PLAYER-")
    ),
    "manager.register.token": replacing(token=lambda self, agent_id: "tok_secret"),
    "frame.right-message": Wordy,
    "manager.query.known": Unasked,
    "manager.query.get-standings": _query_of("GET_STANDINGS", query_type="STANDINGS"),
    "manager.query.get-schedule": _query_of("GET_SCHEDULE", data=None),
    "manager.query.get-next-match": _query_of("GET_NEXT_MATCH", success="yes"),
    "manager.query.get-player-stats": _query_of("GET_PLAYER_STATS", data=[]),
    "manager.query.nobody": replacing(knows=lambda self, player_id: True),
    "manager.report.forged": Gullible,
    "manager.report.taken": Refusing,
    "manager.round-announcement.matches": replacing(matches=_unplaced),
    "manager.round-announcement.fair": replacing(matches=_alone),
    "manager.standings.sent": Quiet,
    "manager.standings.arithmetic": replacing(table=_padded),
    "manager.round-completed.summary": replacing(
        summary=lambda self: {**PlainManager.summary(self), "draws": 1}
    ),
    "manager.league-completed.champion": saying(
        "LEAGUE_COMPLETED", champion={"player_id": "P02", "display_name": "x", "points": 0}
    ),
}
"""The manager that each rule is there to catch."""
