"""An envoy: takes part for an agent elsewhere, which it asks, and passes the answers on as its own."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from agent_league.agent import Agent, Member, Wire
from agent_league.protocol import (
    Acknowledgement,
    ErrorCode,
    Message,
    Notice,
    ProtocolError,
    Request,
    Role,
    name,
)
from agent_league.protocol.complaints import GameComplaint, LeagueComplaint
from agent_league.protocol.play import GameMoveCall, GameOver, Invitation, JoinAck, ParityCall
from agent_league.protocol.registration import PlayerMeta, RegisterPlayer
from agent_league.protocol.rounds import (
    LeagueCompleted,
    RoundAnnouncement,
    RoundCompleted,
    StandingsUpdate,
)
from agent_league.transport import NoAnswerError
from agent_league.transport.endpoint import Handler
from agent_league.vocabulary import Json

Kind = TypeVar("Kind", bound=Message)


@dataclass(frozen=True)
class Exchange:
    """Something the agent was told or asked, and how it took it."""

    said: str
    match_id: str | None
    seconds: float
    problem: ErrorCode | None = None
    detail: str = ""


class Envoy(Member):
    """Takes part for the agent at *url*, which need not know of this league.

    The agent goes on by the id that it has: between the two, one id is put for the other. It is
    never told that the league is over, because its own may not be.
    """

    role = Role.PLAYER

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        meta: PlayerMeta,
        agent: tuple[str, Wire],
        **options: Any,
    ) -> None:
        super().__init__(name, wire, league_url, **options)
        url, outside = agent
        self.exchanges: list[Exchange] = []
        self._meta = meta
        self._agent = Agent(name, outside, patience=self.patience).line(url)
        self._known_as: str | None = None
        """What the agent calls itself, as soon as it has said so."""

    def handlers(self) -> Mapping[type[Message], Handler]:
        notices = (GameOver, GameComplaint, LeagueComplaint, RoundAnnouncement, RoundCompleted)
        return {
            **dict.fromkeys((Invitation, ParityCall, GameMoveCall), self.ask),
            **dict.fromkeys((*notices, StandingsUpdate), self.tell),
            LeagueCompleted: self.league_over,
        }

    def application(self) -> RegisterPlayer:
        return RegisterPlayer(**self.stamp("conv-practice"), player_meta=self._meta)

    async def ask(self, request: Request[Any]) -> Message:
        """Return the agent's answer; if it has none, the fault is written down and told."""
        error, reply = await self._timed(request, self._agent.ask(self._as_known(request)))
        if error is not None:
            raise ProtocolError(error.code, str(error)[:500], about=name(type(request)))
        if isinstance(reply, JoinAck):
            self._known_as = reply.player_id
        answer: Message = msgspec.structs.replace(reply, player_id=self.name)
        return answer

    async def tell(self, notice: Notice) -> Acknowledgement:
        """Pass a notice on; whether the agent takes it well is its own affair."""
        await self._timed(notice, self._agent.tell(self._as_known(notice)))
        return Acknowledgement()

    async def _timed(self, message: Message, saying: Any) -> tuple[NoAnswerError | None, Any]:
        now = asyncio.get_running_loop().time
        begun = now()
        try:
            error, reply = None, await saying
        except NoAnswerError as failure:
            error, reply = failure, None
        said, took = name(type(message)), now() - begun
        problem = error.code if error else None
        self.exchanges.append(Exchange(said, message.match_id, took, problem, str(error or "")))
        return error, reply

    def _as_known(self, message: Kind) -> Kind:
        """Return *message* with the id by which the agent knows itself."""
        if self._known_as in (None, self.name):
            return message
        body = _swapped(msgspec.to_builtins(message), {self.name: self._known_as})
        return msgspec.convert(body, type(message))


def _swapped(body: Json, names: Mapping[str, Any]) -> Json:
    """Return *body* with each of two names in the place of the other."""
    both = {**names, **{new: old for old, new in names.items()}}
    if isinstance(body, str):
        return both.get(body, body)
    if isinstance(body, dict):
        return {both.get(key, key): _swapped(value, names) for key, value in body.items()}
    return [_swapped(value, names) for value in body] if isinstance(body, list) else body
