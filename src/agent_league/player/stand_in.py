"""A player at an endpoint of ours that hands everything on to somebody who cannot listen."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from agent_league.agent import Member, Wire, log
from agent_league.protocol import (
    Acknowledgement,
    Message,
    Notice,
    ProtocolError,
    Role,
)
from agent_league.protocol.complaints import GameComplaint, LeagueComplaint
from agent_league.protocol.play import GameMoveCall, GameOver, Invitation, ParityCall
from agent_league.protocol.registration import PlayerMeta, RegisterPlayer
from agent_league.protocol.rounds import (
    LeagueCompleted,
    RoundAnnouncement,
    RoundCompleted,
    StandingsUpdate,
)
from agent_league.transport import NoAnswerError
from agent_league.transport.endpoint import Handler, Result
from agent_league.transport.line import sealed
from agent_league.transport.speech import Speech

ASKED = (Invitation, ParityCall, GameMoveCall)
TOLD = (
    GameOver,
    GameComplaint,
    LeagueComplaint,
    RoundAnnouncement,
    RoundCompleted,
    StandingsUpdate,
)


class StandIn(Member):
    """Takes part in the name of somebody else.

    *speech* returns how that one is spoken to, once its id is known; *hang_up* ends it.
    """

    role = Role.PLAYER

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        meta: PlayerMeta,
        speech: Callable[[str], Speech],
        hang_up: Callable[[], Awaitable[None]],
        **options: Any,
    ) -> None:
        super().__init__(name, wire, league_url, **options)
        self._meta, self._make_speech, self._hang_up = meta, speech, hang_up

    @cached_property
    def _speech(self) -> Speech:
        return self._make_speech(self.name)

    async def close(self) -> None:
        await super().close()
        await self._hang_up()

    def handlers(self) -> Mapping[type[Message], Handler]:
        return {
            **dict.fromkeys(ASKED, self._hand_on),
            **dict.fromkeys(TOLD, self._tell),
            LeagueCompleted: self._tell_the_end,
        }

    def application(self) -> RegisterPlayer:
        return RegisterPlayer(
            **self.stamp(f"conv-{self.name.lower()}-reg"),
            auth_token=self.token,
            league_id=self.league_id,
            player_meta=self._meta,
        )

    async def _hand_on(self, message: Message) -> Result:
        """Return what the other answers, or pass on why it does not."""
        within = getattr(self.patience, message.route.wait)
        try:
            said = await self._speech.deliver(sealed(message), within)
        except NoAnswerError as error:
            raise ProtocolError(error.code, str(error)[:500]) from error
        result: dict[str, Any] = msgspec.json.decode(said)
        return result

    def _tell(self, notice: Notice) -> Result:
        """Pass a notice on beside everything else: whoever sent it need not wait."""
        self.spawn(self._told(notice))
        return Acknowledgement()

    async def _told(self, notice: Notice) -> None:
        try:
            await self._hand_on(notice)
        except ProtocolError as error:
            log.warning("%s was not told: %s", self.name, error)

    async def _tell_the_end(self, notice: LeagueCompleted) -> Result:
        await self._told(notice)
        return self.league_over(notice)
