"""Agents that do not behave: silent, slow, lying, garbled, gone. Real servers on real ports.

They are written on bare sockets, without our transport, because what they do wrong is mostly
what a decent server would not let them do.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

from agent_league.clock import system_clock, written

Body = dict[str, Any]
Act = Callable[["Rascal", Body, asyncio.StreamWriter], Awaitable[None]]

REPLIES = {"GAME_INVITATION": "GAME_JOIN_ACK", "CHOOSE_PARITY_CALL": "CHOOSE_PARITY_RESPONSE"}


class Rascal:
    """A player that plays honestly but for what *act* does to the messages in *only*."""

    def __init__(self, act: Act, only: str) -> None:
        self.act, self.only = act, only
        self.player_id = "P00"
        self.heard: list[Body] = []
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[Any]] = set()

    async def open(self) -> str:
        """Listen at any port, and return the endpoint."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/mcp"

    def hang_up(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def close(self) -> None:
        """Leave nothing behind, not even calls that would never have been answered."""
        self.hang_up()
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

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
        times = {"timestamp": written(system_clock()), "conversation_id": conversation}
        return {**stamp, **times, **fields}

    def honest(self, request: Body) -> Body:
        """Return the frame that a good player would answer with."""
        asked = request["params"]
        kind = REPLIES.get(asked.get("message_type"))
        if kind is None:
            return {"jsonrpc": "2.0", "result": {"status": "ok"}, "id": request["id"]}
        fields: Body = {"match_id": asked["match_id"], "player_id": self.player_id}
        if kind == "GAME_JOIN_ACK":
            fields |= {"arrival_timestamp": written(system_clock()), "accept": True}
        else:
            fields |= {"parity_choice": "even"}
        said = self.message(kind, asked["conversation_id"], **fields)
        return {"jsonrpc": "2.0", "result": said, "id": request["id"]}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._calls.add(cast("asyncio.Task[Any]", asyncio.current_task()))
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")).startswith(b"POST"):
                request = json.loads(await reader.readexactly(_length(head)))
                if "message_type" in request["params"]:  # else the league asks who we are
                    self.heard.append(request["params"])
                if request["params"].get("message_type") == self.only:
                    await self.act(self, request, writer)
                else:
                    send(writer, self.honest(request))
            send(writer, {"hello": "there"})
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


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
    """Answer rightly, but only when nobody waits any more."""
    await asyncio.sleep(0.9)
    send(writer, rascal.honest(request))


async def dripping(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Send the answer byte by byte, so that something always comes, but never the end."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n")
    while not writer.is_closing():
        writer.write(b" ")
        await asyncio.sleep(0.02)


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
    """Die in the middle of a match: the port is gone with everything behind it."""
    rascal.hang_up()
    writer.transport.abort()


async def lying(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    """Answer in the name of somebody else."""
    frame = rascal.honest(request)
    frame["result"] |= {"player_id": "P01", "sender": "player:P01"}
    send(writer, frame)


async def erring(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
    error = {"code": -32603, "message": "out of luck"}
    send(writer, {"jsonrpc": "2.0", "error": error, "id": request["id"]})
