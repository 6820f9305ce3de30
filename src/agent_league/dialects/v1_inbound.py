"""What arrives in league.v1: the messages of ours that it means, and how the answer is put."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from agent_league.clock import written
from agent_league.dialects import v1_messages as v1
from agent_league.dialects.mending import Body
from agent_league.dialects.rules import Deviation
from agent_league.dialects.v1_names import (
    endpoint_v2,
    player_v1,
    player_v2,
    sender_v1,
    sender_v2,
    uuid_of,
)
from agent_league.dialects.v1_replies import mended_v1
from agent_league.dialects.versions import V1
from agent_league.protocol import MESSAGES, Message, ProtocolError, Role
from agent_league.protocol.fields import VERSION, moment
from agent_league.protocol.reading import read_as
from agent_league.vocabulary import Json

MARK: Final = b'"league.v1"'
"""Without this, nothing in a body is league.v1."""
LONGEST = 86400
"""Seconds that a player thinks of a move at most, whatever it is told."""
REMEMBERED = 1000
"""How many matches are remembered that a player was invited to and knows no end of."""

Answered: TypeAlias = Callable[[Body], Body]
Refused: TypeAlias = Callable[[ProtocolError], Body]


class Heard(NamedTuple):
    """What a message of league.v1 means."""

    messages: Sequence[Message]
    """What is to be handled, in this order; the answer is that to the last."""
    deviations: Sequence[Deviation]
    answered: Answered
    """Puts what we answer into league.v1."""
    refused: Refused
    """Does so with a refusal, or raises it again where league.v1 has no words for it."""


@dataclass(frozen=True)
class _Invited:
    """What a player knows of a match that it was invited to."""

    opponent: str
    game_type: str


def said_in_v1(body: bytes) -> Body | None:
    """Return the message in *body* if it is in league.v1, with or without a frame."""
    try:
        frame = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not isinstance(frame, dict):
        return None
    params = frame.get("params")
    inside = params.values() if isinstance(params, dict) else ()
    for said in (frame, params, *inside):
        if isinstance(said, dict) and said.get("protocol") == V1 and "message_type" in said:
            return said
    return None


class Inbound:
    """Understands league.v1 for one agent; one that *plays* is told more than the others."""

    def __init__(self, *, plays: bool = True) -> None:
        self._plays = plays
        self._invited: dict[str, _Invited] = {}
        self._meanings: Mapping[type[v1.MessageV1], Callable[[Any, str, str], list[Body]]] = {
            v1.RegisterRequest: self._application,
            v1.StartAnnouncement: self._announced,
            v1.GameInvitation: self._invitation,
            v1.PlayRequest: self._turn,
            v1.GameResult: self._ended,
            v1.LeagueComplete: self._league_over,
        }

    def heard(self, body: bytes, me: str, now: str) -> Heard | None:
        """Return what *body* means to the agent *me*; None if it is not in league.v1.

        Raise `ProtocolError` if it is found, and wrong in a way that nobody can mend.
        """
        said = said_in_v1(body) if MARK in body else None
        if said is None:
            return None
        kind = v1.MESSAGES_V1.get(str(said["message_type"]).upper())
        if kind is None:
            raise v1.unknown_v1(said["message_type"])
        if kind not in self._meanings and not self._plays:
            raise v1.unknown_v1(said["message_type"], "for this agent")
        refused = _rejected(said, now) if kind is v1.RegisterRequest else _raised
        try:
            message, deviations = mended_v1(kind, said, _common(said, kind, now))
            meaning = self._meanings.get(kind)
            meant = [_read(one) for one in meaning(message, me, now)] if meaning else []
        except ProtocolError as error:
            return Heard((), (), _refusing(refused, error), refused)
        return Heard(meant, deviations, _answering(message, me, now), refused)

    def _application(self, said: v1.RegisterRequest, me: str, now: str) -> list[Body]:
        meta = v1.builtins(said.player_meta)
        meta["contact_endpoint"] = endpoint_v2(said.player_meta.contact_endpoint)
        stamp = {**_stamp(said, "LEAGUE_REGISTER_REQUEST"), "league_id": None}
        # A newcomer cannot know the id of the league, and has to write one all the same.
        return [{**stamp, "player_meta": {**meta, "dialect": V1}}]

    def _announced(self, said: v1.StartAnnouncement, me: str, now: str) -> list[Body]:
        game = said.league_info.game_type
        return [
            {
                **_stamp(said, "ROUND_ANNOUNCEMENT"),
                "round_id": planned.round_id,
                "matches": [_match(match, game) for match in planned.matches],
            }
            for planned in said.league_info.schedule[:1]
        ]

    def _invitation(self, said: v1.GameInvitation, me: str, now: str) -> list[Body]:
        info = said.game_info
        if len(self._invited) >= REMEMBERED:
            del self._invited[next(iter(self._invited))]
        opponent = player_v2(info.opponent_id)
        self._invited[said.match_id] = _Invited(opponent, info.game_type)
        return [
            {
                **_stamp(said, "GAME_INVITATION"),
                "game_type": info.game_type,
                "role_in_match": "PLAYER_A" if info.your_role == "challenger" else "PLAYER_B",
                "opponent_id": opponent,
            }
        ]

    def _turn(self, said: v1.PlayRequest, me: str, now: str) -> list[Body]:
        known = self._invited.get(said.match_id)
        game = known.game_type if known else v1.GAME
        window = timedelta(seconds=max(0, min(said.game_state.timeout_seconds, LONGEST)))
        call = {
            **_stamp(said, "CHOOSE_PARITY_CALL" if game == v1.GAME else "GAME_MOVE_CALL"),
            "player_id": me,
            "game_type": game,
            "deadline": written(moment(now) + window),
        }
        if known:
            call["context"] = {"opponent_id": known.opponent, "round_id": max(1, said.round_id)}
        if game == v1.GAME:
            return [call]
        shown = said.game_state.game_specific_state
        return [{**call, "view": shown.get("view"), "legal_moves": shown.get("legal_moves", [])}]

    def _ended(self, said: v1.GameResult, me: str, now: str) -> list[Body]:
        known = self._invited.pop(said.match_id, None)
        result, summary = said.result, said.result.game_summary
        status = {"FORFEIT": "TECHNICAL_LOSS"}.get(result.outcome, result.outcome)
        told = {
            "status": status,
            "winner_player_id": player_v2(result.winner) if result.winner else None,
            "drawn_number": summary.get("random_number"),
            "number_parity": summary.get("number_parity"),
            "choices": _choices(summary),
            "reason": str(summary.get("winner_reason") or "")[:500],
        }
        game = known.game_type if known else v1.GAME
        return [{**_stamp(said, "GAME_OVER"), "game_type": game, "game_result": told}]

    def _league_over(self, said: v1.LeagueComplete, me: str, now: str) -> list[Body]:
        final = said.final_standings
        points = {row.player_id: 3 * row.wins for row in final.rankings}  # v1 tells no draws
        places = [
            {"rank": row.rank, "player_id": player_v2(row.player_id), "points": 3 * row.wins}
            for row in final.rankings
        ]
        champion = {
            "player_id": player_v2(final.champion.player_id),
            "display_name": final.champion.display_name,
            "points": points.get(final.champion.player_id, 3 * final.champion.wins),
        }
        return [
            {
                **_stamp(said, "LEAGUE_COMPLETED"),
                "total_rounds": final.total_rounds,
                "total_matches": final.total_matches,
                "champion": champion,
                "final_standings": places,
            }
        ]


def _choices(summary: Mapping[str, Json]) -> Body:
    """Return who chose what, from either of the two places where document 000 has it."""
    named = [key for key in summary if key.endswith("_choice")]
    if named:
        return {player_v2(key.removesuffix("_choice")): summary[key] for key in named}
    moves = summary.get("moves")
    last = moves[-1] if isinstance(moves, list) and moves else None
    others = {"turn", "number", "winner"}
    told = last.items() if isinstance(last, dict) else ()
    return {player_v2(key): move for key, move in told if key not in others}


def _read(body: Body) -> Message:
    kept = {key: value for key, value in body.items() if not _left_out(key, value)}
    return read_as(MESSAGES[body["message_type"]], kept)


def _left_out(key: str, value: Json) -> bool:
    return value is None and key in {"league_id", "round_id", "match_id"}


def _stamp(said: v1.MessageV1, kind: str) -> Body:
    plays = kind.startswith(("GAME_", "CHOOSE_"))
    return {
        "message_type": kind,
        "protocol": VERSION,
        "sender": sender_v2(said.sender),
        "timestamp": said.timestamp,
        "conversation_id": said.conversation_id,
        "league_id": said.league_id,
        "round_id": said.round_id or (1 if plays else None),
        "match_id": said.match_id if plays else None,
    }


def _match(match: v1.PlannedMatch, game_type: str) -> Body:
    return {
        "match_id": match.match_id,
        "game_type": game_type,
        "player_A_id": player_v2(match.player1),
        "player_B_id": player_v2(match.player2),
        "referee_endpoint": "unassigned",
    }


def _common(said: Mapping[str, Json], kind: type[v1.MessageV1], now: str) -> Body:
    """Return what stands in for what every message has, where *said* lacks it."""
    told = {key: value for key, value in said.items() if isinstance(value, str)}
    return {
        "protocol": V1,
        "message_type": v1.name_v1(kind),
        "league_id": uuid_of(told.get("league_id", "unstated")),
        "round_id": 0,
        "match_id": told.get("match_id") or "UNSTATED",
        "conversation_id": uuid_of(told.get("conversation_id", now)),
        "sender": _sender(told.get("sender", "")),
        "timestamp": now,
    }


def _sender(said: str) -> str:
    """Return who *said* is, if that can be told, as league.v1 writes it."""
    role, _, who = said.partition(":")
    return sender_v1(said) if role in set(Role) and who else "player_candidate"


def _answering(said: v1.MessageV1, me: str, now: str) -> Answered:
    """Return what puts our answer to *said* into league.v1; most need only be acknowledged."""
    put = _ANSWERS.get(type(said))
    return (lambda result: result) if put is None else (lambda result: put(said, result, now))


def _reply(said: v1.MessageV1, kind: type[v1.MessageV1], result: Body, **fields: Any) -> Body:
    told = {key: getattr(said, key) for key in v1.MessageV1.__struct_fields__}
    own = {"sender": sender_v1(result["sender"]), "timestamp": result["timestamp"]}
    return v1.builtins(kind(**{**told, **own}, **fields))


def _registered(said: v1.RegisterRequest, result: Body, now: str) -> Body:
    admitted = result["player_id"]
    told = {**v1.builtins(said), "league_id": uuid_of(result.get("league_id") or said.league_id)}
    echo = msgspec.structs.replace(said, league_id=told["league_id"])
    return _reply(
        echo,
        v1.RegisterResponse,
        result,
        status="REJECTED" if result["status"] == "REJECTED" else "ACCEPTED",
        player_id=player_v1(admitted) if admitted else None,
        reason=_reason(result["reason"]),
    )


REASONS: Mapping[str, str] = {
    "Unsupported game type": "Unsupported game type",
    "Contact endpoint unreachable": "Invalid MCP endpoint",
    "Duplicate display name": "Duplicate display name",
    "Registration closed": "Registration closed",
}
"""How our reasons begin, and what document 000 calls them."""


def _reason(reason: str | None) -> str | None:
    known = [theirs for ours, theirs in REASONS.items() if (reason or "").startswith(ours)]
    return known[0] if known else reason


def _joined(said: v1.GameInvitation, result: Body, now: str) -> Body:
    status = "READY" if result["accept"] else "DECLINED"
    return _reply(said, v1.InvitationResponse, result, status=status)


def _moved(said: v1.PlayRequest, result: Body, now: str) -> Body:
    move = result["parity_choice"] if "parity_choice" in result else result["move"]
    return _reply(said, v1.PlayResponse, result, play=v1.Play(action="choose", value=move))


_ANSWERS: Mapping[type[v1.MessageV1], Callable[[Any, Body, str], Body]] = {
    v1.RegisterRequest: _registered,
    v1.GameInvitation: _joined,
    v1.PlayRequest: _moved,
}


def _raised(error: ProtocolError) -> Body:
    raise error


def _refusing(refused: Refused, error: ProtocolError) -> Answered:
    return lambda result: refused(error)


def _rejected(said: Mapping[str, Json], now: str) -> Refused:
    """Return what answers a registration that is refused before it is judged."""

    def rejected(error: ProtocolError) -> Body:
        common = _common(said, v1.RegisterResponse, now)
        made = {**common, "match_id": "REGISTRATION", "sender": "league_manager"}
        return {**made, "status": "REJECTED", "player_id": None, "reason": error.detail[:500]}

    return rejected
