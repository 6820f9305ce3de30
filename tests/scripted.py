"""Agents in memory that follow a script: correct, except where a test makes them wrong."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from agent_league.http.exchange import Answer
from agent_league.http.site import Site
from agent_league.protocol import RpcCode
from agent_league.vocabulary import Json
from timewarp import now

STAMP = {
    "protocol": "league.v2",
    "timestamp": "2025-01-15T10:30:00Z",
    "conversation_id": "conv-scripted",
}
LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True)
class Call:
    """A call as a scripted agent sees it."""

    at: float
    method: str | None
    id: Json
    message: Json
    who: str
    """The id of the agent that was called."""

    @property
    def kind(self) -> str:
        return str(self.message.get("message_type"))

    def right(self) -> dict[str, Json]:
        """Return the answer of a correct agent."""
        made = _REPLIES.get(self.kind)
        if made is None:
            return {"status": "ok"}
        role = "referee" if self.kind == "START_MATCH" else "player"
        match = {"match_id": self.message["match_id"]}
        return {**STAMP, "sender": f"{role}:{self.who}", **match, **made(self.message, self.who)}

    def returns(self, result: Json) -> Answer:
        framed = {"jsonrpc": "2.0", "result": result, "id": self.id}
        return Answer(200, json.dumps(framed if self.method else result).encode())

    def refuses(self, code: int, message: str = "no", data: Json = None) -> Answer:
        problem = {"code": code, "message": message, "data": data}
        framed = {"jsonrpc": "2.0", "error": problem, "id": self.id}
        return Answer(200, json.dumps(framed).encode())


_REPLIES: Mapping[str, Callable[[Json, str], dict[str, Json]]] = {
    "GAME_INVITATION": lambda message, who: {
        "message_type": "GAME_JOIN_ACK",
        "player_id": who,
        "arrival_timestamp": STAMP["timestamp"],
        "accept": True,
    },
    "CHOOSE_PARITY_CALL": lambda message, who: {
        "message_type": "CHOOSE_PARITY_RESPONSE",
        "player_id": who,
        "parity_choice": "even",
    },
    "GAME_MOVE_CALL": lambda message, who: {
        "message_type": "GAME_MOVE_RESPONSE",
        "player_id": who,
        "move": message["legal_moves"][0],
    },
    "START_MATCH": lambda message, who: {
        "message_type": "START_MATCH_RESPONSE",
        "status": "ACCEPTED",
        "reason": None,
    },
}

Behaviour: TypeAlias = Callable[[Call], Answer | Awaitable[Answer]]


def behaves(call: Call) -> Answer:
    return call.returns(call.right())


def garbles(call: Call) -> Answer:
    return Answer(200, b"<html>It works!</html>")


def breaks(call: Call) -> Answer:
    return Answer(503, b"down")


def does_not_know(call: Call) -> Answer:
    return call.refuses(RpcCode.METHOD_NOT_FOUND, "method not found")


async def stays_silent(call: Call) -> Answer:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets the event")


def says(**wrong: Json) -> Behaviour:
    """Give the right answer, except for these fields."""
    return lambda call: call.returns({**call.right(), **wrong})


def refuses(rpc_code: int, data: Json = None) -> Behaviour:
    return lambda call: call.refuses(rpc_code, data=data)


def takes(seconds: float, then: Behaviour = behaves) -> Behaviour:
    async def answer(call: Call) -> Answer:
        await asyncio.sleep(seconds)
        return await settled(then(call))

    return answer


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Use one behaviour per call, in order; the last one is used from then on."""
    left = list(behaviours)

    def answer(call: Call) -> Answer | Awaitable[Answer]:
        behaviour = left.pop(0) if len(left) > 1 else left[0]
        return behaviour(call)

    return answer


async def settled(answer: Answer | Awaitable[Answer]) -> Answer:
    return answer if isinstance(answer, Answer) else await answer


class Scripted:
    """An agent that behaves correctly, except *on* the messages that have a behaviour of their own."""

    def __init__(self, who: str, on: Mapping[str, Behaviour] | None = None) -> None:
        self.who = who
        self.on = dict(on or {})
        self.received: list[Call] = []
        self.called = asyncio.Event()
        """Set with every call."""

    def __call__(self, body: bytes) -> Answer | Awaitable[Answer]:
        frame = json.loads(body)
        bare = "method" not in frame
        message = frame if bare else frame.get("params", {})
        if frame.get("method") == "tools/call":
            message = message.get("arguments", message)
        call = Call(now(), frame.get("method"), frame.get("id"), message, self.who)
        if "message_type" not in message:  # the league asks which dialect is spoken here
            return behaves(call)
        self.received.append(call)
        self.called.set()
        return self.on.get(call.kind, behaves)(call)

    def calls(self, kind: str) -> list[Call]:
        return [call for call in self.received if call.kind == kind]

    def messages(self, kind: str) -> list[Json]:
        return [call.message for call in self.calls(kind)]

    def times(self, kind: str) -> list[float]:
        return [call.at for call in self.calls(kind)]

    def kinds(self) -> list[str]:
        return [call.kind for call in self.received]

    async def has_heard(self, kind: str, times: int = 1) -> None:
        """Wait until it was sent *kind* so many times."""
        while len(self.calls(kind)) < times:
            self.called.clear()
            await self.called.wait()


def hosted(answer: Callable[[bytes], Answer | Awaitable[Answer]]) -> Site:
    """Return a site that answers every request with *answer*."""
    return Site(
        answer=lambda body, headers: answer(body),
        find_page=lambda path: None,
        too_large=lambda: Answer(413, b""),
        body_limit=LIMIT,
    )
