"""The short way for a plain `tools/call`, at the price of a call in the league's own dialect.

It answers what the SDK would answer, and leaves everything that is unusual to it. A test compares
the two, and the official conformance suite runs against both.
"""

from collections.abc import Awaitable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from agent_league.mcp.offer import Offer
from agent_league.mcp.signs import MODERN, Signs
from agent_league.mcp.tools import Caller, ToolCard
from agent_league.protocol import Message, ProtocolError
from agent_league.protocol.reading import AnyMessage
from agent_league.transport.endpoint import Handler, Result
from agent_league.transport.exchange import Answer
from agent_league.vocabulary import Json


class _ClientInfo(Struct):
    name: str
    version: str


class _Meta(Struct):
    version: str | UnsetType = field(name="io.modelcontextprotocol/protocolVersion", default=UNSET)
    capabilities: dict[str, dict[str, Any]] | UnsetType = field(
        name="io.modelcontextprotocol/clientCapabilities", default=UNSET
    )
    client: _ClientInfo | UnsetType = field(
        name="io.modelcontextprotocol/clientInfo", default=UNSET
    )
    progress: Raw | UnsetType = field(name="progressToken", default=UNSET)


class _MessageParams(Struct, forbid_unknown_fields=True):
    name: str
    arguments: AnyMessage
    meta: _Meta = field(name="_meta", default_factory=_Meta)


class _MessageCall(Struct, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: str | int
    method: Literal["tools/call"]
    params: _MessageParams


class _Params(Struct, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Json] = field(default_factory=dict)
    meta: _Meta = field(name="_meta", default_factory=_Meta)


class _Call(Struct, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: str | int
    method: Literal["tools/call"]
    params: _Params


_message_call = msgspec.json.Decoder(_MessageCall)
_any_call = msgspec.json.Decoder(_Call)
_encode = msgspec.json.Encoder().encode


class ShortWay:
    """Answers the calls that are as plain as they can be."""

    def __init__(self, offer: Offer, handlers: Mapping[type[Message], Handler]) -> None:
        self._tools, self._complain = offer.tools, offer.complain
        self._handlers = {
            kind.route.tool: (kind, call) for kind, call in handlers.items() if kind.route.tool
        }
        said = _encode({"name": offer.name, "version": offer.version})
        self._ends = {
            False: b"}}",
            True: b',"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":%b}}}'
            % said,
        }

    def answer(self, body: bytes, signs: Signs) -> Answer | Awaitable[Answer] | None:
        """Return the answer to *body*, or None if the SDK must give it."""
        call = _read(body)
        if call is None or not _fits(call, signs):
            return None
        card = self._tools.get(call.params.name)
        if card is None or card.slow:
            return None
        try:
            result = self._result(call, card, signs)
        except ProtocolError as error:
            return self._refused(call, error, signs)
        if isinstance(result, (Struct, dict)):
            return self._written(call, result, signs)
        return self._answered_later(call, result, signs)

    def _result(
        self, call: _MessageCall | _Call, card: ToolCard, signs: Signs
    ) -> Result | Awaitable[Result]:
        arguments = call.params.arguments
        if isinstance(arguments, dict):
            return card.call(arguments, Caller(signs.token))
        kind, handler = self._handlers.get(card.name, (None, None))
        if handler is not None and type(arguments) is kind and arguments.auth_token is not None:
            return handler(arguments)
        return card.call(msgspec.json.decode(_encode(arguments)), Caller(signs.token))

    async def _answered_later(
        self, call: _MessageCall | _Call, result: Awaitable[Result], signs: Signs
    ) -> Answer:
        try:
            return self._written(call, await result, signs)
        except ProtocolError as error:
            return self._refused(call, error, signs)

    def _refused(self, call: _MessageCall | _Call, error: ProtocolError, signs: Signs) -> Answer:
        return self._written(call, self._complain(error), signs, wrong=b"true")

    def _written(
        self, call: _MessageCall | _Call, result: Result, signs: Signs, wrong: bytes = b"false"
    ) -> Answer:
        said = _encode(result)
        return Answer(
            200,
            b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":%b}],'
            b'"structuredContent":%b,"isError":%b%b'
            % (
                _encode(call.id),
                _encode(said.decode()),
                said,
                wrong,
                self._ends[signs.version == MODERN],
            ),
        )


def _read(body: bytes) -> _MessageCall | _Call | None:
    """Return the call, its message read at once if it is a whole one."""
    try:
        return _message_call.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    try:
        return _any_call.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _fits(call: _MessageCall | _Call, signs: Signs) -> bool:
    """Whether head and body say the same, and nothing that only the SDK can do is asked for."""
    meta = call.params.meta
    if meta.progress is not UNSET:
        return False
    if signs.version != MODERN:
        return signs.method is None and meta.version is UNSET
    return (
        meta.version == MODERN
        and meta.capabilities is not UNSET
        and signs.method == call.method
        and signs.name == call.params.name
    )
