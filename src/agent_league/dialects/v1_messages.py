"""The twelve messages of league.v1, spelled as document 000 spells them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, Union

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from agent_league.protocol import ErrorCode, ProtocolError
from agent_league.protocol.fields import (
    END,
    Count,
    DisplayName,
    GameTypes,
    Ordinal,
    SemanticVersion,
    Sentence,
    Text,
    UtcTime,
)
from agent_league.vocabulary import Json

GAME: Final = "even_odd"

_HEX = "[0-9a-fA-F]"
Uuid: TypeAlias = Annotated[
    str, Meta(pattern=rf"^{_HEX}{{8}}(-{_HEX}{{4}}){{3}}-{_HEX}{{12}}{END}")
]
Sender: TypeAlias = Annotated[
    str, Meta(pattern=rf"^(league_manager|referee|player_.+){END}", max_length=120)
]
Seconds: TypeAlias = float
Role: TypeAlias = Literal["challenger", "defender"]
Outcome: TypeAlias = Literal["WIN", "DRAW", "FORFEIT"]


class MessageV1(Struct, frozen=True, kw_only=True, tag_field="message_type"):
    """What every message of league.v1 has."""

    protocol: Literal["league.v1"]
    league_id: Uuid
    round_id: Count
    match_id: Text
    conversation_id: Uuid
    sender: Sender
    timestamp: UtcTime


class PlayerMeta(Struct, frozen=True, kw_only=True):
    """What a player says of itself."""

    display_name: DisplayName
    version: SemanticVersion
    game_types: GameTypes
    contact_endpoint: Text


class RegisterRequest(MessageV1, frozen=True, kw_only=True, tag="LEAGUE_REGISTER_REQUEST"):
    """A player asks to take part."""

    player_meta: PlayerMeta


class RegisterResponse(MessageV1, frozen=True, kw_only=True, tag="LEAGUE_REGISTER_RESPONSE"):
    """The league admits a player, or says why not."""

    status: Literal["ACCEPTED", "REJECTED"]
    player_id: str | None = None
    reason: Sentence | None = None


class PlannedMatch(Struct, frozen=True, kw_only=True):
    """Who meets whom."""

    match_id: Text
    player1: Text
    player2: Text


class PlannedRound(Struct, frozen=True, kw_only=True):
    """The matches of one round."""

    round_id: Ordinal
    matches: list[PlannedMatch]


class LeagueInfo(Struct, frozen=True, kw_only=True):
    """What is to be played."""

    total_rounds: Count
    total_players: Count
    game_type: Text
    schedule: list[PlannedRound]


class StartAnnouncement(MessageV1, frozen=True, kw_only=True, tag="LEAGUE_START_ANNOUNCEMENT"):
    """The league begins, with this schedule."""

    league_info: LeagueInfo


class GameInfo(Struct, frozen=True, kw_only=True):
    """The seat that is offered; the challenger is the one who is named first."""

    game_type: Text
    opponent_id: Text
    your_role: Role
    timeout_seconds: Seconds


class GameInvitation(MessageV1, frozen=True, kw_only=True, tag="GAME_INVITATION"):
    """A referee offers a player a seat in a match."""

    game_info: GameInfo


class InvitationResponse(MessageV1, frozen=True, kw_only=True, tag="GAME_INVITATION_RESPONSE"):
    """A player takes its seat, or declines it."""

    status: Literal["READY", "DECLINED"]


class GameRules(Struct, frozen=True, kw_only=True):
    """The terms of a match."""

    single_round: bool
    timeout_per_move: Seconds


class OpeningState(Struct, frozen=True, kw_only=True):
    """How a match begins."""

    game_type: Text
    current_player: Text
    rules: GameRules


class GameStart(MessageV1, frozen=True, kw_only=True, tag="GAME_START"):
    """Both are ready, and the match begins."""

    game_state: OpeningState


class TurnState(Struct, frozen=True, kw_only=True):
    """What a player may know before it moves."""

    turn_number: Ordinal
    timeout_seconds: Seconds
    game_specific_state: dict[str, Json] = field(default_factory=dict[str, Json])


class PlayRequest(MessageV1, frozen=True, kw_only=True, tag="PLAY_REQUEST"):
    """A referee asks a player to move."""

    game_state: TurnState


class Play(Struct, frozen=True, kw_only=True):
    """A move; in Even/Odd its value is "even" or "odd"."""

    action: Literal["choose"]
    value: Json
    reasoning: str | UnsetType | None = UNSET


class PlayResponse(MessageV1, frozen=True, kw_only=True, tag="PLAY_RESPONSE"):
    """A player moves."""

    play: Play


class Validation(Struct, frozen=True, kw_only=True):
    """Whether a move counts."""

    player_id: Text
    play: Play | None
    status: Literal["VALID", "INVALID"]
    error: str | None


class PlayValidation(MessageV1, frozen=True, kw_only=True, tag="PLAY_VALIDATION"):
    """Both players are told whether a move counts, once both have moved."""

    validation: Validation


class Result(Struct, frozen=True, kw_only=True):
    """How a match ended."""

    winner: str | None
    loser: str | None
    outcome: Outcome
    game_summary: dict[str, Json] = field(default_factory=dict[str, Json])


class GameResult(MessageV1, frozen=True, kw_only=True, tag="GAME_RESULT"):
    """A referee tells how a match ended."""

    result: Result


class Row(Struct, frozen=True, kw_only=True):
    """One player's line of the table; players who are level share a rank."""

    player_id: Text
    wins: Count
    losses: Count
    rank: Ordinal


class RoundSummary(Struct, frozen=True, kw_only=True):
    """How things stand after a round."""

    matches_played: Count
    standings: list[Row]


class RoundComplete(MessageV1, frozen=True, kw_only=True, tag="ROUND_COMPLETE"):
    """A round is over."""

    round_summary: RoundSummary


class Champion(Struct, frozen=True, kw_only=True):
    """Who won the league."""

    player_id: Text
    display_name: str
    wins: Count
    losses: Count
    win_rate: Seconds


class FinalStandings(Struct, frozen=True, kw_only=True):
    """How the league ended."""

    total_rounds: Count
    total_matches: Count
    champion: Champion
    rankings: list[Row]


class LeagueComplete(MessageV1, frozen=True, kw_only=True, tag="LEAGUE_COMPLETE"):
    """The league is over."""

    final_standings: FinalStandings


MESSAGES_V1: Mapping[str, type[MessageV1]] = MappingProxyType(
    {str(kind.__struct_config__.tag): kind for kind in MessageV1.__subclasses__()}
)
"""Every message of league.v1, by its name, in the order in which a league says them."""

ROUTES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "LEAGUE_REGISTER_REQUEST": ("player → league", "LEAGUE_REGISTER_REQUEST"),
        "LEAGUE_REGISTER_RESPONSE": ("league → player", "LEAGUE_REGISTER_RESPONSE"),
        "LEAGUE_START_ANNOUNCEMENT": ("league → player", "the first ROUND_ANNOUNCEMENT"),
        "GAME_INVITATION": ("referee → player", "GAME_INVITATION"),
        "GAME_INVITATION_RESPONSE": ("player → referee", "GAME_JOIN_ACK"),
        "GAME_START": ("referee → player", "none: sent before the first PLAY_REQUEST of a match"),
        "PLAY_REQUEST": ("referee → player", "CHOOSE_PARITY_CALL, GAME_MOVE_CALL"),
        "PLAY_RESPONSE": ("player → referee", "CHOOSE_PARITY_RESPONSE, GAME_MOVE_RESPONSE"),
        "PLAY_VALIDATION": (
            "referee → player",
            "GAME_ERROR about a move; for each move, before GAME_RESULT",
        ),
        "GAME_RESULT": ("referee → player", "GAME_OVER"),
        "ROUND_COMPLETE": ("league → player", "ROUND_COMPLETED, with LEAGUE_STANDINGS_UPDATE"),
        "LEAGUE_COMPLETE": ("league → player", "LEAGUE_COMPLETED"),
    }
)
"""Who says each message to whom, and what league.v2 says instead."""

_AnyV1: Any = Union[tuple(MESSAGES_V1.values())]  # noqa: UP007 - built at run time
KindV1 = TypeVar("KindV1", bound=MessageV1)


def name_v1(kind: type[MessageV1]) -> str:
    return str(kind.__struct_config__.tag)


def read_v1(kind: type[KindV1], body: Json) -> KindV1:
    """Return *body*, already parsed, as a *kind*, or raise `ProtocolError`."""
    try:
        message = msgspec.convert(body, _AnyV1)
    except msgspec.ValidationError as error:
        missing = "missing required field" in str(error)
        code = ErrorCode.MISSING_REQUIRED_FIELD if missing else ErrorCode.INVALID_FIELD_VALUE
        raise ProtocolError(code, str(error), about=name_v1(kind)) from None
    if isinstance(message, kind):
        return message
    detail = f"Expected {name_v1(kind)} - at `$.message_type`"
    raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail, about=name_v1(kind))


def builtins(message: Struct) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(message)
    return made


def unknown_v1(said: Json, what: str = "a message of league.v1") -> ProtocolError:
    detail = f"message_type: {str(said)[:60]!r} is not {what}"
    return ProtocolError(ErrorCode.UNKNOWN_MESSAGE_TYPE, detail, field="message_type")
