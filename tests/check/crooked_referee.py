"""A referee written without our package, right in everything but what it is told to do wrong."""

import asyncio
import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from agent_league.clock import format_time, system_clock
from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.protocol.failures import NoAnswerError
from check.crooked_player import RefusalError

Body = dict[str, Any]
JOIN_WAIT = 0.15
ATTEMPTS = 3
KNOWN = {"START_MATCH", "ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_COMPLETED"}
NEEDED = ("match_id", "players", "league_id", "round_id", "game_type")


class PlainReferee:
    """A right referee: it registers, runs matches, and reports them."""

    meta: Mapping[str, Any] = {"max_concurrent_matches": 3}

    def __init__(self) -> None:
        self.wire = HttpClient()
        self.name = "whistle"
        self.league = self.url = ""
        self.running: set[str] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.numbers = count(1)

    # As a server.

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

    def framed(self, frame: Body, **reply: Any) -> Answer:
        return Answer(200, json.dumps({"jsonrpc": "2.0", "id": frame.get("id"), **reply}).encode())

    async def result(self, frame: Body) -> Body:
        reply = frame["params"]
        if reply.get("message_type") not in KNOWN:
            raise RefusalError("method not found")
        if reply["message_type"] != "START_MATCH":
            return {"status": "ok"}
        order = {key: reply[key] for key in NEEDED}
        fits = self.knows(order["game_type"])
        if fits and order["match_id"] not in self.running:
            self.begin(order)
        verdict = {"status": "ACCEPTED" if fits else "REJECTED", "reason": None if fits else "no"}
        return {**self.stamp(order), "message_type": "START_MATCH_RESPONSE", **verdict}

    def knows(self, game_type: str) -> bool:
        return game_type == "even_odd"

    def begin(self, order: Body) -> None:
        self.running.add(order["match_id"])
        task = asyncio.get_running_loop().create_task(self.run(order))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def close(self) -> None:
        for task in tuple(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.wire.close()

    # As a client.

    def stamp(self, order: Body) -> Body:
        return {
            "protocol": "league.v2",
            "sender": f"referee:{self.name}",
            "timestamp": format_time(system_clock()),
            "conversation_id": self.conversation(order),
            "match_id": order["match_id"],
        }

    def conversation(self, order: Body) -> str:
        return f"conv-{order['match_id']}"

    async def post(self, url: str, message: Body, within: float = 2.0) -> Body:
        frame = {"jsonrpc": "2.0", "method": "say", "params": self.spoken(message), "id": 1}
        answer = await self.wire.post(url, json.dumps(frame).encode(), within)
        found: Body = json.loads(answer.body).get("result") or {}
        return found

    def spoken(self, message: Body) -> Body:
        """Return what is said in the end."""
        return message

    async def register(self) -> None:
        own = {"display_name": "Plain", "version": "1.0.0", "game_types": ["even_odd"]}
        meta = {**own, "contact_endpoint": self.url, **self.meta}
        request = {
            **self.stamp({"match_id": "none"}),
            "message_type": "REFEREE_REGISTER_REQUEST",
            "referee_meta": {key: value for key, value in meta.items() if value is not None},
        }
        self.name = (await self.post(self.league, self.enrolled(request)))["referee_id"]

    def enrolled(self, request: Body) -> Body:
        return request

    # A match.

    async def run(self, order: Body) -> None:
        players = order["players"]
        try:
            joined = await asyncio.gather(*(self.join(order, seat) for seat in (0, 1)))
            if all(joined):
                choices = await self.choices(order)
                result = self.judge(order, choices)
            else:
                result = self.forfeit(order, joined)
            await self.end(order, result)
        finally:
            self.running.discard(order["match_id"])
        assert len(players) == 2

    async def join(self, order: Body, seat: int) -> bool:
        me, other = order["players"][seat], order["players"][1 - seat]
        message = {
            **self.stamp(order),
            **{key: order[key] for key in ("league_id", "round_id", "game_type")},
            "message_type": "GAME_INVITATION",
            "role_in_match": f"PLAYER_{'AB'[seat]}",
            "opponent_id": other["player_id"],
        }
        for attempt in range(self.attempts()):
            try:
                reply = await self.post(me["endpoint"], message, JOIN_WAIT)
                return reply.get("accept") is True
            except NoAnswerError:
                await self.complain(order, seat, "E001", attempt + 1)
        return False

    def attempts(self) -> int:
        return ATTEMPTS

    async def complain(self, order: Body, seat: int, code: str, attempt: int) -> None:
        me = order["players"][seat]
        info = {"retry_count": attempt, "max_retries": ATTEMPTS}
        message = {
            **self.stamp(order),
            "message_type": "GAME_ERROR",
            "error_code": code,
            "error_description": code,
            "affected_player": me["player_id"],
            "action_required": "CHOOSE_PARITY_RESPONSE",
            "retry_info": info,
            "consequence": "Technical loss",
        }
        await self.post(me["endpoint"], message)

    async def choices(self, order: Body) -> list[str | None]:
        return list(await asyncio.gather(*(self.choice(order, seat) for seat in (0, 1))))

    async def choice(self, order: Body, seat: int) -> str | None:
        me = order["players"][seat]
        message = {
            **self.stamp(order),
            "message_type": "CHOOSE_PARITY_CALL",
            "player_id": me["player_id"],
            "game_type": "even_odd",
            "deadline": "2099-01-01T00:00:00Z",
        }
        for attempt in range(self.chances()):
            reply = (await self.post(me["endpoint"], message)).get("parity_choice")
            if reply in ("even", "odd"):
                return str(reply)
            await self.complain(order, seat, "E004", attempt + 1)
        return None

    def chances(self) -> int:
        return ATTEMPTS

    def judge(self, order: Body, choices: list[str | None]) -> Body:
        ids = [player["player_id"] for player in order["players"]]
        if None in choices:
            return self.forfeit(order, [choice is not None for choice in choices])
        drawn = self.drawn()
        parity = ("even", "odd")[drawn % 2]
        right = [player for player, chose in zip(ids, choices, strict=True) if chose == parity]
        won = len(set(choices)) > 1
        return {
            "status": "WIN" if won else "DRAW",
            "winner_player_id": right[0] if won else None,
            "drawn_number": drawn,
            "number_parity": parity,
            "choices": dict(zip(ids, choices, strict=True)),
            "reason": f"the number was {drawn}",
        }

    def drawn(self) -> int:
        return 1 + next(self.numbers) % 10

    def forfeit(self, order: Body, there: list[bool]) -> Body:
        ids = [player["player_id"] for player in order["players"]]
        left = [player for player, came in zip(ids, there, strict=True) if came]
        return {
            "status": "TECHNICAL_LOSS",
            "winner_player_id": left[0] if left else None,
            "drawn_number": None,
            "number_parity": None,
            "choices": dict.fromkeys(ids),
            "reason": "somebody did not come",
        }

    async def end(self, order: Body, result: Body) -> None:
        for seat in (0, 1):
            await self.tell(order, seat, result)
        if self.league:
            await self.report(order, result)

    async def tell(self, order: Body, seat: int, result: Body) -> None:
        over = {"message_type": "GAME_OVER", "game_type": "even_odd", "game_result": result}
        await self.post(order["players"][seat]["endpoint"], {**self.stamp(order), **over})

    async def report(self, order: Body, result: Body) -> None:
        winner = result["winner_player_id"]
        score = {player: self.points(winner, player) for player in result["choices"]}
        details = {key: result[key] for key in ("drawn_number", "choices")}
        message = {
            **self.stamp(order),
            "message_type": "MATCH_RESULT_REPORT",
            "league_id": order["league_id"],
            "round_id": order["round_id"],
            "game_type": "even_odd",
            "result": {"winner": winner, "score": score, "details": details},
        }
        await self.post(self.league, message)

    def points(self, winner: str | None, player: str) -> int:
        return 1 if winner is None else 3 * (winner == player)


def saying(kind: str, **wrong: Any) -> type[PlainReferee]:
    """Return a referee whose messages of *kind* have these fields; None leaves one out."""

    class Crooked(PlainReferee):
        def spoken(self, message: Body) -> Body:
            made = {**message, **(wrong if message["message_type"] == kind else {})}
            return {key: value for key, value in made.items() if value is not None}

    return Crooked


def having(**wrong: Any) -> type[PlainReferee]:
    """Return a referee that registers with this in its `referee_meta`."""

    class Crooked(PlainReferee):
        meta: Mapping[str, Any] = {**PlainReferee.meta, **wrong}

    return Crooked


def ending(**wrong: Any) -> type[PlainReferee]:
    """Return a referee that judges so, when a match goes well."""

    class Crooked(PlainReferee):
        def judge(self, order: Body, choices: list[str | None]) -> Body:
            return {**super().judge(order, choices), **wrong}

    return Crooked


def framing(change: Callable[[Body, Body], Body]) -> type[PlainReferee]:
    class Crooked(PlainReferee):
        def framed(self, frame: Body, **reply: Any) -> Answer:
            made = change(frame, {"jsonrpc": "2.0", "id": frame.get("id"), **reply})
            return Answer(200, json.dumps(made).encode())

    return Crooked


def answering(when: Callable[[bytes], bool], answer: Answer | None = None) -> type[PlainReferee]:
    """Return a referee that has this answer to some bodies, or none."""

    class Crooked(PlainReferee):
        async def __call__(self, body: bytes) -> Answer:
            if not when(body):
                return await super().__call__(body)
            if answer is None:
                await asyncio.Event().wait()
            return answer or Answer(500, b"")

    return Crooked


class Capital(PlainReferee):
    """Is called by the names of messages."""

    async def result(self, frame: Body) -> Body:
        if not frame["method"].isupper():
            raise RefusalError("method not found")
        return await super().result(frame)


class Numbered(PlainReferee):
    """Knows its league only by a number."""

    async def result(self, frame: Body) -> Body:
        if frame["params"].get("sender") == "league_manager":
            raise ValueError("sender not registered")
        return await super().result(frame)


class Shallow(PlainReferee):
    """Looks for replies beside the result."""

    async def post(self, url: str, message: Body, within: float = 2.0) -> Body:
        if message["message_type"] == "REFEREE_REGISTER_REQUEST":
            return await super().post(url, message, within)
        frame = {"jsonrpc": "2.0", "method": "say", "params": self.spoken(message), "id": 1}
        answer = await self.wire.post(url, json.dumps(frame).encode(), within)
        found: Body = json.loads(answer.body)
        if message["message_type"] == "GAME_INVITATION" and "accept" not in found:
            await asyncio.Event().wait()
        return found


class Nesting(PlainReferee):
    """Wraps its registration once more."""

    def spoken(self, message: Body) -> Body:
        registers = message["message_type"] == "REFEREE_REGISTER_REQUEST"
        return {"message": message} if registers else message


class Nameless(PlainReferee):
    """Goes on under the name it gave itself."""

    async def register(self) -> None:
        await super().register()
        self.name = "whistle"


class Anonymous(PlainReferee):
    def enrolled(self, request: Body) -> Body:
        return {key: value for key, value in request.items() if key != "timestamp"}


class Repeating(PlainReferee):
    def conversation(self, order: Body) -> str:
        return "conv-1"


class Choosy(PlainReferee):
    """Invites only the first player."""

    async def join(self, order: Body, seat: int) -> bool:
        return await super().join(order, 0)


class Impatient(PlainReferee):
    """Asks the first player as soon as it is there."""

    async def run(self, order: Body) -> None:
        await self.join(order, 0)
        asked = asyncio.ensure_future(self.choice(order, 0))
        there = await self.join(order, 1)
        other = await self.choice(order, 1) if there else None
        await self.end(order, self.judge(order, [await asked, other]))


class Sequential(PlainReferee):
    """Asks one after the other."""

    async def choices(self, order: Body) -> list[str | None]:
        return [await self.choice(order, seat) for seat in (0, 1)]


class Misquoting(PlainReferee):
    """Tells that both chose what they did not."""

    def judge(self, order: Body, choices: list[str | None]) -> Body:
        judged = super().judge(order, choices)
        return {**judged, "choices": dict.fromkeys(judged["choices"], "heads")}


class TwoFaced(PlainReferee):
    """Tells the second player another reason."""

    async def tell(self, order: Body, seat: int, result: Body) -> None:
        await super().tell(order, seat, {**result, "reason": f"for you, {seat}"})


class Partial(PlainReferee):
    """Lets the first player win whatever it chose."""

    def judge(self, order: Body, choices: list[str | None]) -> Body:
        judged = super().judge(order, choices)
        return {**judged, "status": "WIN", "winner_player_id": order["players"][0]["player_id"]}


class Discreet(PlainReferee):
    async def report(self, order: Body, result: Body) -> None:
        """Keep it to oneself."""


class Generous(PlainReferee):
    def points(self, winner: str | None, player: str) -> int:
        return 1 if winner is None else 5 * (winner == player)


class Curt(PlainReferee):
    """Says nothing about a wrong choice."""

    async def complain(self, order: Body, seat: int, code: str, attempt: int) -> None:
        if code != "E004":
            await super().complain(order, seat, code, attempt)


class Merciless(PlainReferee):
    def chances(self) -> int:
        return 1


class Deaf(PlainReferee):
    """Takes any answer to an invitation for a yes."""

    async def join(self, order: Body, seat: int) -> bool:
        joined = await super().join(order, seat)
        declined = order["match_id"] == "R901M4"
        return joined or declined


class Lenient(PlainReferee):
    """Calls a match a draw when somebody stays silent."""

    def forfeit(self, order: Body, there: list[bool]) -> Body:
        found = super().forfeit(order, there)
        silent = order["match_id"] == "R901M6"
        return {**found, "status": "DRAW", "winner_player_id": None} if silent else found


class Hasty(PlainReferee):
    def attempts(self) -> int:
        return 2


class Unwarning(PlainReferee):
    async def complain(self, order: Body, seat: int, code: str, attempt: int) -> None:
        if code != "E001":
            await super().complain(order, seat, code, attempt)


class Forgetful(PlainReferee):
    """Plays a match again that it is playing already."""

    def begin(self, order: Body) -> None:
        super().begin(order)
        self.running.discard(order["match_id"])


class Greedy(PlainReferee):
    def knows(self, game_type: str) -> bool:
        return True


class Boastful(PlainReferee):
    """Has room for one match, but says three."""

    def begin(self, order: Body) -> None:
        if order["match_id"].startswith("R903") and self.running:
            return
        super().begin(order)


class Tired(PlainReferee):
    """Leaves the third match of a row lying."""

    def begin(self, order: Body) -> None:
        if order["match_id"] != "R911M3":
            super().begin(order)


def _text(part: bytes) -> Callable[[bytes], bool]:
    return lambda body: part in body


def _not_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return True
    return False


OK = Answer(200, b'{"jsonrpc": "2.0", "result": {"status": "ok"}, "id": 4711}')
REFUSED = Answer(200, b'{"jsonrpc": "2.0", "error": {"code": -32000, "message": "no"}, "id": 1}')
INVITED, CALLED = "GAME_INVITATION", "CHOOSE_PARITY_CALL"


def _no_version(frame: Body, made: Body) -> Body:
    return {key: value for key, value in made.items() if key != "jsonrpc"}


def _string_id(frame: Body, made: Body) -> Body:
    return {**made, "id": str(made["id"])}


CROOKED: Mapping[str, Callable[[], PlainReferee]] = {
    "http.json": answering(lambda body: True, Answer(200, b"<html>It works!</html>")),
    "frame.jsonrpc": framing(_no_version),
    "frame.id": framing(_string_id),
    "frame.unknown-method": answering(_text(b"fly_to_the_moon"), OK),
    "frame.broken-json": answering(_not_json, OK),
    "frame.missing-field": answering(
        lambda body: b'"match_id"' not in body and b"START" in body, OK
    ),
    "frame.wrong-case": answering(_text(b'"message_type":"start_match"')),
    "frame.non-utc-time": answering(_text(b"+02:00"), Answer(500, b"oops")),
    "frame.huge-body": answering(lambda body: len(body) > 1 << 19),
    "frame.tool-name": Capital,
    "register.message": Nesting,
    "register.envelope": Anonymous,
    "register.display-name": having(display_name="x" * 51),
    "register.version": having(version="one"),
    "register.game-types": having(game_types=["chess"]),
    "register.contact-endpoint": having(contact_endpoint="localhost"),
    "register.referee-id-used": Nameless,
    "register.max-concurrent-matches": having(max_concurrent_matches=None),
    "frame.right-message": Numbered,
    "referee.reply.read": Shallow,
    "referee.start-match.taken": answering(lambda body: True, REFUSED),
    "referee.start-match.in-time": answering(_text(b"START_MATCH")),
    "referee.envelope.protocol": saying(INVITED, protocol="league.v3"),
    "referee.envelope.sender": saying(CALLED, sender="me"),
    "referee.envelope.timestamp": saying("GAME_OVER", timestamp="2025-01-15T10:30:00"),
    "referee.envelope.conversation-id": Repeating,
    "referee.invitation.both": Choosy,
    "referee.invitation.match": saying(INVITED, round_id="901"),
    "referee.invitation.roles": saying(INVITED, role_in_match="PLAYER_A"),
    "referee.invitation.opponent": saying(INVITED, opponent_id="P91"),
    "referee.call.after-joining": Impatient,
    "referee.call.at-once": Sequential,
    "referee.call.player-id": saying(CALLED, player_id="P91"),
    "referee.call.deadline": saying(CALLED, deadline="2020-01-01T00:00:00Z"),
    "referee.game-over.both": TwoFaced,
    "referee.game-over.choices": Misquoting,
    "referee.game-over.number": ending(drawn_number=42, number_parity="even"),
    "referee.game-over.winner": Partial,
    "referee.report.sent": Discreet,
    "referee.report.score": Generous,
    "referee.invalid-choice.error": Curt,
    "referee.invalid-choice.second-chance": Merciless,
    "referee.declined": Deaf,
    "referee.silent.technical-loss": Lenient,
    "referee.silent.three-attempts": Hasty,
    "referee.silent.warning": Unwarning,
    "referee.repeat.start-match": Forgetful,
    "referee.unknown-game": Greedy,
    "referee.concurrent-matches": Boastful,
    "referee.consecutive-games": Tired,
}
"""The referee that each rule is there to catch."""
