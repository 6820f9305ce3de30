"""A client of the Model Context Protocol, for servers that may be slow, broken or hostile.

It knows both eras: requests that stand for themselves (2026-07-28), and the handshake of the
revisions before. What a server says of its tools is read, never run: no schema of the other side
is applied, and none of its patterns is matched. A `Transport` carries the bytes.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from types import MappingProxyType
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct, UnsetType

from agent_league.dialects.mcp.tools import MAX_TOOLS, Tool, ToolList, ToolResult, read_tool_list
from agent_league.dialects.mcp.transports import (
    MODERN,
    TRACEPARENT,
    RpcRequest,
    SessionLostError,
    Transport,
)
from agent_league.own_time import own_time, timeout_at
from agent_league.protocol.failures import LateError, NoAnswerError, NonsenseError, RefusedError
from agent_league.protocol.jsonrpc import FrameError, RpcError, read_response
from agent_league.vocabulary import Json

T = TypeVar("T")

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions that begin with a handshake, the newest first."""

UNSUPPORTED_VERSION = -32022
MAX_PAGES = 16
_CLIENT: Mapping[str, Json] = {"name": "agent-league", "version": "1.0.0"}
_MODERN_META: Mapping[str, Json] = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""What every request of the newest revision tells about its client."""


class _DiscoverResult(Struct):
    supportedVersions: list[str]  # noqa: N815 - MCP's spelling


class _InitializeResult(Struct):
    protocolVersion: str  # noqa: N815 - MCP's spelling


class _ToolPage(Struct):
    tools: Annotated[list[Raw], Meta(max_length=MAX_TOOLS)]
    nextCursor: str | None = None  # noqa: N815 - MCP's spelling


class McpClient:
    """Speaks to one server in the newest revision that it knows; opens a lost session again."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._numbers = count(1)
        self._connect_lock = asyncio.Lock()
        self.version: str | None = None
        """The revision of the protocol, once it is known."""

    @property
    def name(self) -> str:
        return self._transport.name

    async def connect(self, within: float, *, handshake_only: bool = False) -> str:
        """Find out which revision the server speaks, unless that is known already.

        Nearly every server knows the handshake, so a caller may try that alone.
        """
        async with time_limit(within, self.name), self._connect_lock:
            if self.version is None:
                negotiate = self._handshake if handshake_only else self._negotiate
                self.version = await negotiate(within)
            return self.version

    def disconnect(self) -> None:
        """Forget the revision and the session; the next call connects again."""
        self.version = None
        self._transport.forget()

    async def list_tools(self, within: float) -> ToolList:
        """Return the tools that the server offers, if they are not too many."""
        found: list[Raw] = []
        params: dict[str, Json] = {}
        async with time_limit(within, self.name):
            for _ in range(MAX_PAGES):
                page = self._decode(_ToolPage, await self._request("tools/list", params, within))
                found += page.tools
                if len(found) > MAX_TOOLS:
                    break
                if not page.nextCursor:
                    return read_tool_list(found, self.name)
                params = {"cursor": page.nextCursor}
        raise NonsenseError(f"{self.name} offers more tools than anybody needs")

    async def call_tool(
        self,
        tool: Tool,
        arguments: Mapping[str, Json],
        within: float,
        traceparent: str | None = None,
    ) -> ToolResult:
        """Return the result of a tool, also if that is an error."""
        params: dict[str, Json] = {"name": tool.name, "arguments": arguments}
        if traceparent is not None:
            params["_meta"] = {TRACEPARENT: traceparent}
        header_params = tool.header_params(arguments)
        async with time_limit(within, self.name):
            result = await self._request("tools/call", params, within, header_params)
        return self._decode(ToolResult, result)

    async def ping(self, within: float) -> None:
        """See whether the server still answers, or raise a `NoAnswerError`."""
        async with time_limit(within, self.name):
            version = await self.connect(within)
            await self._request("server/discover" if version == MODERN else "ping", {}, within)

    async def _request(
        self,
        method: str,
        params: Mapping[str, Json],
        within: float,
        header_params: Mapping[str, str] = MappingProxyType({}),
    ) -> Raw:
        version = await self.connect(within)
        try:
            return await self._send_request(method, params, version, within, header_params)
        except SessionLostError:
            if self.version == version:  # nobody has opened another session meanwhile
                self.disconnect()
        return await self._send_request(
            method, params, await self.connect(within), within, header_params
        )

    async def _negotiate(self, within: float) -> str:
        try:
            answer = await self._send_request("server/discover", {}, MODERN, within)
            if MODERN in self._decode(_DiscoverResult, answer).supportedVersions:
                return MODERN
        except LateError:
            raise
        except RefusedError as error:
            # A server may refuse the newest revision, and list it as supported all the same.
            match error.data:
                case {"supported": [*versions]} if MODERN in versions:
                    if error.rpc_code == UNSUPPORTED_VERSION:
                        return MODERN
        except NoAnswerError:  # an older server may answer anything
            pass
        return await self._handshake(within)

    async def _handshake(self, within: float) -> str:
        params = {"protocolVersion": HANDSHAKE[0], "capabilities": {}, "clientInfo": _CLIENT}
        answer = await self._send_request("initialize", params, None, within)
        version = self._decode(_InitializeResult, answer).protocolVersion
        if version not in HANDSHAKE:
            raise NonsenseError(f"{self.name} speaks {version[:40]!r}, which nobody knows")
        notification = RpcRequest("notifications/initialized", {}, None, version)
        await self._transport.send(notification, within)
        return version

    async def _send_request(
        self,
        method: str,
        params: Mapping[str, Json],
        version: str | None,
        within: float,
        header_params: Mapping[str, str] = MappingProxyType({}),
    ) -> Raw:
        if version == MODERN:
            params = {**params, "_meta": {**_MODERN_META, **params.get("_meta", {})}}
        request = RpcRequest(method, params, next(self._numbers), version, header_params)
        body = await self._transport.send(request, within)
        try:
            frame = read_response(body)
        except FrameError as error:
            raise NonsenseError(f"{self.name}: {error.detail[:300]}") from error
        if isinstance(frame.error, RpcError):
            raise RefusedError(frame.error.code, frame.error.message[:500], frame.error.data)
        if frame.id != request.number or isinstance(frame.result, UnsetType):
            raise NonsenseError(f"{self.name} did not answer what was asked")
        return frame.result

    def _decode(self, kind: type[T], raw: Raw) -> T:
        try:
            return msgspec.json.decode(raw, type=kind)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise NonsenseError(f"{self.name}: {str(error)[:300]}") from None


@asynccontextmanager
async def time_limit(within: float, name: str) -> AsyncIterator[None]:
    """Let the block take *within* seconds in all, and no more."""
    try:
        async with timeout_at(own_time() + within):
            yield
    except TimeoutError:
        raise LateError(f"{name} gave no whole answer within {within:g} s") from None
