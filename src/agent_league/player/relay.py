"""A player whose replies come from an agent that the league does not reach itself."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec

from agent_league.agent import log
from agent_league.dialects.dialect import PeerSession, encode_message
from agent_league.http.exchange import Wire
from agent_league.member import Member
from agent_league.peers.endpoint import Handler
from agent_league.player.trust import RefereeCheck
from agent_league.protocol import MESSAGES, Acknowledgement, Message, Notice, ProtocolError, Role
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.message import Result, name
from agent_league.protocol.play import GameMoveCall, GameOver, Invitation, ParityCall
from agent_league.protocol.registration import PlayerMeta
from agent_league.protocol.rounds import LeagueCompleted

PLAYER_MESSAGES = tuple(
    kind
    for kind in MESSAGES.values()
    if Role.PLAYER in kind.route.receiver and kind.route.tool  # a reply has no tool
)

MATCH_MESSAGES: tuple[type[Message], ...] = (Invitation, ParityCall, GameMoveCall, GameOver)
"""What only the referee of a match may send."""


class Remote(Protocol):
    """The agent that a relay passes messages on to."""

    def send(self, message: Message, player_id: str, within: float) -> Awaitable[Result]:
        """Return the agent's reply, or raise a `NoAnswerError`; *player_id* is the relay's id."""
        ...

    def close(self) -> Awaitable[None]: ...


class Relay(Member):
    """Plays for *remote*: passes each message on, and returns the reply as its own.

    The sender of a notice waits for the remote agent only if *notices_wait*.
    """

    role = Role.PLAYER

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        meta: PlayerMeta,
        remote: Remote,
        notices_wait: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(name, wire, league_url, meta=meta, **options)
        self._remote, self._notices_wait = remote, notices_wait
        self._referee_check = RefereeCheck(self)

    async def close(self) -> None:
        await super().close()
        await self._remote.close()

    def handlers(self) -> Mapping[type[Message], Handler]:
        handlers: dict[type[Message], Handler] = {
            kind: self._tell if issubclass(kind, Notice) else self._ask for kind in PLAYER_MESSAGES
        }
        guarded = {kind: self._referee_check.guard(handlers[kind]) for kind in MATCH_MESSAGES}
        return {**handlers, **guarded, LeagueCompleted: self._end}

    async def _ask(self, message: Message) -> Result:
        within = getattr(self.patience, message.route.wait)
        try:
            return await self._remote.send(message, self.name, within)
        except NoAnswerError as error:
            kind = name(type(message))
            raise ProtocolError(error.code, str(error)[:500], about=kind) from error

    def _tell(self, notice: Notice) -> Result | Awaitable[Result]:
        if self._notices_wait:
            return self._deliver(notice)
        self.spawn(self._deliver(notice))
        return Acknowledgement()

    async def _deliver(self, notice: Notice) -> Result:
        try:
            await self._ask(notice)
        except ProtocolError as error:
            log.warning("%s did not take %s: %s", self.name, error.about, error)
        return Acknowledgement()

    async def _end(self, notice: LeagueCompleted) -> Result:
        answer = self.on_league_over(notice)
        await self._deliver(notice)
        return answer


class RemoteSession:
    """An agent behind a session, which *connect* opens once the id of the player is known."""

    def __init__(
        self, connect: Callable[[str], PeerSession], close: Callable[[], Awaitable[None]]
    ) -> None:
        self._connect, self.close = connect, close
        self._session: PeerSession | None = None
        self._noted: set[str] = set()
        """The rules whose deviations were logged."""

    async def send(self, message: Message, player_id: str, within: float) -> Result:
        self._session = self._session or self._connect(player_id)
        ledger = Ledger(player_id)  # whatever the agent's words, the league gets a right message
        result = await self._session.send(encode_message(message), within, ledger)
        for rule_id in ledger.deviations.keys() - self._noted:
            self._noted.add(rule_id)
            log.warning("%s: %s", player_id, ledger.deviations[rule_id].sentence)
        reply: dict[str, Any] = msgspec.json.decode(result)
        return reply
