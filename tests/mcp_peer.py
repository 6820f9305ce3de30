"""A small MCP server that follows a script: either era, with sessions or without."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeAlias

from agent_league.http.exchange import Answer, HttpRequest, Response
from agent_league.protocol.failures import LateError
from league_box import Recorder
from scripted import hosted
from stream_server import StreamServer

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
SESSION = "mcp-session-id"

Act: TypeAlias = Callable[[dict[str, Any]], Any]
"""What a tool does with its arguments: the result of `tools/call`, or an awaitable of it."""


class Asked(NamedTuple):
    method: str
    params: dict[str, Any]
    headers: dict[str, str]


def text(reply: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": reply}], "isError": error}


def structured(reply: Any) -> dict[str, Any]:
    return {**text(json.dumps(reply)), "structuredContent": reply}


def even(arguments: dict[str, Any]) -> dict[str, Any]:
    return structured({"parity_choice": "even"})


class RefusalError(Exception):
    """The server answers with an error."""

    def __init__(self, status: int, code: int, message: str = "no", data: Any = None) -> None:
        super().__init__(message)
        self.status, self.code, self.data = status, code, data


@dataclass
class McpPeer:
    """A server whose tools are functions; what it is asked is kept in *heard*."""

    tools: dict[str, Act] = field(default_factory=lambda: {"choose_parity": even})
    properties: dict[str, list[str]] = field(default_factory=dict)
    """The arguments that a tool declares, if it declares any."""
    modern: bool = False
    sessions: bool = True
    version: str = HANDSHAKE
    page: int = 100
    received: list[Asked] = field(default_factory=list)
    sessions_open: set[str] = field(default_factory=set)
    opened: int = 0
    token: str | None = None
    """What every request must bear, if anything; in lower case."""
    hidden: frozenset[str] = frozenset()
    """The tools that are not listed."""

    async def answer(self, parcel: HttpRequest) -> Response:
        """Return what a genuine server would."""
        frame, headers = json.loads(parcel.body), {k.lower(): v for k, v in parcel.headers.items()}
        asked = Asked(frame["method"], frame.get("params", {}), headers)
        self.received.append(asked)
        if self.token and headers.get("authorization", "").lower() != f"bearer {self.token}":
            return Response(401, b"Unauthorized", {"content-type": "text/plain"})
        opened: dict[str, str] = {}
        try:
            result = await self._result(asked, opened)
        except RefusalError as error:
            problem = {"code": error.code, "message": str(error), "data": error.data}
            return self._said(error.status, {"error": problem, "id": frame.get("id")}, opened)
        if "id" not in frame:
            return Response(202, b"", opened)
        return self._said(200, {"result": result, "id": frame["id"]}, opened)

    def _said(self, status: int, reply: dict[str, Any], headers: dict[str, str]) -> Response:
        body = json.dumps({"jsonrpc": "2.0", **reply}).encode()
        return Response(status, body, {"content-type": "application/json", **headers})

    async def _result(self, asked: Asked, opened: dict[str, str]) -> Any:
        if asked.method == "initialize":
            return self._initialize(opened)
        self._check(asked)
        if asked.method == "tools/list":
            return self._page(int(asked.params.get("cursor", 0)))
        if asked.method == "tools/call":
            if asked.params["name"] not in self.tools:
                raise RefusalError(200, -32602, "no such tool")
            result = self.tools[asked.params["name"]](asked.params["arguments"])
            return await result if isinstance(result, Awaitable) else result
        known = {"server/discover": {"supportedVersions": [MODERN]}}
        return known.get(asked.method, {})

    def _initialize(self, opened: dict[str, str]) -> Any:
        if self.sessions:
            self.opened += 1
            opened[SESSION] = f"session-{self.opened}"
            self.sessions_open.add(opened[SESSION])
        return {"protocolVersion": self.version, "capabilities": {}, "serverInfo": {"name": "x"}}

    def _check(self, asked: Asked) -> None:
        if asked.headers.get("mcp-protocol-version") == MODERN:
            if not self.modern:
                raise RefusalError(400, -32600, "Unsupported protocol version")
            assert asked.headers["mcp-method"] == asked.method
            assert asked.headers.get("mcp-name") == asked.params.get("name")
            assert asked.params["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN
        elif self.sessions and asked.headers.get(SESSION) not in self.sessions_open:
            raise RefusalError(404, -32600, "Session not found")

    def _page(self, start: int) -> dict[str, Any]:
        listed = [self.listed(name) for name in self.tools if name not in self.hidden]
        more = {"nextCursor": str(start + self.page)} if start + self.page < len(listed) else {}
        return {"tools": listed[start : start + self.page], **more}

    def forget_sessions(self) -> None:
        """Know no session any more, as after a restart."""
        self.sessions_open.clear()

    def listed(self, name: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object"}
        if name in self.properties:
            schema["properties"] = {key: {"type": "string"} for key in self.properties[name]}
        return {"name": name, "inputSchema": schema}

    def methods(self) -> list[str]:
        return [asked.method for asked in self.received]

    def called(self, name: str) -> list[dict[str, Any]]:
        """Return the arguments of every call of a tool."""
        return [
            asked.params["arguments"]
            for asked in self.received
            if asked.method == "tools/call" and asked.params["name"] == name
        ]

    def refuse(self, body: bytes) -> Answer:
        """Answer a call in the league's dialect, as genuine servers do."""
        return Answer(406, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}')


class McpNetwork(Recorder):
    """The wire in memory, at which MCP servers are hosted too."""

    def __init__(self) -> None:
        super().__init__()
        self._servers: dict[str, McpPeer] = {}

    def host_mcp(self, url: str, server: McpPeer) -> None:
        self._servers[url] = server
        self.host(url, hosted(server.refuse))

    async def exchange(self, url: str, parcel: HttpRequest, within: float) -> Response:
        if url not in self._servers:
            return await super().exchange(url, parcel, within)
        try:
            return await asyncio.wait_for(self._servers[url].answer(parcel), within)
        except TimeoutError:
            raise LateError(f"{url} gave no answer within {within:g} s") from None


class ServedMcpPeer:
    """Serves an MCP server at a real port; *events* makes its answers streams of events."""

    def __init__(self, server: McpPeer, *, events: bool = False) -> None:
        self.server, self.events = server, events
        self.url = ""
        self._listening = StreamServer(self._serve)

    async def __aenter__(self) -> Self:
        self.url = await self._listening.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._listening.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode().strip().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines)
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            await self._respond(first, HttpRequest(body, headers, lambda event: True), writer)

    async def _respond(self, first: str, parcel: HttpRequest, writer: asyncio.StreamWriter) -> None:
        if not first.startswith("POST"):
            received = Response(405, b"{}")
        elif "event-stream" not in parcel.headers["accept"]:
            refusal = self.server.refuse(parcel.body)
            received = Response(refusal.status, refusal.body)
        else:
            received = await self.server.answer(parcel)
        await self.write(received, writer)

    async def write(self, received: Response, writer: asyncio.StreamWriter) -> None:
        head, body = dict(received.headers), received.body
        if self.events and received.status == 200 and body:
            head["content-type"] = "text/event-stream"
            note = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
            body = b": ping\r\n\r\n" + b"".join(b"data: %b\r\n\r\n" % e for e in (note, body))
        head["content-length"] = str(len(body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        writer.write(f"HTTP/1.1 {received.status} So\r\n{lines}\r\n".encode() + body)
        await writer.drain()
