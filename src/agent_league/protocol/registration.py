"""How an agent joins: the referee's and the player's registration."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from agent_league.protocol.fields import (
    Capacity,
    DisplayName,
    GameTypes,
    Nonce,
    SemanticVersion,
    Sentence,
    Text,
    rule,
)
from agent_league.protocol.message import LEAGUE, PLAYER, REFEREE, Message, Request, Route

Verdict = Literal["ACCEPTED", "REJECTED"]
NoticeForm = Annotated[Literal["full", "compact"], Meta(extra=rule('"full" or "compact"'))]
QuestionForm = Annotated[Literal["single", "batched"], Meta(extra=rule('"single" or "batched"'))]


TableWish = Annotated[
    Literal["all", "neighbours", "round", "none"],
    Meta(extra=rule('"all", "neighbours", "round" or "none"')),
]


class PlayerMeta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a player says about itself."""

    display_name: DisplayName
    version: SemanticVersion
    game_types: GameTypes
    contact_endpoint: Text
    """Where it listens; checked at registration, so that a bad address is refused with a reason."""
    protocol_version: SemanticVersion | None = None
    dialect: Text | None = None
    """The dialect to use with it, if not the one that it uses itself: `league.v1`."""
    nonce: Nonce | None = None
    """Goes into the secret of each of its matches, so that nobody could choose these before."""
    notices: NoticeForm | None = None
    """`compact`: announcements name only its own matches, notices may come in batches, and the
    league proves itself with the `signing_key` alone."""
    questions: QuestionForm | None = None
    """`batched`: it answers a move call at once, so the invitation and the first move call of a match
    may come in one batch."""
    standings_updates: TableWish | None = None
    """Which LEAGUE_STANDINGS_UPDATE it gets: `all`, which is usual; `neighbours`, with its own row and
    the two above and below; `round`, at the end of each round; `none`, because it asks or subscribes."""


class RefereeMeta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a referee says about itself."""

    display_name: DisplayName
    version: SemanticVersion
    game_types: GameTypes
    contact_endpoint: Text
    max_concurrent_matches: Capacity = 1
    protocol_version: SemanticVersion | None = None


class RefereeRegistered(Message, frozen=True, kw_only=True, tag="REFEREE_REGISTER_RESPONSE"):
    """The league accepts a referee, or says why not."""

    route: ClassVar[Route] = Route((LEAGUE,), (REFEREE,))

    status: Verdict
    referee_id: str | None
    reason: Sentence | None
    error_code: str | None = None
    signed: bool = False
    """Whether the league signs its orders and its last notice; then unsigned ones are not its own."""
    signing_key: str | None = None
    """The key with which the league signs for this agent, until the next registration."""
    commitment: str | None = None
    """The SHA-256 of the secret from which all draws of the league come; it is told at the end."""

    @property
    def agent_id(self) -> str | None:
        return self.referee_id


class RegisterReferee(
    Request[RefereeRegistered], frozen=True, kw_only=True, tag="REFEREE_REGISTER_REQUEST"
):
    """A referee asks to join the league."""

    route: ClassVar[Route] = Route((REFEREE,), (LEAGUE,), "register_referee", "register_referee")
    reply: ClassVar[type[Message]] = RefereeRegistered

    referee_meta: RefereeMeta
    join_code: Text | None = None
    """The code with which the league lets agents in, if it asks for one."""

    @property
    def meta(self) -> RefereeMeta:
        return self.referee_meta


class PlayerRegistered(Message, frozen=True, kw_only=True, tag="LEAGUE_REGISTER_RESPONSE"):
    """The league accepts a player, or says why not."""

    route: ClassVar[Route] = Route((LEAGUE,), (PLAYER,))

    status: Verdict
    player_id: str | None
    reason: Sentence | None
    error_code: str | None = None
    signed: bool = False
    """Whether the league gives tickets and signs its last notice; then unsigned ones are not its own."""
    signing_key: str | None = None
    """The key with which the league signs for this agent, until the next registration."""
    commitment: str | None = None
    """The SHA-256 of the secret from which all draws of the league come; it is told at the end."""

    @property
    def agent_id(self) -> str | None:
        return self.player_id


class RegisterPlayer(
    Request[PlayerRegistered], frozen=True, kw_only=True, tag="LEAGUE_REGISTER_REQUEST"
):
    """A player asks to join the league."""

    route: ClassVar[Route] = Route((PLAYER,), (LEAGUE,), "register_player", "register_player")
    reply: ClassVar[type[Message]] = PlayerRegistered

    player_meta: PlayerMeta
    join_code: Text | None = None
    """The code with which the league lets agents in, if it asks for one."""

    @property
    def meta(self) -> PlayerMeta:
        return self.player_meta
