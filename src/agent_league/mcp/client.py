"""A client of the Model Context Protocol, for servers that may be slow, broken or hostile.

It knows both eras: requests that stand for themselves (2026-07-28), and the handshake of the
revisions before. What a server says of its tools is read, never run: no schema of the other side
is applied, none of its patterns is matched. How bytes travel is the carrier's (`client_http.py`,
`stdio.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct, UnsetType

from agent_league.mcp.client_tools import (
    MOST_TOOLS,
    Called,
    Tool,
    Toolbox,
    toolbox,
)
from agent_league.protocol.jsonrpc import FrameError, Problem, Returned, read_returned
from agent_league.transport import (
    LateError,
    NoAnswerError,
    NonsenseError,
    RefusedError,
    UnreachableError,
)
from agent_league.vocabulary import Json

T = TypeVar("T")

MODERN = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions that begin with a handshake, the newest first."""

UNSUPPORTED_VERSION = -32022
MOST_PAGES = 16
_CLIENT: Mapping[str, Json] = {"name": "agent-league", "version": "1.0.0"}
_META = "io.modelcontextprotocol/"
_encode = msgspec.json.Encoder().encode


class SessionLostError(UnreachableError):
    """The server has forgotten our session; what was asked was not done."""


class Outgoing(NamedTuple):
    """A request, or a notification, on its way to a server."""

    method: str
    params: Mapping[str, Json]
    number: int | None
    """None for a notification."""
    version: str | None
    """The revision that is spoken; None while the handshake is finding it out."""
    mirrored: Mapping[str, str] = MappingProxyType({})
    """Arguments that the tool wants to see in headers too."""

    def body(self) -> bytes:
        frame: dict[str, Any] = {"jsonrpc": "2.0", "method": self.method, "params": self.params}
        return _encode(frame if self.number is None else {**frame, "id": self.number})


class Carrier(Protocol):
    """Brings messages to one server."""

    @property
    def name(self) -> str:
        """What the server is called in sentences about it."""
        ...

    async def send(self, said: Outgoing, within: float) -> bytes:
        """Return the frame that answers *said*, nothing for a notification."""
        ...

    def forget(self) -> None:
        """Forget the session, so that the next handshake opens another."""
        ...


class _Discovered(Struct):
    supportedVersions: list[str]  # noqa: N815 - MCP's spelling


class _Initialized(Struct):
    protocolVersion: str  # noqa: N815 - MCP's spelling


class _ToolPage(Struct):
    tools: Annotated[list[Raw], Meta(max_length=MOST_TOOLS)]
    nextCursor: str | None = None  # noqa: N815 - MCP's spelling


class McpClient:
    """Speaks to one server in the newest revision that it knows; opens a lost session again."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self._numbers = count(1)
        self._opening = asyncio.Lock()
        self.version: str | None = None
        """The revision that is spoken, once that is known."""

    @property
    def name(self) -> str:
        return self._carrier.name

    async def connect(self, within: float) -> str:
        """Find out which revision the server speaks, unless that is known already."""
        async with bounded(within, self.name), self._opening:
            if self.version is None:
                self.version = await self._negotiated(within)
            return self.version

    async def shake_hands(self, within: float) -> str:
        """Connect by the handshake alone, which nearly every server knows."""
        async with bounded(within, self.name), self._opening:
            self.version = await self._shaken_hands(within)
            return self.version

    def disconnect(self) -> None:
        """Forget what was found out: the next call finds it out anew."""
        self.version = None
        self._carrier.forget()

    async def list_tools(self, within: float) -> Toolbox:
        """Return the tools that the server offers, if they are not too many."""
        async with bounded(within, self.name):
            return await self._listed(within)

    async def call_tool(self, tool: Tool, arguments: Mapping[str, Json], within: float) -> Called:
        """Return what a tool says, right or wrong."""
        params = {"name": tool.name, "arguments": arguments}
        mirrored = tool.mirrored(arguments)
        async with bounded(within, self.name):
            return self._read(Called, await self._asked("tools/call", params, within, mirrored))

    async def heartbeat(self, within: float) -> None:
        """See whether the server still answers, or raise a `NoAnswerError`."""
        async with bounded(within, self.name):
            version = await self.connect(within)
            await self._asked("server/discover" if version == MODERN else "ping", {}, within)

    async def _listed(self, within: float) -> Toolbox:
        found: list[Raw] = []
        params: dict[str, Json] = {}
        for _ in range(MOST_PAGES):
            page = self._read(_ToolPage, await self._asked("tools/list", params, within))
            found += page.tools
            if len(found) > MOST_TOOLS:
                break
            if not page.nextCursor:
                return toolbox(found, self.name)
            params = {"cursor": page.nextCursor}
        raise NonsenseError(f"{self.name} offers more tools than anybody needs")

    async def _asked(
        self,
        method: str,
        params: Mapping[str, Json],
        within: float,
        mirrored: Mapping[str, str] = MappingProxyType({}),
    ) -> Raw:
        version = await self.connect(within)
        try:
            return await self._answer(method, params, version, within, mirrored)
        except SessionLostError:
            if self.version == version:  # nobody has opened another session meanwhile
                self.disconnect()
        return await self._answer(method, params, await self.connect(within), within, mirrored)

    async def _negotiated(self, within: float) -> str:
        try:
            answer = await self._answer("server/discover", {}, MODERN, within)
            if MODERN in self._read(_Discovered, answer).supportedVersions:
                return MODERN
        except LateError:
            raise
        except NoAnswerError as error:  # an older server may say anything to what it cannot know
            if isinstance(error, RefusedError) and _supports_modern(error):
                return MODERN
        return await self._shaken_hands(within)

    async def _shaken_hands(self, within: float) -> str:
        hello = {"protocolVersion": HANDSHAKE[0], "capabilities": {}, "clientInfo": _CLIENT}
        answer = await self._answer("initialize", hello, None, within)
        version = self._read(_Initialized, answer).protocolVersion
        if version not in HANDSHAKE:
            raise NonsenseError(f"{self.name} speaks {version[:40]!r}, which nobody knows")
        done = Outgoing("notifications/initialized", {}, None, version)
        await self._carrier.send(done, within)
        return version

    async def _answer(
        self,
        method: str,
        params: Mapping[str, Json],
        version: str | None,
        within: float,
        mirrored: Mapping[str, str] = MappingProxyType({}),
    ) -> Raw:
        if version == MODERN:
            params = {**params, "_meta": _modern_meta()}
        said = Outgoing(method, params, next(self._numbers), version, mirrored)
        frame = self._frame(await self._carrier.send(said, within))
        if isinstance(frame.error, Problem):
            raise RefusedError(frame.error.code, frame.error.message[:500], frame.error.data)
        if frame.id != said.number or isinstance(frame.result, UnsetType):
            raise NonsenseError(f"{self.name} did not answer what was asked")
        return frame.result

    def _frame(self, body: bytes) -> Returned:
        try:
            return read_returned(body)
        except FrameError as error:
            raise NonsenseError(f"{self.name}: {error.detail[:300]}") from error

    def _read(self, kind: type[T], raw: Raw) -> T:
        try:
            return msgspec.json.decode(raw, type=kind)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise NonsenseError(f"{self.name}: {str(error)[:300]}") from None


def _supports_modern(refused: RefusedError) -> bool:
    """Whether a server that will not have a revision names the same among those it will have."""
    data = refused.data if isinstance(refused.data, dict) else {}
    supported = data.get("supported")
    unsupported = refused.rpc_code == UNSUPPORTED_VERSION
    return unsupported and isinstance(supported, list) and MODERN in supported


def _modern_meta() -> dict[str, Json]:
    """Return what every request of the newest revision says of its sender."""
    return {
        f"{_META}protocolVersion": MODERN,
        f"{_META}clientInfo": dict(_CLIENT),
        f"{_META}clientCapabilities": {},
    }


@asynccontextmanager
async def bounded(within: float, name: str) -> AsyncIterator[None]:
    """Let the block take *within* seconds in all, and no more."""
    try:
        async with asyncio.timeout(within):
            yield
    except TimeoutError:
        raise LateError(f"{name} gave no whole answer within {within:g} s") from None
