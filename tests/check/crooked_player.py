"""A player written without our package, right in everything but what it is told to do wrong."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer

Body = dict[str, Any]
STAMP = {"protocol": "league.v2", "sender": "player:P05", "timestamp": "2025-01-15T10:30:00Z"}
FIELDS: Mapping[str, Body] = {
    "GAME_INVITATION": {
        "message_type": "GAME_JOIN_ACK",
        "player_id": "P05",
        "arrival_timestamp": "2025-01-15T10:30:00Z",
        "accept": True,
    },
    "CHOOSE_PARITY_CALL": {
        "message_type": "CHOOSE_PARITY_RESPONSE",
        "player_id": "P05",
        "parity_choice": "odd",
    },
}
NOTICES = {
    "GAME_OVER",
    "GAME_ERROR",
    "LEAGUE_ERROR",
    "ROUND_ANNOUNCEMENT",
    "ROUND_COMPLETED",
    "LEAGUE_STANDINGS_UPDATE",
    "LEAGUE_COMPLETED",
}


class RefusalError(Exception):
    """What it answers with an error."""


class PlainPlayer:
    """A right player, in as few lines as it takes."""

    name = "P05"
    meta: Mapping[str, Any] = {}

    async def register(self, league: str, url: str) -> None:
        """Join a league, and go by the name that it gives."""
        own = {"display_name": "Plain", "version": "1.0.0", "game_types": ["even_odd"]}
        meta = {**own, "contact_endpoint": url, **self.meta}
        request = {**STAMP, "conversation_id": "conv-1", "message_type": "LEAGUE_REGISTER_REQUEST"}
        frame = {"jsonrpc": "2.0", "method": "register_player", "id": 1}
        body = {**frame, "params": self.enrolled({**request, "player_meta": meta})}
        wire = HttpClient()
        answer = await wire.post(league, json.dumps(body).encode(), 5.0)
        self.name = self.called(json.loads(answer.body)["result"])
        await wire.close()

    def enrolled(self, request: Body) -> Body:
        return request

    def called(self, registered: Body) -> str:
        return str(registered["player_id"])

    async def __call__(self, body: bytes) -> Answer:
        frame: Body = {}
        try:
            frame = json.loads(body)
            result = await self.result(frame)
        except (ValueError, KeyError) as error:
            return self.framed(frame, error={"code": -32602, "message": repr(error)})
        except RefusalError as error:
            return self.framed(frame, error={"code": -32601, "message": str(error)})
        return self.framed(frame, result=result)

    async def result(self, frame: Body) -> Body:
        message = frame["params"]
        kind = str(message.get("message_type"))
        if kind in NOTICES:
            return {"status": "ok"}
        if kind not in FIELDS:
            raise RefusalError("method not found")
        return self.reply(message)

    def reply(self, message: Body) -> Body:
        copied = {key: message[key] for key in ("match_id", "conversation_id", "auth_token")}
        own = {"sender": f"player:{self.name}", "player_id": self.name}
        made = {**STAMP, **copied, **FIELDS[message["message_type"]], **own}
        if "accept" in made:
            made["accept"] = message["game_type"] == "even_odd"
        return made

    def framed(self, frame: Body, **message: Any) -> Answer:
        return Answer(
            200, json.dumps({"jsonrpc": "2.0", "id": frame.get("id"), **message}).encode()
        )


def replying(kind: str, **wrong: Any) -> type[PlainPlayer]:
    """Return a player whose replies to *kind* have these fields; None leaves one out."""

    class Crooked(PlainPlayer):
        def reply(self, message: Body) -> Body:
            made = {**super().reply(message), **(wrong if message["message_type"] == kind else {})}
            return {key: value for key, value in made.items() if value is not None}

    return Crooked


def framing(**wrong: Any) -> type[PlainPlayer]:
    """Return a player whose frames have these members; None leaves one out."""

    class Crooked(PlainPlayer):
        def framed(self, frame: Body, **message: Any) -> Answer:
            made = {"jsonrpc": "2.0", "id": frame.get("id"), **message, **wrong}
            left = {key: value for key, value in made.items() if value is not None}
            return Answer(200, json.dumps(left).encode())

    return Crooked


def silent_on(when: Callable[[Body], bool]) -> type[PlainPlayer]:
    """Return a player that never answers some messages."""

    class Crooked(PlainPlayer):
        async def result(self, frame: Body) -> Body:
            if when(frame["params"]):
                await asyncio.Event().wait()
            return await super().result(frame)

    return Crooked


def refusing(kind: str) -> type[PlainPlayer]:
    class Crooked(PlainPlayer):
        async def result(self, frame: Body) -> Body:
            if frame["params"].get("message_type") == kind:
                raise RefusalError("what is that?")
            return await super().result(frame)

    return Crooked


def having(**wrong: Any) -> type[PlainPlayer]:
    """Return a player that registers with this in its `player_meta`."""

    class Crooked(PlainPlayer):
        meta: Mapping[str, Any] = wrong

    return Crooked


class Unstamped(PlainPlayer):
    def enrolled(self, request: Body) -> Body:
        return {key: value for key, value in request.items() if key != "timestamp"}


class Stubborn(PlainPlayer):
    """Goes on under the name it gave itself."""

    def called(self, registered: Body) -> str:
        return self.name


class Capital(PlainPlayer):
    """Is called by the names of messages."""

    async def result(self, frame: Body) -> Body:
        if not frame["method"].isupper():
            raise RefusalError("method not found")
        return await super().result(frame)


class Numbered(PlainPlayer):
    """Knows its league only by a number."""

    async def result(self, frame: Body) -> Body:
        if frame["params"].get("sender") == "league_manager":
            raise ValueError("sender not registered")
        return await super().result(frame)


class Nesting(PlainPlayer):
    """Wraps its registration once more."""

    def enrolled(self, request: Body) -> Body:
        return {"message": request}


class Webpage(PlainPlayer):
    async def __call__(self, body: bytes) -> Answer:
        return Answer(200, b"<html>It works!</html>")


class Counting(PlainPlayer):
    """Answers every id with a string."""

    def framed(self, frame: Body, **message: Any) -> Answer:
        return super().framed({"id": str(frame.get("id"))}, **message)


class Obliging(PlainPlayer):
    """Is content with whatever it does not know."""

    async def result(self, frame: Body) -> Body:
        try:
            return await super().result(frame)
        except RefusalError:
            if "message_type" in frame["params"]:
                raise
            return {"status": "ok"}


class Deaf(PlainPlayer):
    """Takes what is not JSON for granted."""

    async def __call__(self, body: bytes) -> Answer:
        try:
            json.loads(body)
        except ValueError:
            return self.framed({}, result={"status": "ok"})
        return await super().__call__(body)


class Careless(PlainPlayer):
    """Does not miss what is missing."""

    def reply(self, message: Body) -> Body:
        return super().reply({"match_id": "R0M0", **message})


class Fragile(PlainPlayer):
    """Breaks over a time of another zone."""

    async def __call__(self, body: bytes) -> Answer:
        return Answer(500, b"oops") if b"+02:00" in body else await super().__call__(body)


class Greedy(PlainPlayer):
    """Plays anything."""

    def reply(self, message: Body) -> Body:
        return super().reply({**message, "game_type": "even_odd"})


class Ascii(PlainPlayer):
    """Drops what it cannot spell."""

    def reply(self, message: Body) -> Body:
        made = super().reply(message)
        return {
            **made,
            "conversation_id": made["conversation_id"].encode("ascii", "ignore").decode(),
        }


class Fickle(PlainPlayer):
    """Chooses anew whenever it is asked."""

    asked = 0

    def reply(self, message: Body) -> Body:
        made = super().reply(message)
        self.asked += 1
        if "parity_choice" in made:
            made["parity_choice"] = ("even", "odd")[self.asked % 2]
        return made


class Bored(PlainPlayer):
    """Will not hear the same result twice."""

    def __init__(self) -> None:
        self.over: set[str] = set()

    async def result(self, frame: Body) -> Body:
        message = frame["params"]
        if message.get("message_type") == "GAME_OVER":
            if message["match_id"] in self.over:
                raise RefusalError("you said so")
            self.over.add(message["match_id"])
        return await super().result(frame)


class Confused(PlainPlayer):
    """Keeps one match in its head, and thinks for a moment."""

    match_id = ""

    async def result(self, frame: Body) -> Body:
        if frame["params"].get("message_type") != "CHOOSE_PARITY_CALL":
            return await super().result(frame)
        made = self.reply(frame["params"])
        self.match_id = made["match_id"]
        await asyncio.sleep(0.02)
        return {**made, "match_id": self.match_id}


class Tired(PlainPlayer):
    """Breaks down in its third game of a row."""

    async def __call__(self, body: bytes) -> Answer:
        return Answer(500, b"oops") if b"R911M3" in body else await super().__call__(body)


def _is(kind: str) -> Callable[[Body], bool]:
    return lambda message: message.get("message_type") == kind


INVITED, CALLED = "GAME_INVITATION", "CHOOSE_PARITY_CALL"
CROOKED: Mapping[str, Callable[[], PlainPlayer]] = {
    "http.json": Webpage,
    "frame.jsonrpc": framing(jsonrpc=None),
    "frame.id": Counting,
    "frame.unknown-method": Obliging,
    "frame.broken-json": Deaf,
    "frame.missing-field": Careless,
    "frame.wrong-case": silent_on(_is("choose_parity_call")),
    "frame.non-utc-time": Fragile,
    "frame.huge-body": silent_on(lambda message: "padding" in message),
    "frame.tool-name": Capital,
    "frame.right-message": Numbered,
    "register.message": Nesting,
    "register.envelope": Unstamped,
    "register.display-name": having(display_name=""),
    "register.version": having(version="1"),
    "register.game-types": having(game_types="even_odd"),
    "register.contact-endpoint": having(contact_endpoint="mcp://me"),
    "register.id-used": Stubborn,
    "player.envelope.protocol": replying(INVITED, protocol="league.v3"),
    "player.envelope.sender": replying(CALLED, sender="P05"),
    "player.envelope.timestamp": replying(INVITED, timestamp="2025-01-15T10:30:00+02:00"),
    "player.envelope.conversation-id": replying(CALLED, conversation_id=None),
    "player.envelope.auth-token": replying(INVITED, auth_token=None),
    "player.join-ack.in-time": silent_on(_is(INVITED)),
    "player.join-ack.message-type": replying(INVITED, message_type="JOINED"),
    "player.join-ack.match-id": replying(INVITED, match_id="R1M7"),
    "player.join-ack.player-id": replying(INVITED, player_id=5),
    "player.join-ack.arrival-timestamp": replying(INVITED, arrival_timestamp="half past ten"),
    "player.join-ack.accept": replying(INVITED, accept="true"),
    "player.move.in-time": silent_on(_is(CALLED)),
    "player.move.message-type": replying(CALLED, message_type="CHOSEN"),
    "player.move.match-id": replying(CALLED, match_id="R1M7"),
    "player.move.player-id": replying(CALLED, player_id="P06"),
    "player.move.parity-choice": replying(CALLED, parity_choice="Even"),
    "player.game-over.taken": refusing("GAME_OVER"),
    "player.notice.round-announcement": refusing("ROUND_ANNOUNCEMENT"),
    "player.notice.round-completed": refusing("ROUND_COMPLETED"),
    "player.notice.league-standings-update": refusing("LEAGUE_STANDINGS_UPDATE"),
    "player.notice.league-error": refusing("LEAGUE_ERROR"),
    "player.notice.game-error": refusing("GAME_ERROR"),
    "player.notice.league-completed": refusing("LEAGUE_COMPLETED"),
    "player.unknown-game": Greedy,
    "player.unicode": Ascii,
    "player.repeat.move": Fickle,
    "player.repeat.game-over": Bored,
    "player.concurrent-games": Confused,
    "player.consecutive-games": Tired,
}
"""The player that each rule is there to catch."""
