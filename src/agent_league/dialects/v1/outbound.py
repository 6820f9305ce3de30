"""Messages to a peer that speaks league.v1: none, one or several for one of league.v2.

Where the flow differs, it differs here: GAME_START goes before the first PLAY_REQUEST of a match,
PLAY_VALIDATION before its GAME_RESULT, when both have moved; much of league.v2 has no counterpart.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from agent_league.dialects.v1 import messages as v1
from agent_league.dialects.v1 import names
from agent_league.dialects.v2.words import Body, guess_round
from agent_league.protocol import ErrorCode, Message, name
from agent_league.protocol.error_messages import GameErrorMessage
from agent_league.protocol.fields import parse_time
from agent_league.protocol.play import GameMoveCall, GameOver, Invitation, ParityCall
from agent_league.protocol.registration import RegisterPlayer
from agent_league.protocol.rounds import LeagueCompleted, RoundAnnouncement, RoundCompleted
from agent_league.protocol.versions import V1
from agent_league.vocabulary import Json

Translation: TypeAlias = Iterator[tuple[type[v1.MessageV1], Body]]
"""The kind of each message, and its own fields, without those that all messages have."""

_OUTSIDE_MATCHES: Mapping[type[Message], tuple[str, str]] = {
    RegisterPlayer: ("REGISTRATION", ""),
    RoundAnnouncement: ("ANNOUNCEMENT", "round_id"),
    RoundCompleted: ("ROUND_SUMMARY", "round_id"),
    LeagueCompleted: ("FINAL_STANDINGS", "total_rounds"),
}
"""The match_id of a message that belongs to no match, and the field that holds its round."""
_OUTCOMES = {"WIN": "WIN", "DRAW": "DRAW", "TECHNICAL_LOSS": "FORFEIT"}
_LATE, _BAD_CHOICE = "Timeout exceeded", "Choice not in allowed values"
_BAD_FORMAT, _OTHER_ERROR = "Invalid choice format", "Malformed JSON"
_ERRORS: Mapping[str, str] = {
    ErrorCode.INVALID_PARITY_CHOICE: _BAD_CHOICE,
    ErrorCode.ILLEGAL_MOVE: _BAD_CHOICE,
    ErrorCode.TIMEOUT_ERROR: _LATE,
    ErrorCode.CONNECTION_ERROR: _LATE,
    ErrorCode.MISSING_REQUIRED_FIELD: _BAD_FORMAT,
    ErrorCode.INVALID_FIELD_VALUE: _BAD_FORMAT,
}


@dataclass
class _Seat:
    """What this peer knows of a match, and what it played there."""

    first: str
    started: bool = False
    plays: list[Json] = field(default_factory=list)
    last_play: Json = None
    """What it played last, which may still be refused."""

    def keep_play(self) -> None:
        """Add the last play to those that count."""
        if self.last_play is not None:
            self.plays.append(self.last_play)
        self.last_play = None

    def refuse_play(self) -> Json:
        """Return the last play, which does not count."""
        refused, self.last_play = self.last_play, None
        return refused


class _V2Message(NamedTuple):
    """A message of league.v2 that is to be translated."""

    body: Body
    within: float
    extras: Mapping[str, Any]
    """What league.v2 sends in other messages."""


class OutboundTranslator:
    """Translates messages to the peer *who* into league.v1, and remembers its matches."""

    def __init__(self, who: str) -> None:
        self.who = names.to_v1_player(who)
        self._league = "unstated"
        self._seats: dict[str, _Seat] = {}
        self._translators: Mapping[type[Message], Callable[[_V2Message], Translation]] = {
            RegisterPlayer: _translate_application,
            Invitation: self._translate_invitation,
            ParityCall: self._translate_move_call,
            GameMoveCall: self._translate_move_call,
            GameErrorMessage: self._translate_error,
            GameOver: self._translate_game_over,
            RoundAnnouncement: _translate_announcement,
            RoundCompleted: _translate_round_end,
            LeagueCompleted: _translate_league_end,
        }

    def translate(
        self,
        kind: type[Message],
        body: Body,
        within: float,
        get_extras: Callable[[], Mapping[str, Any]] | None = None,
    ) -> list[Body] | None:
        """Return the messages of league.v1 for *body*; None if it has none for a *kind*.

        The last of several is the message itself. *get_extras* returns what league.v2 sends in other messages.
        """
        self._league = body.get("league_id") or self._league
        translate = self._translators.get(kind)
        if translate is None:
            return None
        extras = get_extras() if get_extras else {}
        return [
            {"message_type": name(kind_v1), **self._make_envelope(kind, body), **fields}
            for kind_v1, fields in translate(_V2Message(body, within, extras))
        ]

    def record_move(self, match_id: str, play: Json) -> None:
        """Remember a move of the peer, until it is refused or the next is asked for."""
        if match_id in self._seats:
            self._seats[match_id].last_play = play

    def _make_envelope(self, kind: type[Message], body: Body) -> Body:
        if kind in _OUTSIDE_MATCHES:
            match_id, round_field = _OUTSIDE_MATCHES[kind]
            round_id = body.get(round_field, 0)
        else:
            match_id = body["match_id"]
            round_id = body.get("round_id") or (body.get("context") or {}).get("round_id")
        return {
            "protocol": V1,
            "league_id": names.make_uuid(self._league),
            "round_id": guess_round(match_id) if round_id is None else round_id,
            "match_id": match_id,
            "conversation_id": names.make_uuid(self._league, body["conversation_id"]),
            "sender": names.to_v1_sender(body["sender"]),
            "timestamp": body["timestamp"],
        }

    def _translate_invitation(self, message: _V2Message) -> Translation:
        body = message.body
        opponent = names.to_v1_player(body["opponent_id"])
        goes_first = body["role_in_match"] == "PLAYER_A"
        self._seats[body["match_id"]] = _Seat(self.who if goes_first else opponent)
        info = {
            "game_type": body["game_type"],
            "opponent_id": opponent,
            "your_role": "challenger" if goes_first else "defender",
            "timeout_seconds": _round_seconds(message.within),
        }
        yield v1.GameInvitation, {"game_info": info}

    def _translate_move_call(self, message: _V2Message) -> Translation:
        body = message.body
        window = parse_time(body["deadline"]) - parse_time(body["timestamp"])
        timeout = _round_seconds(window.total_seconds())
        seat = self._seats.setdefault(body["match_id"], _Seat(self.who))
        if not seat.started:
            seat.started = True
            opening = {
                "game_type": body["game_type"],
                "current_player": seat.first,
                "rules": {
                    "single_round": body["game_type"] == v1.GAME,
                    "timeout_per_move": timeout,
                },
            }
            yield v1.GameStart, {"game_state": opening}
        seat.keep_play()
        extra_state = {key: body[key] for key in ("view", "legal_moves") if key in body}
        turn: Body = {
            "turn_number": len(seat.plays) + 1,
            "timeout_seconds": timeout,
            "game_specific_state": {"previous_plays": list(seat.plays), **extra_state},
        }
        yield v1.PlayRequest, {"game_state": turn}

    def _translate_error(self, message: _V2Message) -> Translation:
        """Translate an error about a move; league.v1 has no message for other errors."""
        body = message.body
        if body.get("action_required") in {"CHOOSE_PARITY_RESPONSE", "GAME_MOVE_RESPONSE"}:
            error = _ERRORS.get(body["error_code"], _OTHER_ERROR)
            seat = self._seats.get(body["match_id"])
            refused = _read_value(seat.refuse_play()) if seat and error != _LATE else None
            yield v1.PlayValidation, {"validation": _make_validation(self.who, refused, error)}

    def _translate_game_over(self, message: _V2Message) -> Translation:
        result = message.body["game_result"]
        moves = {names.to_v1_player(player): move for player, move in result["choices"].items()}
        missing_reason = _LATE if "timeout" in result["reason"] else _BAD_FORMAT
        if any(move is not None for move in moves.values()):
            for player, move in moves.items():
                error = missing_reason if move is None else None
                yield v1.PlayValidation, {"validation": _make_validation(player, move, error)}
        self._seats.pop(message.body["match_id"], None)
        yield v1.GameResult, {"result": _make_result(result, moves)}


def _translate_application(message: _V2Message) -> Translation:
    meta, who = message.body["player_meta"], names.to_v1_sender(message.body["sender"])
    player_meta = {
        **{key: meta[key] for key in ("display_name", "version", "game_types")},
        "contact_endpoint": names.to_v1_endpoint(meta["contact_endpoint"], who),
    }
    yield v1.RegisterRequest, {"player_meta": player_meta}


def _translate_announcement(message: _V2Message) -> Translation:
    """Announce the league with its first round; league.v1 announces no other round."""
    plan, to_v1 = message.extras, names.to_v1_player
    if not plan:
        return
    schedule = [
        {
            "round_id": number,
            "matches": [
                {"match_id": match_id, "player1": to_v1(one), "player2": to_v1(other)}
                for match_id, one, other in matches
            ],
        }
        for number, matches in plan["schedule"].items()
    ]
    totals = {key: plan[key] for key in ("total_rounds", "total_players", "game_type")}
    yield v1.StartAnnouncement, {"league_info": {**totals, "schedule": schedule}}


def _translate_round_end(message: _V2Message) -> Translation:
    table = _make_rows(message.extras.get("standings", ()))
    summary = {"matches_played": message.body["matches_completed"], "standings": table}
    yield v1.RoundComplete, {"round_summary": summary}


def _translate_league_end(message: _V2Message) -> Translation:
    body, table = message.body, message.extras.get("standings", ())
    winner = body["champion"]
    row: Mapping[str, Any] = next(
        (row for row in table if row["player_id"] == winner["player_id"]), {}
    )
    wins, losses, played = (row.get(key, 0) for key in ("wins", "losses", "played"))
    champion = {
        "player_id": names.to_v1_player(winner["player_id"]),
        "display_name": winner["display_name"],
        "wins": wins,
        "losses": losses,
        "win_rate": round(wins / played, 3) if played else 0,
    }
    final = {
        "total_rounds": body["total_rounds"],
        "total_matches": body["total_matches"],
        "champion": champion,
        "rankings": _make_rows(table),
    }
    yield v1.LeagueComplete, {"final_standings": final}


def _round_seconds(seconds: float) -> float:
    return int(seconds) if seconds == int(seconds) else round(seconds, 3)


def _read_value(play: Json) -> Json:
    return play.get("value") if isinstance(play, dict) else play


def _make_validation(player: str, move: Json, error: str | None) -> Body:
    play = None if move is None else {"action": "choose", "value": move}
    status = "INVALID" if error else "VALID"
    return {"player_id": player, "play": play, "status": status, "error": error}


def _make_result(result: Body, moves: Mapping[str, Json]) -> Body:
    winner = names.to_v1_player(result["winner_player_id"]) if result["winner_player_id"] else None
    others = [player for player in moves if player != winner]
    summary = {
        **{f"{player}_choice": move for player, move in moves.items()},
        "random_number": result["drawn_number"],
        "number_parity": result["number_parity"],
        "winner_reason": names.rename_players_v1(result["reason"]),
        "moves": [{"turn": 1, **moves, "number": result["drawn_number"], "winner": winner}],
        **result.get("details", {}),
    }
    return {
        "winner": winner,
        "loser": others[0] if winner and others else None,
        "outcome": _OUTCOMES[result["status"]],
        "game_summary": summary,
    }


def _make_rows(table: Iterable[Mapping[str, Any]]) -> list[Body]:
    columns = ("player_id", "wins", "losses", "rank")
    rows = ({key: row[key] for key in columns} for row in table)
    return [{**row, "player_id": names.to_v1_player(row["player_id"])} for row in rows]
