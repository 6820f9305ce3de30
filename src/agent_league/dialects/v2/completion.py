"""Completes a message that arrives: what its receiver can do without is filled in, and noted."""

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import NamedTuple, TypeAlias

from agent_league.clock import format_deadline
from agent_league.dialects.v2 import play_forms, round_forms
from agent_league.dialects.v2.field_names import MESSAGE_FIELDS, is_empty, rename_fields
from agent_league.dialects.v2.registration_forms import META_FIELDS, repair_registration
from agent_league.dialects.v2.repairs import Repair, read_as_utc, repair
from agent_league.dialects.v2.words import Body, guess_round
from agent_league.protocol import MESSAGES, Message, ProtocolError, Role, play, rounds
from agent_league.protocol.deviations import Deviation, make_deviation
from agent_league.protocol.error_messages import GameErrorMessage, LeagueErrorMessage
from agent_league.protocol.fields import UNSTATED, VERSION, parse_time
from agent_league.protocol.reading import read_as
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

MOVE_SECONDS = 30
"""How long a player has for a move, if the question does not say."""
MAX_REPAIRS = 20
"""How many fields of one message are filled in."""


class Situation(NamedTuple):
    """What the receiver of a message knows without it."""

    now: str
    me: str = UNSTATED
    """The id of the receiver."""
    game: str = "even_odd"
    """The game that is played where nobody says which."""
    kinds: Collection[type[Message]] = tuple(MESSAGES.values())
    """The messages that the receiver takes."""


Maker: TypeAlias = Callable[[Body, Situation], Json]
"""Makes the value of a field that a message leaves out."""


def _make_sender(kind: type[Message], body: Body, situation: Situation) -> str:
    """Return the sender by the id that stands elsewhere in the message."""
    role = kind.route.sender[0]
    keys = (f"{role}_id", "agent_id")
    name = next((body[key] for key in keys if isinstance(body.get(key), str)), "") or UNSTATED
    return str(role) if role is Role.LEAGUE else f"{role}:{name[:100]}"


def _find_player(body: Body, situation: Situation) -> str:
    return str(body.get("sender", "")).partition(":")[2][:100] or UNSTATED


def _find_round(body: Body, situation: Situation) -> int:
    return guess_round(str(body.get("match_id")))


def _make_deadline(body: Body, situation: Situation) -> str:
    return format_deadline(parse_time(situation.now) + timedelta(seconds=MOVE_SECONDS))


def _make_conversation(body: Body, situation: Situation) -> str:
    return f"conv-{str(body.get('match_id') or 'unstated').lower()}"[:200]


def _give(value: Json) -> Maker:
    return lambda body, situation: value


def _get_me(body: Body, situation: Situation) -> str:
    return situation.me


def _get_game(body: Body, situation: Situation) -> str:
    return situation.game


_MISSING: Mapping[str, Maker] = {
    "protocol": _give(VERSION),
    "timestamp": lambda body, situation: situation.now,
    "conversation_id": _make_conversation,
}
"""The fields of the envelope that are filled in if they are missing; a wrong one stays wrong."""
_MATCH_FIELDS: Mapping[str, Maker] = {"round_id": _find_round, "game_type": _get_game}
_QUESTION: Mapping[str, Maker] = {
    "game_type": _get_game,
    "player_id": _get_me,
    "deadline": _make_deadline,
    "context.round_id": _find_round,
}
_ROUND: Mapping[str, Maker] = {"league_id": _give(UNSTATED), "round_id": _give(1)}
_ERROR: Mapping[str, Maker] = {
    key: _give(UNSTATED)
    for key in ("error_code", "error_description", "action_required", "consequence")
}
_DEFAULTS: Mapping[type[Message], Mapping[str, Maker]] = {
    play.Invitation: {
        **_MATCH_FIELDS,
        "league_id": _give(UNSTATED),
        "role_in_match": _give("PLAYER_A"),
        "opponent_id": _give(UNSTATED),
    },
    play.ParityCall: _QUESTION,
    play.GameMoveCall: _QUESTION,
    play.GameOver: _MATCH_FIELDS,
    play.JoinAck: {"player_id": _find_player, "arrival_timestamp": lambda body, here: here.now},
    play.ParityReply: {"player_id": _find_player},
    play.GameMoveReply: {"player_id": _find_player},
    rounds.RoundAnnouncement: _ROUND,
    rounds.StandingsUpdate: _ROUND,
    rounds.RoundCompleted: {
        **_ROUND,
        "matches_completed": _give(0),
        "next_round_id": _give(None),
    },
    rounds.LeagueCompleted: {
        "league_id": _give(UNSTATED),
        "total_rounds": _give(0),
        "total_matches": _give(0),
    },
    GameErrorMessage: {**_ERROR, "affected_player": _get_me},
    LeagueErrorMessage: {**_ERROR, "original_message_type": _give(UNSTATED)},
}
"""What is filled in for a field that is missing or wrong, where the receiver can do without it."""

_REPAIRS: Mapping[type[Message], Repair] = {
    play.Invitation: play_forms.repair_invitation,
    play.ParityCall: play_forms.repair_question,
    play.GameMoveCall: play_forms.repair_question,
    play.GameOver: play_forms.repair_game_over,
    rounds.RoundAnnouncement: round_forms.repair_announcement,
    rounds.RoundCompleted: round_forms.repair_round_completed,
    rounds.StandingsUpdate: round_forms.repair_standings,
    rounds.LeagueCompleted: round_forms.repair_league_completed,
}
_OPTIONAL = ("context.your_standings", "context", "league_id", "round_id", "retry_info")
"""What is left out if it is wrong, in messages of a match."""


def complete(
    kind: type[Message], body: Body, situation: Situation
) -> tuple[Message, list[Deviation]]:
    """Return the message that *body* means as a *kind*, and in what it deviates.

    Raise `ProtocolError` if something is wrong that the receiver cannot do without.
    """
    whole, deviations = dict(body), list[Deviation]()
    if "message_type" not in body:
        deviations.append(Deviation(rules.FIELD_MISSING, "no message_type"))
    deviations += _prepare(kind, whole, situation)
    whole, found = repair(kind, whole, situation.now)
    deviations += found
    makers = _list_makers(kind)
    for _ in range(MAX_REPAIRS):
        try:
            return read_as(kind, whole), deviations
        except ProtocolError as error:
            if not _fill_in(whole, str(error.context.get("field")), makers, situation):
                raise
            deviations.append(make_deviation(error))
    return read_as(kind, whole), deviations


def _prepare(kind: type[Message], body: Body, situation: Situation) -> Iterator[Deviation]:
    """Bring the fields of *body* to their places."""
    if Role.PLAYER in kind.route.receiver:
        yield from read_as_utc(body)
    if kind in META_FIELDS:
        yield from repair_registration(META_FIELDS[kind], body, situation.game)
    elif kind is not play.StartMatch:
        yield from rename_fields(body, MESSAGE_FIELDS)
        yield from round_forms.repair_rounds(body)
    if kind in _REPAIRS:
        yield from _REPAIRS[kind](body)


def _list_makers(kind: type[Message]) -> Mapping[str, Maker]:
    if (
        kind is play.StartMatch
    ):  # it is signed, so it is ours; other orders have a reader of their own
        return {}
    return {**_DEFAULTS.get(kind, {}), **_MISSING, "sender": partial(_make_sender, kind)}


def _fill_in(body: Body, field: str, makers: Mapping[str, Maker], situation: Situation) -> bool:
    """Fill in *field*, or leave it out; False if neither is possible."""
    parent, _, key = field.rpartition(".")
    place = body.get(parent) if parent else body
    if field in makers and isinstance(place, dict):
        if (field in _MISSING or field == "sender") and not is_empty(place.get(key)):
            return False
        place[key] = makers[field](body, situation)
        return True
    return _leave_out(body, field)


def _leave_out(body: Body, field: str) -> bool:
    """Leave out the smallest optional part of *body* that *field* belongs to; False if none does."""
    for optional in _OPTIONAL:
        parent, _, key = optional.rpartition(".")
        place = body.get(parent) if parent else body
        is_inside = field == optional or field.startswith(f"{optional}.")
        if is_inside and isinstance(place, dict) and key in place:
            del place[key]
            return True
    return False
