"""Players that misbehave: silent, slow, lying, garbled, gone. Real servers on real ports.

They are written on plain sockets, without our HTTP server, because it would not let them do most
of what they do wrong.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from agent_league.clock import format_time, system_clock
from stream_server import StreamServer

Body = dict[str, Any]
Act = Callable[["Rascal", Body, asyncio.StreamWriter], Awaitable[None]]

REPLIES = {"GAME_INVITATION": "GAME_JOIN_ACK", "CHOOSE_PARITY_CALL": "CHOOSE_PARITY_RESPONSE"}


class Rascal:
    """A player that plays honestly but for what *act* does to the messages in *only*."""

    def __init__(self, act: Act, only: str) -> None:
        self.act, self.only = act, only
        self.player_id = "P00"
        self.received: list[Body] = []
        self.server = StreamServer(self._serve)

    def application(self, endpoint: str) -> Body:
        """Return a registration as anybody would write it."""
        meta = {
            "display_name": f"Rascal {self.act.__name__}",
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": endpoint,
        }
        return self.message("LEAGUE_REGISTER_REQUEST", "conv-reg", player_meta=meta)

    def message(self, kind: str, conversation: str, **fields: Any) -> Body:
        stamp = {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": f"player:{self.player_id}",
        }
        times = {"timestamp": format_time(system_clock()), "conversation_id": conversation}
        return {**stamp, **times, **fields}

    def honest(self, request: Body) -> Body:
        """Return the frame that a good player would answer with."""
        asked = request.get("params", {})
        kind = REPLIES.get(asked.get("message_type"))
        if kind is None:
            return {"jsonrpc": "2.0", "result": {"status": "ok"}, "id": request.get("id")}
        fields: Body = {"match_id": asked["match_id"], "player_id": self.player_id}
        if kind == "GAME_JOIN_ACK":
            fields |= {"arrival_timestamp": format_time(system_clock()), "accept": True}
        else:
            fields |= {"parity_choice": "even"}
        reply = self.message(kind, asked["conversation_id"], **fields)
        return {"jsonrpc": "2.0", "result": reply, "id": request["id"]}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await reader.readuntil(b"\r\n\r\n")).startswith(b"POST"):
            request = json.loads(await reader.readexactly(_length(head)))
            if "message_type" in request.get("params", {}):  # else the league asks who we are
                self.received.append(request["params"])
            if request.get("params", {}).get("message_type") == self.only:
                await self.act(self, request, writer)
            else:
                send(writer, self.honest(request))
        send(writer, {"hello": "there"})


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def send(writer: asyncio.StreamWriter, body: Body | bytes, kind: str = "application/json") -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(raw)}\r\n\r\n"
    writer.write(head.encode() + raw)


async def silent(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Take the call and never answer."""
    await asyncio.Event().wait()


async def slow(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Give the right answer, but after the deadline."""
    await asyncio.sleep(0.9)
    send(writer, rascal.honest(request))


async def dripping(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Send the answer byte by byte, and never finish it."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n")
    while not writer.is_closing():
        writer.write(b" ")
        await asyncio.sleep(0.1)


async def garbled(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    send(writer, b'{"jsonrpc": "2.0", "result": {"mess')


async def html(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    send(writer, b"<html><body>It works!</body></html>", "text/html")


async def wrong_id(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    send(writer, {**rascal.honest(request), "id": 987654})


async def wrong_match(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    frame = rascal.honest(request)
    frame["result"]["match_id"] = "R77M77"
    send(writer, frame)


async def wrong_case(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    frame = rascal.honest(request)
    frame["result"]["parity_choice"] = "Even"
    send(writer, frame)


async def wrong_types(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    frame = rascal.honest(request)
    frame["result"]["accept"] = "true"
    send(writer, frame)


async def refusing(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    frame = rascal.honest(request)
    frame["result"]["accept"] = False
    send(writer, frame)


async def crashing(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Stop in the middle of a match: the port is closed from then on."""
    await rascal.server.stop_listening()
    writer.transport.abort()


async def lying(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Answer with the id of another player."""
    frame = rascal.honest(request)
    frame["result"] |= {"player_id": "P01", "sender": "player:P01"}
    send(writer, frame)


async def erring(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    error = {"code": -32603, "message": "out of luck"}
    send(writer, {"jsonrpc": "2.0", "error": error, "id": request["id"]})
