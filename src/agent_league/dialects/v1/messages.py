"""The twelve messages of league.v1, spelled as document 000 spells them, and their schemas."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, Union

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from agent_league.dialects.v2.repairs import preview
from agent_league.dialects.v2.words import Body
from agent_league.protocol import ErrorCode, ProtocolError, fields, name
from agent_league.protocol.contracts import make_schema
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.reading import make_message_error
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

GAME: Final = "even_odd"

_HEX = "[0-9a-fA-F]"
Uuid: TypeAlias = Annotated[
    str,
    Meta(
        pattern=rf"^{_HEX}{{8}}(-{_HEX}{{4}}){{3}}-{_HEX}{{12}}{fields.END}",
        extra=fields.rule("a UUID"),
    ),
]
Sender: TypeAlias = Annotated[
    str,
    Meta(
        pattern=rf"^(league_manager|referee|player_.+){fields.END}",
        max_length=120,
        extra=fields.rule('"league_manager", "referee" or "player_..."'),
    ),
]


class MessageV1(Struct, frozen=True, kw_only=True, tag_field="message_type"):
    """What every message of league.v1 has."""

    protocol: Literal["league.v1"]
    league_id: Uuid
    round_id: fields.Count
    match_id: fields.Text
    conversation_id: Uuid
    sender: Sender
    timestamp: fields.UtcTime


class PlayerMeta(Struct, frozen=True, kw_only=True):
    """What a player says of itself."""

    display_name: fields.DisplayName
    version: fields.SemanticVersion
    game_types: fields.GameTypes
    contact_endpoint: fields.Text


class RegisterRequest(MessageV1, frozen=True, kw_only=True, tag="LEAGUE_REGISTER_REQUEST"):
    """A player asks to take part."""

    player_meta: PlayerMeta


class RegisterResponse(MessageV1, frozen=True, kw_only=True, tag="LEAGUE_REGISTER_RESPONSE"):
    """The league admits a player, or says why not."""

    status: Literal["ACCEPTED", "REJECTED"]
    player_id: str | None = None
    reason: fields.Sentence | None = None


class PlannedMatch(Struct, frozen=True, kw_only=True):
    """Who meets whom."""

    match_id: fields.Text
    player1: fields.Text
    player2: fields.Text


class PlannedRound(Struct, frozen=True, kw_only=True):
    """The matches of one round."""

    round_id: fields.Ordinal
    matches: list[PlannedMatch]


class LeagueInfo(Struct, frozen=True, kw_only=True):
    """What is to be played."""

    total_rounds: fields.Count
    total_players: fields.Count
    game_type: fields.Text
    schedule: list[PlannedRound]


class StartAnnouncement(MessageV1, frozen=True, kw_only=True, tag="LEAGUE_START_ANNOUNCEMENT"):
    """The league begins, with this schedule."""

    league_info: LeagueInfo


class GameInfo(Struct, frozen=True, kw_only=True):
    """The seat that is offered; the challenger is the one who is named first."""

    game_type: fields.Text
    opponent_id: fields.Text
    your_role: Literal["challenger", "defender"]
    timeout_seconds: float


class GameInvitation(MessageV1, frozen=True, kw_only=True, tag="GAME_INVITATION"):
    """A referee offers a player a seat in a match."""

    game_info: GameInfo


class InvitationResponse(MessageV1, frozen=True, kw_only=True, tag="GAME_INVITATION_RESPONSE"):
    """A player takes its seat, or declines it."""

    status: Literal["READY", "DECLINED"]


class GameRules(Struct, frozen=True, kw_only=True):
    """The terms of a match."""

    single_round: bool
    timeout_per_move: float


class OpeningState(Struct, frozen=True, kw_only=True):
    """How a match begins."""

    game_type: fields.Text
    current_player: fields.Text
    rules: GameRules


class GameStart(MessageV1, frozen=True, kw_only=True, tag="GAME_START"):
    """Both are ready, and the match begins."""

    game_state: OpeningState


class TurnState(Struct, frozen=True, kw_only=True):
    """What a player may know before it moves."""

    turn_number: fields.Ordinal
    timeout_seconds: float
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

    player_id: fields.Text
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
    outcome: Literal["WIN", "DRAW", "FORFEIT"]
    game_summary: dict[str, Json] = field(default_factory=dict[str, Json])


class GameResult(MessageV1, frozen=True, kw_only=True, tag="GAME_RESULT"):
    """A referee tells how a match ended."""

    result: Result


class Row(Struct, frozen=True, kw_only=True):
    """One player's line of the table; players who are level share a rank."""

    player_id: fields.Text
    wins: fields.Count
    losses: fields.Count
    rank: fields.Ordinal


class RoundSummary(Struct, frozen=True, kw_only=True):
    """How things stand after a round."""

    matches_played: fields.Count
    standings: list[Row]


class RoundComplete(MessageV1, frozen=True, kw_only=True, tag="ROUND_COMPLETE"):
    """A round is over."""

    round_summary: RoundSummary


class Champion(Struct, frozen=True, kw_only=True):
    """Who won the league."""

    player_id: fields.Text
    display_name: str
    wins: fields.Count
    losses: fields.Count
    win_rate: float


class FinalStandings(Struct, frozen=True, kw_only=True):
    """How the league ended."""

    total_rounds: fields.Count
    total_matches: fields.Count
    champion: Champion
    rankings: list[Row]


class LeagueComplete(MessageV1, frozen=True, kw_only=True, tag="LEAGUE_COMPLETE"):
    """The league is over."""

    final_standings: FinalStandings


MESSAGES_V1: Mapping[str, type[MessageV1]] = {
    name(kind): kind for kind in MessageV1.__subclasses__()
}
"""Every message of league.v1, by its name, in the order in which a league says them."""

_AnyV1: Any = Union[tuple(MESSAGES_V1.values())]  # noqa: UP007 - built at run time
KindV1 = TypeVar("KindV1", bound=MessageV1)


def read_v1(kind: type[KindV1], body: Json) -> KindV1:
    """Return *body*, already parsed, as a *kind*, or raise `ProtocolError`."""
    try:
        message = msgspec.convert(body, _AnyV1)
    except msgspec.ValidationError as error:
        raise make_message_error(kind, body, str(error)) from None
    if isinstance(message, kind):
        return message
    detail = f"message_type: expected {name(kind)}, got {name(type(message))}"
    code = ErrorCode.INVALID_FIELD_VALUE
    raise ProtocolError(code, detail, about=name(kind), field="message_type")


_COMMON_FIELDS: Final = frozenset(MessageV1.__struct_fields__) | {"message_type"}


def repair_v1(
    kind: type[KindV1], body: Body, defaults: Mapping[str, Json]
) -> tuple[KindV1, list[Deviation]]:
    """Return *body* as a *kind*; common fields that are wrong are taken from *defaults*.

    Raise `ProtocolError` if something else is.
    """
    result, deviations = dict(body), list[Deviation]()
    for _ in _COMMON_FIELDS:
        try:
            return read_v1(kind, result), deviations
        except ProtocolError as error:
            field = str(error.context.get("field"))
            if field not in _COMMON_FIELDS:
                raise
            missing = field not in body
            rule = rules.FIELD_MISSING if missing else rules.FIELD_INVALID
            got = f"no {field}" if missing else f"{field} {preview(body[field])}"
            deviations.append(Deviation(rule, got[:80]))
            result[field] = defaults[field]
    return read_v1(kind, result), deviations


DRAFT_07: Final = "http://json-schema.org/draft-07/schema#"

BASE: Final[dict[str, Any]] = {
    "$schema": DRAFT_07,
    "type": "object",
    "required": ["protocol", "message_type", *MessageV1.__struct_fields__[1:]],
    "properties": {
        "protocol": {"type": "string", "const": "league.v1"},
        "message_type": {"type": "string", "enum": list(MESSAGES_V1)},
        "league_id": {"type": "string", "format": "uuid"},
        "round_id": {"type": "integer", "minimum": 0},
        "match_id": {"type": "string"},
        "conversation_id": {"type": "string", "format": "uuid"},
        "sender": {"type": "string", "pattern": "^(league_manager|referee|player_.+)$"},
        "timestamp": {"type": "string", "format": "date-time"},
    },
}
"""The schema that all messages share, exactly as document 000 has it."""


def schemas_v1() -> dict[str, dict[str, Any]]:
    """Return the common schema as `BASE`, and a self-contained one for each message."""
    common = {"allOf": [{key: value for key, value in BASE.items() if key != "$schema"}]}
    return {
        "BASE": BASE,
        **{
            wire_name: {**make_schema(DRAFT_07, f"league.v1/{wire_name}", kind), **common}
            for wire_name, kind in MESSAGES_V1.items()
        },
    }
