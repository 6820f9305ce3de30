"""Messages that arrive in league.v1: what they mean in league.v2, and how they are answered."""

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

import msgspec

from agent_league.clock import format_deadline
from agent_league.dialects.dialect import Reader, Received, Receiver
from agent_league.dialects.v1 import messages as v1
from agent_league.dialects.v1 import names
from agent_league.dialects.v2.repairs import parse_object
from agent_league.dialects.v2.words import Body
from agent_league.protocol import MESSAGES, ErrorCode, Message, ProtocolError, Role, name
from agent_league.protocol.fields import VERSION, parse_time
from agent_league.protocol.jsonrpc import Call
from agent_league.protocol.message import Result
from agent_league.protocol.play import Invitation
from agent_league.protocol.reading import read_as
from agent_league.protocol.versions import V1
from agent_league.vocabulary import Json

VERSION_MARK: Final = b'"league.v1"'
"""A body without this holds no message of league.v1."""
MAX_MOVE_SECONDS = 86400
"""The longest time for a move, in seconds, whatever the message says."""
MAX_REMEMBERED_MATCHES = 1000
"""How many matches are remembered that a player was invited to and that have not ended."""


def _find_message(body: bytes) -> Body | None:
    """Return the message in *body* if it is in league.v1, with or without a frame."""
    frame = parse_object(body) if VERSION_MARK in body else None
    params = frame.get("params") if frame else None
    nested = params.values() if isinstance(params, dict) else ()
    places = (one for one in (frame, params, *nested) if isinstance(one, dict))
    return next(
        (one for one in places if one.get("protocol") == V1 and "message_type" in one), None
    )


class V1Reader(Reader):
    """Understands league.v1 for one agent; only a player receives every message of it."""

    def __init__(self, kinds: Collection[type[Message]] = (Invitation,)) -> None:
        self._plays = Invitation in kinds
        self._invited_matches: dict[str, v1.GameInfo] = {}
        self._translators: Mapping[type[v1.MessageV1], Callable[[Any, str, str], Body | None]] = {
            v1.RegisterRequest: _translate_application,
            v1.StartAnnouncement: _translate_announcement,
            v1.GameInvitation: self._translate_invitation,
            v1.PlayRequest: self._translate_play_request,
            v1.GameResult: self._translate_result,
            v1.LeagueComplete: _translate_league_end,
        }

    def read(self, call: Call, body: bytes, receiver: Receiver) -> Received | None:
        return self.translate(body, receiver.name, receiver.now())

    def translate(self, body: bytes, me: str, now: str) -> Received | None:
        """Return what *body* means to the agent *me*; None if it is not in league.v1.

        Raise `ProtocolError` if it is, and has a fault that cannot be repaired.
        """
        raw = _find_message(body)
        if raw is None:
            return None
        kind = v1.MESSAGES_V1.get(str(raw["message_type"]).upper())
        if kind is None or (kind not in self._translators and not self._plays):
            what = "for this agent" if kind else "a message of league.v1"
            detail = f"message_type: {str(raw['message_type'])[:60]!r} is not {what}"
            raise ProtocolError(ErrorCode.UNKNOWN_MESSAGE_TYPE, detail, field="message_type")
        if kind is not v1.RegisterRequest:
            return self._translate(raw, kind, me, now)
        encode_rejection = partial(_encode_rejection, raw, now)
        try:
            return self._translate(raw, kind, me, now)._replace(encode_refusal=encode_rejection)
        except ProtocolError as error:
            rejection = encode_rejection(error)
            return Received((), encode_answer=lambda _: rejection)

    def _translate(self, raw: Body, kind: type[v1.MessageV1], me: str, now: str) -> Received:
        message, deviations = v1.repair_v1(kind, raw, _make_defaults(raw, kind, now))
        translate = self._translators.get(kind)
        content = translate(message, me, now) if translate else None
        messages = [_build_message(message, content)] if content else []
        return Received(messages, deviations, partial(_encode_answer, message))

    def _translate_invitation(self, message: v1.GameInvitation, me: str, now: str) -> Body:
        info = message.game_info
        if len(self._invited_matches) >= MAX_REMEMBERED_MATCHES:
            del self._invited_matches[next(iter(self._invited_matches))]
        self._invited_matches[message.match_id] = info
        return {
            "message_type": "GAME_INVITATION",
            "game_type": info.game_type,
            "role_in_match": "PLAYER_A" if info.your_role == "challenger" else "PLAYER_B",
            "opponent_id": names.to_v2_player(info.opponent_id),
        }

    def _translate_play_request(self, message: v1.PlayRequest, me: str, now: str) -> Body:
        invited, state = self._invited_matches.get(message.match_id), message.game_state
        game = invited.game_type if invited else v1.GAME
        window = timedelta(seconds=max(0, min(state.timeout_seconds, MAX_MOVE_SECONDS)))
        call: Body = {
            "message_type": "CHOOSE_PARITY_CALL" if game == v1.GAME else "GAME_MOVE_CALL",
            "player_id": me,
            "game_type": game,
            "deadline": format_deadline(parse_time(now) + window),
        }
        if invited:
            opponent = names.to_v2_player(invited.opponent_id)
            call["context"] = {"opponent_id": opponent, "round_id": max(1, message.round_id)}
        if game != v1.GAME:
            call["view"] = state.game_specific_state.get("view")
            call["legal_moves"] = state.game_specific_state.get("legal_moves", [])
        return call

    def _translate_result(self, message: v1.GameResult, me: str, now: str) -> Body:
        invited = self._invited_matches.pop(message.match_id, None)
        result, summary = message.result, message.result.game_summary
        game_result = {
            "status": "TECHNICAL_LOSS" if result.outcome == "FORFEIT" else result.outcome,
            "winner_player_id": names.to_v2_player(result.winner) if result.winner else None,
            "drawn_number": summary.get("random_number"),
            "number_parity": summary.get("number_parity"),
            "choices": _read_choices(summary),
            "reason": names.rename_players_v2(str(summary.get("winner_reason") or ""))[:500],
        }
        game = invited.game_type if invited else v1.GAME
        return {"message_type": "GAME_OVER", "game_type": game, "game_result": game_result}


def _translate_application(message: v1.RegisterRequest, me: str, now: str) -> Body:
    endpoint = names.to_v2_endpoint(message.player_meta.contact_endpoint)
    meta = {**msgspec.to_builtins(message.player_meta), "contact_endpoint": endpoint, "dialect": V1}
    # A new player cannot know the id of the league, but league.v1 demands one.
    return {"message_type": "LEAGUE_REGISTER_REQUEST", "league_id": None, "player_meta": meta}


def _translate_announcement(message: v1.StartAnnouncement, me: str, now: str) -> Body | None:
    if not message.league_info.schedule:
        return None
    first_round = message.league_info.schedule[0]
    matches = [
        {
            "match_id": match.match_id,
            "game_type": message.league_info.game_type,
            "player_A_id": names.to_v2_player(match.player1),
            "player_B_id": names.to_v2_player(match.player2),
            "referee_endpoint": "unassigned",
        }
        for match in first_round.matches
    ]
    own = {"message_type": "ROUND_ANNOUNCEMENT", "round_id": first_round.round_id}
    return {**own, "matches": matches}


def _translate_league_end(message: v1.LeagueComplete, me: str, now: str) -> Body:
    final = message.final_standings
    standings = [
        {
            "rank": row.rank,
            "player_id": names.to_v2_player(row.player_id),
            "points": 3 * row.wins,  # league.v1 does not count draws
        }
        for row in final.rankings
    ]
    wins = {row.player_id: row.wins for row in final.rankings}
    champion = {
        "player_id": names.to_v2_player(final.champion.player_id),
        "display_name": final.champion.display_name,
        "points": 3 * wins.get(final.champion.player_id, final.champion.wins),
    }
    return {
        "message_type": "LEAGUE_COMPLETED",
        "total_rounds": final.total_rounds,
        "total_matches": final.total_matches,
        "champion": champion,
        "final_standings": standings,
    }


def _read_choices(summary: Mapping[str, Json]) -> Body:
    """Return who chose what, from either of the two places where document 000 has it."""
    choice_keys = [key for key in summary if key.endswith("_choice")]
    if choice_keys:
        return {
            names.to_v2_player(key.removesuffix("_choice")): summary[key] for key in choice_keys
        }
    moves = summary.get("moves")
    last = moves[-1] if isinstance(moves, list) and moves else None
    items = last.items() if isinstance(last, dict) else ()
    others = {"turn", "number", "winner"}
    return {names.to_v2_player(key): move for key, move in items if key not in others}


def _build_message(message: v1.MessageV1, content: Body) -> Message:
    """Return the message of league.v2 with *content*, and the envelope of *message*."""
    in_match = content["message_type"].startswith(("GAME_", "CHOOSE_"))
    scope = {
        "league_id": message.league_id,
        "round_id": message.round_id or (1 if in_match else None),
        "match_id": message.match_id if in_match else None,
    }
    body = {
        "protocol": VERSION,
        "sender": names.to_v2_sender(message.sender),
        "timestamp": message.timestamp,
        "conversation_id": message.conversation_id,
        **scope,
        **content,
    }
    omitted = {key for key in scope if body[key] is None}
    fields = {key: value for key, value in body.items() if key not in omitted}
    return read_as(MESSAGES[content["message_type"]], fields)


def _make_defaults(raw: Mapping[str, Json], kind: type[v1.MessageV1], now: str) -> Body:
    """Return values for the common fields that *raw* lacks."""
    texts = {key: value for key, value in raw.items() if isinstance(value, str)}
    role, _, who = texts.get("sender", "").partition(":")
    names_role = role in set(Role) and who
    return {
        "protocol": V1,
        "message_type": name(kind),
        "league_id": names.make_uuid(texts.get("league_id", "unstated")),
        "round_id": 0,
        "match_id": texts.get("match_id") or "UNSTATED",
        "conversation_id": names.make_uuid(texts.get("conversation_id", now)),
        "sender": names.to_v1_sender(texts["sender"]) if names_role else "player_candidate",
        "timestamp": now,
    }


def _encode_answer(request: v1.MessageV1, result: Result) -> Body:
    """Return our *result* of *request* in league.v1."""
    answer: Body = msgspec.to_builtins(result)
    if type(request) not in _ANSWERS:
        return answer
    kind, encode = _ANSWERS[type(request)]
    return {
        "message_type": name(kind),
        **{key: getattr(request, key) for key in v1.MessageV1.__struct_fields__},
        "sender": names.to_v1_sender(answer["sender"]),
        "timestamp": answer["timestamp"],
        **encode(request, answer),
    }


REASONS: Mapping[str, str] = {
    "Unsupported game type": "Unsupported game type",
    "Contact endpoint unreachable": "Invalid MCP endpoint",
    "Duplicate display name": "Duplicate display name",
    "Registration closed": "Registration closed",
}
"""How our reasons begin, and the reason in document 000 for each."""


def _encode_registration(request: v1.RegisterRequest, answer: Body) -> Body:
    player_id, reason = answer["player_id"], answer["reason"] or ""
    return {
        "league_id": names.make_uuid(answer.get("league_id") or request.league_id),
        "status": "REJECTED" if answer["status"] == "REJECTED" else "ACCEPTED",
        "player_id": names.to_v1_player(player_id) if player_id else None,
        "reason": next(
            (REASONS[start] for start in REASONS if reason.startswith(start)), answer["reason"]
        ),
    }


def _encode_move(request: v1.PlayRequest, answer: Body) -> Body:
    move = answer["parity_choice"] if "parity_choice" in answer else answer["move"]
    return {"play": {"action": "choose", "value": move}}


_ANSWERS: Mapping[type[v1.MessageV1], tuple[type[v1.MessageV1], Callable[[Any, Body], Body]]] = {
    v1.RegisterRequest: (v1.RegisterResponse, _encode_registration),
    v1.GameInvitation: (
        v1.InvitationResponse,
        lambda request, answer: {"status": "READY" if answer["accept"] else "DECLINED"},
    ),
    v1.PlayRequest: (v1.PlayResponse, _encode_move),
}
"""The kind of the answer to each request, and what writes its own fields."""


def _encode_rejection(raw: Mapping[str, Json], now: str, error: ProtocolError) -> Body:
    """Return the answer to a registration that is refused before it is judged."""
    defaults = _make_defaults(raw, v1.RegisterResponse, now)
    reply = {**defaults, "match_id": "REGISTRATION", "sender": "league_manager"}
    return {**reply, "status": "REJECTED", "player_id": None, "reason": error.detail[:500]}
