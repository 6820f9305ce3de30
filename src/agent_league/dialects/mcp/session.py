"""Messages to a player that is an MCP server: each becomes a call of the tool of its name.

The result of the tool becomes the reply of the protocol; a tool need only return the move.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Raw, UnsetType

from agent_league.clock import Clock, format_time
from agent_league.dialects.dialect import Dialect, Outgoing, Peer, PeerSession
from agent_league.dialects.mcp.client import McpClient, time_limit
from agent_league.dialects.mcp.moves import MOVE_KEYS, find_legal_move
from agent_league.dialects.mcp.tools import ToolList, ToolResult
from agent_league.dialects.mcp.transports import HttpTransport
from agent_league.dialects.v2.repairs import preview
from agent_league.dialects.v2.replies import interpret_result, make_envelope
from agent_league.http.exchange import Wire
from agent_league.protocol import Acknowledgement, Message, Request, RpcCode
from agent_league.protocol.deviations import NO_LEDGER, Deviation, Ledger
from agent_league.protocol.failures import NonsenseError, RefusedError, ToolsChangedError
from agent_league.protocol.play import Invitation, JoinAck
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

MCP: Final = "mcp"

_PARITIES = ("even", "odd")
_encode = msgspec.json.Encoder().encode


class McpSession(PeerSession):
    """Reaches the player *player_id* by calling its tools.

    The tools must not change after the first look. With *fingerprint*, another agent had the
    first look, and the player is refused if its tools are different now.
    """

    dialect = MCP

    def __init__(
        self, client: McpClient, player_id: str, clock: Clock, fingerprint: str | None = None
    ) -> None:
        self._client, self._player_id, self._clock = client, player_id, clock
        self._tool_list: ToolList | None = None
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
            tool = tools.get(outgoing.kind.route.tool)
            message = msgspec.json.decode(outgoing.body)
            answer: Json = None
            if tool is not None:
                fields = {**(message.get("context") or {}), **message}
                result = await self._client.call_tool(tool, tool.select_arguments(fields), within)
                answer = _read_result(result, tool.name)
            elif issubclass(outgoing.kind, Request) and outgoing.kind is not Invitation:
                missing = f"{self._client.name} has no tool {outgoing.kind.route.tool!r}"
                raise RefusedError(RpcCode.METHOD_NOT_FOUND, missing)
        return self._make_reply(outgoing, message, answer, ledger)

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
        envelope = make_envelope(reply, request, self._player_id, now)
        content = _make_content(reply, answer)
        if reply is not JoinAck and not ledger.strict:
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
    else:
        move = _find_move_field(reply)
        content = {move: next((fields[key] for key in (move, *MOVE_KEYS) if key in fields), answer)}
    return {**content, **fields} if "message_type" in fields else content  # nearly a message


def _connect(peer: Peer, wire: Wire, clock: Clock) -> McpSession:
    client = McpClient(HttpTransport(peer.url, wire.exchange))
    return McpSession(client, peer.agent_id, clock, peer.tools)


# It reads nothing: `serving` answers MCP requests to an agent.
dialect = Dialect(name=MCP, make_reader=None, connect=_connect, schemas=dict)
