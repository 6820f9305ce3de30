"""How requests are carried to an MCP server: over HTTP, or over the standard input of a command."""

import asyncio
import base64
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_league.http.exchange import HttpRequest, Response, SendRequest
from agent_league.protocol import ErrorCode
from agent_league.protocol.failures import NonsenseError, UnreachableError
from agent_league.protocol.jsonrpc import Id
from agent_league.vocabulary import Json

MODERN = "2026-07-28"
TRACEPARENT = "traceparent"
"""Both a header of HTTP and a key of `_meta`."""
MAX_LINE_BYTES = 1 << 20
"""How long a line of the server may be."""
CLOSE_GRACE = 2.0
"""Seconds that a server has to end once its input is closed."""
_SESSION_ID = re.compile(r"[!-~]{1,1024}")
_PLAIN_VALUE = re.compile(r"(?!=\?base64\?)[!-~]([ -~]*[!-~])?")
_OK, _BAD_REQUEST, _NOT_FOUND = 200, 400, 404
_WANTS_TOKEN = frozenset({401, 403})
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_SESSION_HEADER = "mcp-session-id"
_encode = msgspec.json.Encoder().encode


class SessionLostError(UnreachableError):
    """The server has forgotten our session, and did not do what was asked."""


class RpcRequest(NamedTuple):
    """A request, or a notification, on its way to a server."""

    method: str
    params: Mapping[str, Json]
    number: int | None
    """None for a notification."""
    version: str | None
    """The revision of the protocol; None while the handshake finds it out."""
    header_params: Mapping[str, str] = _NO_HEADERS
    """Arguments that the tool wants to see in headers too."""

    def body(self) -> bytes:
        frame: dict[str, Any] = {"jsonrpc": "2.0", "method": self.method, "params": self.params}
        return _encode(frame if self.number is None else {**frame, "id": self.number})


class _Head(Struct):
    id: Id | UnsetType = UNSET
    method: str | UnsetType = UNSET


_head_decoder = msgspec.json.Decoder(_Head)


def read_answer_id(frame: bytes) -> Id | UnsetType:
    """Return the id of the request that *frame* answers; UNSET if it is no answer."""
    try:
        head = _head_decoder.decode(frame)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return UNSET
    return head.id if head.method is UNSET else UNSET


class Transport(Protocol):
    """Sends messages to one server."""

    @property
    def name(self) -> str:
        """The name of the server in error messages."""
        ...

    async def send(self, request: RpcRequest, within: float) -> bytes:
        """Return the frame that answers *request*, nothing for a notification.

        The caller stops waiting after *within* seconds.
        """
        ...

    def forget(self) -> None:
        """Forget the session, so that the next handshake opens another."""
        ...

    async def close(self) -> None:
        """End what was started for it."""
        ...


class HttpTransport:
    """Posts to the server at *url*, and remembers the session that it opens."""

    def __init__(
        self, url: str, send_request: SendRequest, headers: Mapping[str, str] = _NO_HEADERS
    ) -> None:
        self.name = url
        self._send_request, self._own_headers = send_request, headers
        self._session: str | None = None

    def forget(self) -> None:
        self._session = None

    async def send(self, request: RpcRequest, within: float) -> bytes:
        http_request = HttpRequest(
            request.body(),
            self._headers(request),
            lambda event: read_answer_id(event) == request.number,  # other events come too
        )
        response = await self._send_request(self.name, http_request, within)
        if request.method == "initialize":
            self._session = self._read_session(response)
        if request.number is None:
            return b""
        if self._session is not None and _is_session_lost(response):
            raise SessionLostError(f"{self.name} has forgotten our session")
        return self._read_answer(response)

    def _headers(self, request: RpcRequest) -> dict[str, str]:
        headers = {
            **self._own_headers,
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        }
        if traceparent := request.params.get("_meta", {}).get(TRACEPARENT):
            headers[TRACEPARENT] = traceparent
        if request.version is not None:
            headers["mcp-protocol-version"] = request.version
        if request.version == MODERN:
            headers["mcp-method"] = request.method
            if request.method == "tools/call":
                headers["mcp-name"] = _header_value(str(request.params["name"]))
            for token, value in request.header_params.items():
                headers[f"mcp-param-{token}"] = _header_value(value)
        elif self._session is not None and request.version is not None:
            headers[_SESSION_HEADER] = self._session
        return headers

    def _read_session(self, response: Response) -> str | None:
        session = response.headers.get(_SESSION_HEADER)
        if session is not None and not _SESSION_ID.fullmatch(session):
            raise NonsenseError(f"{self.name} opened a session without a usable name")
        return session

    def _read_answer(self, response: Response) -> bytes:
        if response.status in _WANTS_TOKEN:
            raise NonsenseError(
                f"{self.name} answered HTTP {response.status}: it wants a token, or another one",
                ErrorCode.AUTH_TOKEN_MISSING,
            )
        if response.status >= _BAD_REQUEST and read_answer_id(response.body) is UNSET:
            raise NonsenseError(f"{self.name} answered HTTP {response.status}, and not as MCP does")
        if response.body:
            return response.body
        if response.status == _OK:
            raise UnreachableError(f"{self.name} ended its answer before it was given")
        raise NonsenseError(f"{self.name} answered HTTP {response.status} and nothing else")

    async def close(self) -> None:
        """Leave the connections to the client that keeps them."""


def _is_session_lost(response: Response) -> bool:
    # MCP asks for 404; some older servers answer 400 and mention the session.
    mentions_session = response.status == _BAD_REQUEST and b"session" in response.body.lower()
    return mentions_session or response.status == _NOT_FOUND


def _header_value(text: str) -> str:
    """Return *text* as MCP encodes it in a header, where not every character is allowed."""
    if _PLAIN_VALUE.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode('ascii')}?="


class StdioTransport:
    """Talks to a server over its standard input and output.

    Starts *command* as that server on this machine, and again if it has ended; only a person may
    ask for that.
    """

    def __init__(self, command: str) -> None:
        self.name = command
        self._process: asyncio.subprocess.Process | None = None
        self._reader_task: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[bytes]] = {}

    def forget(self) -> None:
        """Keep the process: it is the session."""

    async def send(self, request: RpcRequest, within: float) -> bytes:
        process = await self._ensure_running(request)
        if request.number is None:
            await self._write(process, request)
            return b""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[request.number] = answer
        try:
            await self._write(process, request)
            return await answer
        finally:
            self._waiting.pop(request.number, None)

    async def close(self) -> None:
        """Close the input of the server, and kill it if it does not end in time."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(CLOSE_GRACE):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if self._reader_task is not None:
            await self._reader_task

    async def _ensure_running(self, request: RpcRequest) -> asyncio.subprocess.Process:
        # A process whose output has ended will not answer, even if it still runs.
        if self._process and self._reader_task and not self._reader_task.done():
            return self._process
        await self.close()
        if request.method not in {"initialize", "server/discover"}:
            raise SessionLostError(f"{self.name} has ended, and is started again")
        try:
            self._process = await asyncio.create_subprocess_exec(
                *shlex.split(self.name),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=MAX_LINE_BYTES,
            )
        except (OSError, ValueError) as error:
            raise UnreachableError(f"{self.name!r} cannot be started: {error}") from error
        self._reader_task = asyncio.ensure_future(self._read_lines(self._process))
        return self._process

    async def _write(self, process: asyncio.subprocess.Process, request: RpcRequest) -> None:
        if process.stdin is None:
            raise UnreachableError(f"{self.name} has no input")
        try:
            process.stdin.write(request.body() + b"\n")
            await process.stdin.drain()
        except (ConnectionError, RuntimeError) as error:
            raise UnreachableError(f"{self.name} has ended") from error

    async def _read_lines(self, process: asyncio.subprocess.Process) -> None:
        """Read lines to the end, and hand each answer to the request that waits for it."""
        try:
            while process.stdout is not None and (line := await process.stdout.readline()):
                number = read_answer_id(line)  # servers write other lines as well
                future = self._waiting.get(number) if isinstance(number, int) else None
                if future is not None and not future.done():
                    future.set_result(line)
        except ValueError:  # longer than the limit
            with suppress(ProcessLookupError):
                process.kill()
            self._fail(
                NonsenseError(f"{self.name} wrote more than {MAX_LINE_BYTES} bytes in a line")
            )
        self._fail(UnreachableError(f"{self.name} has ended"))

    def _fail(self, error: UnreachableError | NonsenseError) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(error)
