"""How an agent joins: the referee's and the player's registration."""

from typing import ClassVar, Literal

from msgspec import Struct

from agent_league.protocol.fields import (
    Capacity,
    DisplayName,
    GameTypes,
    SemanticVersion,
    Sentence,
    Text,
)
from agent_league.protocol.message import LEAGUE, PLAYER, REFEREE, Message, Request, Route

Verdict = Literal["ACCEPTED", "REJECTED"]


class PlayerMeta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a player says of itself."""

    display_name: DisplayName
    version: SemanticVersion
    game_types: GameTypes
    contact_endpoint: Text
    """Where it listens; judged when it registers, so that a bad one is refused with a reason."""
    protocol_version: SemanticVersion | None = None
    dialect: Text | None = None
    """How it is to be spoken to, if not as it is found to speak: `league.v1`."""


class RefereeMeta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a referee says of itself."""

    display_name: DisplayName
    version: SemanticVersion
    game_types: GameTypes
    contact_endpoint: Text
    max_concurrent_matches: Capacity = 1
    protocol_version: SemanticVersion | None = None


class RefereeRegistered(Message, frozen=True, kw_only=True, tag="REFEREE_REGISTER_RESPONSE"):
    """The league admits a referee, or says why not."""

    route: ClassVar[Route] = Route((LEAGUE,), (REFEREE,))

    status: Verdict
    referee_id: str | None
    reason: Sentence | None
    error_code: str | None = None

    @property
    def agent_id(self) -> str | None:
        return self.referee_id


class RegisterReferee(
    Request[RefereeRegistered], frozen=True, kw_only=True, tag="REFEREE_REGISTER_REQUEST"
):
    """A referee asks to be given matches."""

    route: ClassVar[Route] = Route((REFEREE,), (LEAGUE,), "register_referee", "register_referee")
    reply: ClassVar[type[Message]] = RefereeRegistered

    referee_meta: RefereeMeta


class PlayerRegistered(Message, frozen=True, kw_only=True, tag="LEAGUE_REGISTER_RESPONSE"):
    """The league admits a player, or says why not."""

    route: ClassVar[Route] = Route((LEAGUE,), (PLAYER,))

    status: Verdict
    player_id: str | None
    reason: Sentence | None
    error_code: str | None = None

    @property
    def agent_id(self) -> str | None:
        return self.player_id


class RegisterPlayer(
    Request[PlayerRegistered], frozen=True, kw_only=True, tag="LEAGUE_REGISTER_REQUEST"
):
    """A player asks to take part."""

    route: ClassVar[Route] = Route((PLAYER,), (LEAGUE,), "register_player", "register_player")
    reply: ClassVar[type[Message]] = PlayerRegistered

    player_meta: PlayerMeta
