"""Letters to a player that is an MCP server: each becomes a call of the tool of its name.

What the tool says becomes the reply that the protocol asks for; a tool need only say the move.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from agent_league.clock import Clock, written
from agent_league.dialects import Ledger
from agent_league.mcp.client import McpClient, bounded
from agent_league.mcp.client_tools import Called, Toolbox
from agent_league.protocol import Acknowledgement, Message, Request, Role, name
from agent_league.protocol.fields import VERSION
from agent_league.protocol.jsonrpc import METHOD_NOT_FOUND
from agent_league.protocol.play import Invitation, JoinAck, MoveReply
from agent_league.transport import NonsenseError, RefusedError, ToolsChangedError
from agent_league.transport.speech import Letter
from agent_league.vocabulary import Json

MCP: Final = "mcp"

_MOVES = ("parity_choice", "choice", "move")
"""What a tool may call the move that it answers with."""
_encode = msgspec.json.Encoder().encode


class McpSpeech:
    """Speaks to the player *who* by calling its tools.

    Its tools stay what they were at the first look, which was another's if *mark* is given: a
    player that changes them while the league is on is refused.
    """

    dialect = MCP

    def __init__(self, client: McpClient, who: str, clock: Clock, mark: str | None = None) -> None:
        self._client, self._who, self._clock = client, who, clock
        self._box: Toolbox | None = None
        self.mark = mark

    async def deliver(
        self, letter: Letter, within: float, ledger: Ledger | None = None
    ) -> bytes | Raw:
        """Return the reply to *letter*, or raise a `NoAnswerError`."""
        async with bounded(within, self._client.name):
            # A match begins with a look at the tools: nobody changes them unnoticed.
            known = None if letter.kind is Invitation else self._box
            tool = (known or await self.look(within)).tools.get(letter.kind.route.tool)
            if tool is None:
                return self._untold(letter)
            said = msgspec.json.decode(letter.body)
            offered = {**(said.get("context") or {}), **said}
            called = await self._client.call_tool(tool, tool.arguments(offered), within)
        return self._reply(letter, said, _right(called, tool.name))

    async def look(self, within: float) -> Toolbox:
        """Return the tools, or raise `ToolsChangedError` if they are not what they were."""
        box = await self._client.list_tools(within)
        if self.mark not in (None, box.mark):
            raise ToolsChangedError(f"{self._client.name} has changed its tools")
        self._box, self.mark = box, box.mark
        return box

    def _untold(self, letter: Letter) -> bytes:
        """Do without a tool that a player may lack: it takes its seat, and needs no news."""
        wanted = letter.kind.route.tool
        if issubclass(letter.kind, Request) and letter.kind is not Invitation:
            raise RefusedError(METHOD_NOT_FOUND, f"{self._client.name} has no tool {wanted!r}")
        return self._reply(letter, msgspec.json.decode(letter.body), None)

    def _reply(self, letter: Letter, request: Mapping[str, Json], said: Json) -> bytes:
        if not issubclass(letter.kind, Request):
            return _encode(Acknowledgement())
        stamp = {
            "message_type": name(letter.kind.reply),
            "protocol": VERSION,
            "sender": f"{Role.PLAYER}:{self._who}",
            "timestamp": written(self._clock()),
            "conversation_id": request["conversation_id"],
            "match_id": request.get("match_id"),
            "player_id": self._who,
        }
        return _encode({**stamp, **_content(letter.kind.reply, said, stamp["timestamp"])})


def _right(called: Called, tool: str) -> Json:
    """Return what a tool answered, or raise `NonsenseError` if that is an error."""
    if called.isError:
        raise NonsenseError(f"{tool}: {called.text[:500] or 'an error without a word'}")
    if called.resultType != "complete":
        raise NonsenseError(f"{tool}: wants more from us ({called.resultType[:40]!r})")
    return called.said


def _content(reply: type[Message], said: Json, now: str) -> Mapping[str, Json]:
    """Return what *said* adds to the envelope of a *reply*."""
    made = next(make for kind, make in _CONTENTS.items() if issubclass(reply, kind))
    filled = made(reply, said)
    if isinstance(said, dict) and "message_type" in said:  # a whole message, or nearly
        filled = {**filled, **said}
    return {"arrival_timestamp": now, **filled} if reply is JoinAck else filled


def _joined(reply: type[Message], said: Json) -> dict[str, Json]:
    """Return whether a seat is taken: it is, unless that is denied."""
    accept = said.get("accept", True) if isinstance(said, dict) else said
    return {"accept": accept if isinstance(accept, bool) else True}


def _moved(reply: type[Message], said: Json) -> dict[str, Json]:
    field = next(one.encode_name for one in msgspec.structs.fields(reply) if one.name == "move")
    named = [key for key in (field, *_MOVES) if isinstance(said, dict) and key in said]
    return {field: said[named[0]] if named else said}


_CONTENTS: Mapping[type[Message], Callable[[type[Message], Any], dict[str, Json]]] = {
    JoinAck: _joined,
    MoveReply: _moved,
}
