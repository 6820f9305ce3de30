"""Answers a plain MCP `tools/call` without the SDK, as fast as a call of the league protocol.

The answer is the one that the SDK would give, and every unusual call is left to the SDK. A test
compares the two, and the official conformance suite runs against both.
"""

from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field
from msgspec.structs import replace

from agent_league.dialects.dialect import Spread
from agent_league.http.exchange import Answer
from agent_league.offer import Caller
from agent_league.peers.endpoint import is_rejection
from agent_league.protocol import Message, ProtocolError, RpcCode
from agent_league.protocol.fields import SUPPORTED_VERSION
from agent_league.protocol.jsonrpc import encode_error
from agent_league.protocol.message import Result
from agent_league.protocol.reading import AnyMessage, find_conversation
from agent_league.serving.header_hints import MODERN, HeaderHints
from agent_league.serving.tools import Served
from agent_league.vocabulary import Json


class _ClientInfo(Struct):
    name: str
    version: str


_META = "io.modelcontextprotocol/"


class _Meta(Struct):
    version: str | UnsetType = field(name=f"{_META}protocolVersion", default=UNSET)
    capabilities: dict[str, dict[str, Any]] | UnsetType = field(
        name=f"{_META}clientCapabilities", default=UNSET
    )
    client: _ClientInfo | UnsetType = field(name=f"{_META}clientInfo", default=UNSET)
    progress: Raw | UnsetType = field(name="progressToken", default=UNSET)


Arguments = TypeVar("Arguments")


class _Params(Struct, Generic[Arguments], forbid_unknown_fields=True):
    name: str
    arguments: Arguments | UnsetType = UNSET
    meta: _Meta = field(name="_meta", default_factory=_Meta)


class _Call(Struct, Generic[Arguments], forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: str | int
    method: Literal["tools/call"]
    params: _Params[Arguments]


_object_decoder = msgspec.json.Decoder(_Call[dict[str, Json]])
_decoders = msgspec.json.Decoder(_Call[AnyMessage]), _object_decoder
_encode = msgspec.json.Encoder().encode


class FastPath:
    """Answers the plain calls of an agent's tools."""

    def __init__(self, served: Served) -> None:
        self._served, self._handlers = served, served.handlers
        self._make_error = served.agent.make_error
        server_info = {f"{_META}serverInfo": {"name": served.name, "version": SUPPORTED_VERSION}}
        self._modern_suffix = b',"resultType":"complete","_meta":%b}}' % _encode(server_info)

    def answer(self, body: bytes, hints: HeaderHints) -> Answer | Awaitable[Answer] | None:
        """Return the answer to *body*, or None if the SDK must answer."""
        call = _read_call(body)
        if call is None or not _is_plain(call, hints):
            return None
        card = self._served.find_tool(call.params.name)
        if card is None:
            return None if hints.mcp else _refuse_unknown(call)
        if card.slow:
            return None
        arguments, tool = call.params.arguments, call.params.name
        renamed = None if tool == card.name else tool
        try:
            # A message without a token may have one in a header.
            is_whole = type(arguments) is card.message and arguments.auth_token is not None
            if is_whole and card.message is not None and renamed is None:
                result = self._handlers[card.message](arguments)
            else:
                result = card.call(_read_object(body), Caller(hints.token, tool=renamed))
        except ProtocolError as error:
            return self._encode_error(call, error)
        if isinstance(result, (Struct, dict)):
            return self._encode_answer(call, result)
        return self._await_answer(call, result, hints)

    async def _await_answer(
        self, call: _Call[Any], pending: Awaitable[Result], hints: HeaderHints
    ) -> Answer:
        try:
            result = await pending
            spread = _encode(result)[1:-1] if isinstance(result, Spread) and not hints.mcp else b""
            answer = self._encode_answer(call, result, b",%b" % spread if spread else b"")
            return replace(answer, is_refusal=True) if is_rejection(result) else answer
        except ProtocolError as error:
            return self._encode_error(call, error)

    def _encode_error(self, call: _Call[Any], error: ProtocolError) -> Answer:
        arguments = call.params.arguments
        if isinstance(arguments, Message):
            error.conversation_id = arguments.conversation_id
        else:
            error.conversation_id = find_conversation(arguments)
        payload = _encode(self._make_error(error))
        return replace(self._encode_result(call, payload, b'"isError":true'), is_refusal=True)

    def _encode_answer(self, call: _Call[Any], result: Result, beside: bytes = b"") -> Answer:
        payload = _encode(result)
        return self._encode_result(
            call, payload, b'"structuredContent":%b,"isError":false%b' % (payload, beside)
        )

    def _encode_result(self, call: _Call[Any], payload: bytes, rest: bytes) -> Answer:
        suffix = b"}}" if call.params.meta.version is UNSET else self._modern_suffix
        return Answer(
            200,
            b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":%b}],%b%b'
            % (_encode(call.id), _encode(payload.decode()), rest, suffix),
        )


def _refuse_unknown(call: _Call[Any]) -> Answer:
    text = f"no tool is called {call.params.name[:60]!r}"
    return Answer(200, encode_error(call.id, RpcCode.INVALID_PARAMS, text), is_refusal=True)


def _read_call(body: bytes) -> _Call[Any] | None:
    """Return the call, with its message if the arguments are a whole one."""
    for decoder in _decoders:
        with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return decoder.decode(body)
    return None


def _read_object(body: bytes) -> dict[str, Json]:
    """Return the arguments as they came."""
    return _object_decoder.decode(body).params.arguments or {}


def _is_plain(call: _Call[Any], hints: HeaderHints) -> bool:
    """Whether the headers agree with the body, and nothing is asked for that only the SDK can do."""
    meta = call.params.meta
    if meta.progress is not UNSET:
        return False
    if hints.version != MODERN:
        return hints.method is None and meta.version is UNSET
    return (
        meta.version == MODERN
        and meta.capabilities is not UNSET
        and hints.method == call.method
        and hints.name == call.params.name
    )
