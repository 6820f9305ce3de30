"""Messages to an agent that is an MCP server: each becomes a call of the tool for it.

The result of the tool becomes the reply of the protocol; a tool need only return the move.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Raw, UnsetType

from agent_league.clock import Clock, format_time
from agent_league.dialects.dialect import Dialect, NothingSent, Outgoing, Peer, PeerSession
from agent_league.dialects.mcp.client import McpClient, time_limit
from agent_league.dialects.mcp.moves import MOVE_KEYS, find_legal_move
from agent_league.dialects.mcp.tools import Tool, ToolList, ToolResult, find_tool
from agent_league.dialects.mcp.transports import HttpTransport
from agent_league.dialects.v2.repairs import preview
from agent_league.dialects.v2.replies import interpret_result, make_envelope
from agent_league.http.exchange import Wire
from agent_league.protocol import Acknowledgement, Message, Request, RpcCode
from agent_league.protocol.deviations import NO_LEDGER, Deviation, Ledger
from agent_league.protocol.failures import NonsenseError, RefusedError, ToolsChangedError
from agent_league.protocol.play import GameMoveReply, Invitation, JoinAck, ParityReply
from agent_league.protocol.registration import PlayerRegistered, RefereeRegistered
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

MCP: Final = "mcp"

_PARITIES = ("even", "odd")
_MOVES = (ParityReply, GameMoveReply)
_ADMISSIONS = (PlayerRegistered, RefereeRegistered)
_encode = msgspec.json.Encoder().encode


class McpSession(PeerSession):
    """Reaches the player *player_id* by calling its tools.

    The tools must not change after the first look. With *fingerprint*, another agent had the
    first look, and the player is refused if its tools are different now.
    """

    dialect = MCP

    trace: Callable[[str, Mapping[str, Json]], str | None] | None = None
    """Returns the `traceparent` of a message to an address, where somebody wants traces."""

    def __init__(
        self, client: McpClient, player_id: str, clock: Clock, fingerprint: str | None = None
    ) -> None:
        self._client, self._player_id, self._clock = client, player_id, clock
        self._tool_list: ToolList | None = None
        self._found_tools: dict[type[Message], Tool | None] = {}
        """The tool of each kind of message, looked for once."""
        self.fingerprint = fingerprint

    interpret_reply = staticmethod(interpret_result)

    async def send(
        self, outgoing: Outgoing, within: float, ledger: Ledger = NO_LEDGER
    ) -> bytes | Raw:
        """Return the reply to *outgoing*, or raise a `NoAnswerError`.

        A player without a tool for it takes its seat all the same, and needs no notices.
        """
        async with time_limit(within, self._client.name):
            # A match begins with a look at the tools: nobody changes them unnoticed.
            known = None if outgoing.kind is Invitation else self._tool_list
            tools = (known or await self._load_tools(within)).tools
            tool = self._find_tool(outgoing.kind, tools)
            message = msgspec.json.decode(outgoing.body)
            if tool is None:
                return self._go_without(outgoing, message, ledger)
            fields = {**(message.get("context") or {}), **message}
            trace = self.trace and self.trace(self._client.name, message)
            result = await self._client.call_tool(
                tool, tool.select_arguments(fields), within, trace
            )
            answer = _read_result(result, tool.name)
        return self._make_reply(outgoing, message, answer, ledger)

    def _find_tool(self, kind: type[Message], tools: Mapping[str, Tool]) -> Tool | None:
        if kind not in self._found_tools:
            self._found_tools[kind] = find_tool(kind, tools)
        return self._found_tools[kind]

    def _go_without(
        self, outgoing: Outgoing, request: Mapping[str, Json], ledger: Ledger
    ) -> NothingSent:
        """Return the result of a message that there is no tool for, if it needs none."""
        if issubclass(outgoing.kind, Request) and outgoing.kind is not Invitation:
            missing = f"{self._client.name} has no tool {outgoing.kind.route.tool!r}"
            raise RefusedError(RpcCode.METHOD_NOT_FOUND, missing)
        return NothingSent(self._make_reply(outgoing, request, None, ledger))

    async def check_tools(self, within: float) -> None:
        await self._load_tools(within)

    async def _load_tools(self, within: float) -> ToolList:
        """Return the tools, or raise `ToolsChangedError` if they have changed."""
        tool_list = await self._client.list_tools(within)
        if self.fingerprint not in (None, tool_list.fingerprint):
            raise ToolsChangedError(f"{self._client.name} has changed its tools")
        self._tool_list, self.fingerprint = tool_list, tool_list.fingerprint
        return tool_list

    def _make_reply(
        self, outgoing: Outgoing, request: Mapping[str, Json], answer: Json, ledger: Ledger
    ) -> bytes:
        if not issubclass(outgoing.kind, Request):
            return _encode(Acknowledgement())
        reply, now = outgoing.kind.reply, format_time(self._clock())
        if reply in _ADMISSIONS:
            return _encode(answer)
        envelope = make_envelope(reply, request, self._player_id, now)
        content = _make_content(reply, answer)
        if reply in _MOVES and not ledger.strict:
            legal = request.get("legal_moves", _PARITIES)
            content |= _mend_move(_find_move_field(reply), content, answer, legal, ledger)
        return _encode({**envelope, **content})


def _read_result(result: ToolResult, tool_name: str) -> Json:
    """Return the answer of a tool, or raise `NonsenseError` if it is an error."""
    if result.isError:
        raise NonsenseError(f"{tool_name}: {result.text[:500] or 'an error without a word'}")
    if result.resultType != "complete":
        raise NonsenseError(f"{tool_name}: wants more from us ({result.resultType[:40]!r})")
    return result.answer


def _mend_move(
    field: str, content: Mapping[str, Json], answer: Json, legal: Json, ledger: Ledger
) -> dict[str, Json]:
    """Return the move that *answer* means if it was not written as the protocol asks, and note it."""
    if not isinstance(legal, Sequence) or content[field] in legal:
        return {}
    found = find_legal_move(answer, legal)
    if isinstance(found, UnsetType):
        return {}
    rule = rules.CHOICE_FIELD if legal == _PARITIES else rules.FIELD_INVALID
    ledger.note([Deviation(rule, preview(content[field]))])
    return {field: found}


def _find_move_field(reply: type[Message]) -> str:
    return next(one.encode_name for one in msgspec.structs.fields(reply) if one.name == "move")


def _make_content(reply: type[Message], answer: Json) -> dict[str, Json]:
    """Return the fields that *answer* adds to the envelope of a *reply*."""
    fields = answer if isinstance(answer, dict) else {}
    content: dict[str, Json]
    if reply is JoinAck:  # a player takes its seat, unless it denies that
        accept = fields.get("accept", answer) is not False
        content = {"accept": accept}
    elif reply not in _MOVES:
        return fields
    else:
        move = _find_move_field(reply)
        content = {move: next((fields[key] for key in (move, *MOVE_KEYS) if key in fields), answer)}
    return {**content, **fields} if "message_type" in fields else content  # nearly a message


def _connect(peer: Peer, wire: Wire, clock: Clock) -> McpSession:
    client = McpClient(HttpTransport(peer.url, wire.exchange))
    session = McpSession(client, peer.agent_id, clock, peer.tools)
    session.trace = getattr(wire, "trace", None)
    return session


# It reads nothing: `serving` answers MCP requests to an agent.
dialect = Dialect(name=MCP, make_reader=None, connect=_connect, schemas=dict)
