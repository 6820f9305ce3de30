"""The agent that practises: reached over HTTP, and every call to it timed."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import msgspec

from agent_league.dialects.v2.writings import swap_ids
from agent_league.peers.line import Line
from agent_league.protocol import Acknowledgement, Message, Notice, Request, name
from agent_league.protocol.failures import LateError, NoAnswerError, StatusError, UnreachableError
from agent_league.protocol.message import Result
from agent_league.protocol.play import JoinAck
from agent_league.protocol.rounds import LeagueCompleted


@dataclass(frozen=True)
class TimedCall:
    """A message that the agent was sent, how long it took, and what was wrong with its reply."""

    message_type: str
    match_id: str | None
    seconds: float
    problem: str = ""
    """Why its reply is of no use; empty if it is."""
    silent: bool = False
    """Whether nothing came at all."""


class Trainee:
    """The agent at the end of *line*, which need not know of the practice league.

    It keeps its own id: in messages, that id and the one of the practice league are exchanged. It
    never learns that the practice league is over, because its own league may not be.
    """

    def __init__(self, line: Line) -> None:
        self.calls: list[TimedCall] = []
        self._line = line
        self._own_id: str | None = None
        """What the agent calls itself, known from its first reply."""

    async def send(self, message: Message, player_id: str, within: float) -> Result:
        if isinstance(message, LeagueCompleted):
            return Acknowledgement()
        now = asyncio.get_running_loop().time
        start = now()
        record = partial(TimedCall, name(type(message)), message.match_id)
        try:
            reply = await self._send(message, player_id, within)
        except NoAnswerError as error:
            silent = isinstance(error, LateError | UnreachableError)
            silent = silent and not isinstance(error, StatusError)
            self.calls.append(record(now() - start, str(error), silent))
            if isinstance(message, Request):
                raise
            return Acknowledgement()
        self.calls.append(record(now() - start))
        return reply

    async def _send(self, message: Message, player_id: str, within: float) -> Result:
        if self._own_id is not None and self._own_id != player_id:
            body = swap_ids(player_id, self._own_id, msgspec.json.encode(message))
            message = msgspec.json.decode(body, type=type(message))
        if isinstance(message, Notice):
            await self._line.tell(message, within)
            return Acknowledgement()
        reply = await self._line.ask(cast("Request[Any]", message), within)
        if isinstance(reply, JoinAck):
            self._own_id = reply.player_id
        answer: Message = msgspec.structs.replace(reply, player_id=player_id)
        return answer

    async def close(self) -> None:
        """Leave the agent as it is: practice did not start it."""
