"""Players that follow the documents, or their authors' own ideas, in other ways than ours."""

import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from msgspec.structs import replace

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer

Body = dict[str, Any]
TIME = "2025-01-15T10:30:00Z"


def frame(number: Any, **content: Any) -> Answer:
    return Answer(200, json.dumps({"jsonrpc": "2.0", "id": number, **content}).encode())


def refuse(number: Any, code: int, text: str, status: int = 200) -> Answer:
    return replace(frame(number, error={"code": code, "message": text}), status=status)


class SamplePlayer:
    """Does what the program under "2. Player Agent Implementation" in 001 does on the wire.

    It knows three methods, reads no field but those that it repeats, has no token, chooses
    anew at each call, and answers an error without a code to everything else. Its framework
    answers HTTP 422 to what is no JSON, and to a call without a method or with a text as id.
    """

    def __init__(self) -> None:
        self.choices = count()
        self.history: list[Body] = []

    async def __call__(self, body: bytes) -> Answer:
        try:
            call = json.loads(body)
            method, params, number = str(call["method"]), dict(call.get("params", {})), call["id"]
        except (ValueError, KeyError, TypeError):
            return Answer(422, b'{"detail":[{"type":"missing","msg":"Field required"}]}')
        answers: Mapping[str, Callable[[Body], Body]] = {
            "handle_game_invitation": self.join,
            "choose_parity": self.choose,
            "notify_match_result": self.take_result,
        }
        if method not in answers:
            return frame(number, error={"message": "Unknown method"})
        return frame(number, result=answers[method](params))

    def reply(self, kind: str, params: Body) -> Body:
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": "player:P01",
            "timestamp": TIME,
            "conversation_id": params.get("conversation_id"),
            "auth_token": None,
            "match_id": params.get("match_id"),
            "player_id": "P01",
        }

    def join(self, params: Body) -> Body:
        return {**self.reply("GAME_JOIN_ACK", params), "arrival_timestamp": TIME, "accept": True}

    def choose(self, params: Body) -> Body:
        choice = ("even", "odd")[next(self.choices) % 2]
        return {**self.reply("CHOOSE_PARITY_RESPONSE", params), "parity_choice": choice}

    def take_result(self, params: Body) -> Body:
        self.history.append(params.get("game_result", {}))
        return {"status": "ok"}


class ToolPlayer:
    """Is called by tools/call alone, and has names of its own for its tools."""

    tools = ("receive_game_invitation", "choose_parity", "receive_game_over", "notify_standings")

    async def __call__(self, body: bytes) -> Answer:
        call = json.loads(body)
        if call.get("method") == "tools/list":
            return frame(call["id"], result={"tools": [{"name": name} for name in self.tools]})
        if call.get("method") != "tools/call":
            return refuse(call.get("id"), -32601, "Method not found")
        name, message = call["params"]["name"], call["params"]["arguments"]
        if name not in self.tools:
            return refuse(call["id"], -32603, f"Unknown tool: {name}")
        text = json.dumps(self.answer(name, message))
        return frame(call["id"], result={"content": [{"type": "text", "text": text}]})

    def answer(self, name: str, message: Body) -> Body:
        if name != "choose_parity":
            return {"status": "ACK"}
        sample = SamplePlayer()
        return {**sample.reply("CHOOSE_PARITY_RESPONSE", message), "parity_choice": "odd"}


class OwnWordsPlayer:
    """Has messages of its own: `type`, `accepted`, `choice`, and nothing else."""

    answers: Mapping[str, Body] = {
        "handle_game_invitation": {"type": "GAME_JOIN_ACK", "accepted": True},
        "choose_parity": {"type": "PARITY_CHOICE", "choice": "odd"},
        "notify_match_result": {"ok": True},
    }

    async def __call__(self, body: bytes) -> Answer:
        call = json.loads(body)
        if "method" not in call:
            return refuse(None, -32600, "Invalid Request")
        if call["method"] not in self.answers:
            return refuse(call["id"], -32601, "Method not found")
        return frame(call["id"], result=self.answers[call["method"]])


class RequestPlayer:
    """Answers with a request: the reply is in params, and an error has no frame."""

    def __init__(self) -> None:
        self.numbers = count(100)

    async def __call__(self, body: bytes) -> Answer:
        try:
            message = json.loads(body).get("params", {})
        except ValueError as error:
            return Answer(500, json.dumps({"status": "error", "message": str(error)}).encode())
        kinds = {"GAME_INVITATION": "join", "CHOOSE_PARITY_CALL": "choose"}
        kind, sample = message.get("message_type"), SamplePlayer()
        if kind in kinds:
            reply = getattr(sample, kinds[kind])(message)
            content = {"jsonrpc": "2.0", "method": kind.lower(), "params": reply}
            return Answer(200, json.dumps({**content, "id": next(self.numbers)}).encode())
        if kind in {"GAME_OVER", "ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE"}:
            return frame(json.loads(body).get("id"), result={"status": "acknowledged"})
        return Answer(200, b'{"status": "error", "message": "Unknown message type"}')


class PostingPlayer:
    """Sends its replies to the referee that it knows, and answers the call with a word."""

    def __init__(self, referee: str) -> None:
        self.referee, self.wire = referee, HttpClient()

    async def __call__(self, body: bytes) -> Answer:
        call = json.loads(body) if body.endswith(b"}") else {}
        message, sample = call.get("params", {}), SamplePlayer()
        kind = message.get("message_type")
        replies = {"GAME_INVITATION": sample.join, "CHOOSE_PARITY_CALL": sample.choose}
        if kind == "GAME_OVER":
            return frame(call["id"], result={"status": "acknowledged"})
        if kind not in replies:
            return refuse(call.get("id"), -32601, f"Unknown message type: {kind}", 400)
        try:
            posted = frame(1, method="receive", params=replies[kind](message)).body
            await self.wire.post(self.referee, posted, 2.0)
        except Exception as error:  # noqa: BLE001 - as such players do
            return refuse(call["id"], -32603, str(error), 500)
        return frame(call["id"], result={"status": "joined"})
