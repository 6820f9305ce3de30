"""What we tell a peer that speaks league.v1: none, one or several of its messages for one of ours.

Where the flow differs, it differs here: GAME_START goes before the first PLAY_REQUEST of a match,
PLAY_VALIDATION before its GAME_RESULT, when both have moved; and much of league.v2 is not said.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from agent_league.dialects import v1_messages as v1
from agent_league.dialects.v1_names import (
    endpoint_v1,
    player_v1,
    renamed_v1,
    sender_v1,
    uuid_of,
)
from agent_league.dialects.versions import V1
from agent_league.protocol import ErrorCode, Message
from agent_league.protocol.complaints import GameComplaint
from agent_league.protocol.fields import moment
from agent_league.protocol.play import GameMoveCall, GameOver, Invitation, ParityCall
from agent_league.protocol.registration import RegisterPlayer
from agent_league.protocol.rounds import LeagueCompleted, RoundAnnouncement, RoundCompleted
from agent_league.vocabulary import Json

Body: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Sequence[Mapping[str, Any]]

UNSTATED = "unstated"
_MATCH = re.compile(r"R([1-9][0-9]{0,8})M")
_OUTCOMES: Mapping[str, v1.Outcome] = MappingProxyType(
    {"WIN": "WIN", "DRAW": "DRAW", "TECHNICAL_LOSS": "FORFEIT"}
)
_ERRORS: Mapping[str, str] = MappingProxyType(
    {
        ErrorCode.INVALID_PARITY_CHOICE: "Choice not in allowed values",
        ErrorCode.ILLEGAL_MOVE: "Choice not in allowed values",
        ErrorCode.TIMEOUT_ERROR: "Timeout exceeded",
        ErrorCode.CONNECTION_ERROR: "Timeout exceeded",
        ErrorCode.MISSING_REQUIRED_FIELD: "Invalid choice format",
        ErrorCode.INVALID_FIELD_VALUE: "Invalid choice format",
    }
)
_OTHERWISE = "Malformed JSON"


@dataclass
class _Seat:
    """What this peer has been told of a match, and what it played there."""

    first: str
    started: bool = False
    plays: list[Json] = field(default_factory=list)


@dataclass(frozen=True)
class _Saying:
    """A message of ours that is to be put into league.v1."""

    said: Body
    within: float
    aside: Callable[[], Body] | None

    @property
    def match_id(self) -> str:
        return str(self.said["match_id"])


class Outbound:
    """Puts what is said to the peer *who* into league.v1, and remembers its matches."""

    def __init__(self, who: str) -> None:
        self.who = player_v1(who)
        self._league = UNSTATED
        self._seats: dict[str, _Seat] = {}
        self._sayings: Mapping[type[Message], Callable[[_Saying], list[v1.MessageV1]]] = {
            RegisterPlayer: self._application,
            Invitation: self._invitation,
            ParityCall: self._turn,
            GameMoveCall: self._turn,
            GameComplaint: self._complaint,
            GameOver: self._ended,
            RoundAnnouncement: self._announced,
            RoundCompleted: self._round_over,
            LeagueCompleted: self._league_over,
        }

    def put(
        self,
        kind: type[Message],
        said: Body,
        within: float,
        aside: Callable[[], Body] | None = None,
    ) -> list[v1.MessageV1] | None:
        """Return what league.v1 says for *said*; None if it has no words for a *kind*.

        The last of several is the message itself. *aside* has what league.v2 says elsewhere.
        """
        self._league = said.get("league_id") or self._league
        saying = self._sayings.get(kind)
        return saying(_Saying(said, within, aside)) if saying else None

    def played(self, match_id: str, play: Json) -> None:
        """Take note that the peer made a move."""
        if match_id in self._seats:
            self._seats[match_id].plays.append(play)

    def _stamp(self, said: Body, match_id: str, round_id: int) -> dict[str, Any]:
        return {
            "protocol": V1,
            "league_id": uuid_of(self._league),
            "round_id": round_id,
            "match_id": match_id,
            "conversation_id": uuid_of(self._league, said["conversation_id"]),
            "sender": sender_v1(said["sender"]),
            "timestamp": said["timestamp"],
        }

    def _in_match(self, said: Body) -> dict[str, Any]:
        numbered = _MATCH.match(said["match_id"])
        told = said.get("round_id") or (said.get("context") or {}).get("round_id")
        return self._stamp(said, said["match_id"], told or (int(numbered[1]) if numbered else 1))

    def _application(self, saying: _Saying) -> list[v1.MessageV1]:
        meta = saying.said["player_meta"]
        who = sender_v1(saying.said["sender"])
        made = v1.PlayerMeta(
            display_name=meta["display_name"],
            version=meta["version"],
            game_types=meta["game_types"],
            contact_endpoint=endpoint_v1(meta["contact_endpoint"], who),
        )
        return [v1.RegisterRequest(**self._stamp(saying.said, "REGISTRATION", 0), player_meta=made)]

    def _invitation(self, saying: _Saying) -> list[v1.MessageV1]:
        said = saying.said
        opponent, begins = player_v1(said["opponent_id"]), said["role_in_match"] == "PLAYER_A"
        self._seats[saying.match_id] = _Seat(self.who if begins else opponent)
        info = v1.GameInfo(
            game_type=said["game_type"],
            opponent_id=opponent,
            your_role="challenger" if begins else "defender",
            timeout_seconds=_seconds(saying.within),
        )
        return [v1.GameInvitation(**self._in_match(said), game_info=info)]

    def _turn(self, saying: _Saying) -> list[v1.MessageV1]:
        said = saying.said
        window = moment(said["deadline"]) - moment(said["timestamp"])
        timeout = _seconds(window.total_seconds())
        seat = self._seats.setdefault(saying.match_id, _Seat(self.who))
        shown = {key: said[key] for key in ("view", "legal_moves") if key in said}
        state = v1.TurnState(
            turn_number=len(seat.plays) + 1,
            timeout_seconds=timeout,
            game_specific_state={"previous_plays": list(seat.plays), **shown},
        )
        request = v1.PlayRequest(**self._in_match(said), game_state=state)
        opening = [] if seat.started else [self._opening(said, seat, timeout)]
        seat.started = True
        return [*opening, request]

    def _opening(self, said: Body, seat: _Seat, timeout: v1.Seconds) -> v1.MessageV1:
        single = said["game_type"] == v1.GAME
        rules = v1.GameRules(single_round=single, timeout_per_move=timeout)
        state = v1.OpeningState(game_type=said["game_type"], current_player=seat.first, rules=rules)
        return v1.GameStart(**self._in_match(said), game_state=state)

    def _complaint(self, saying: _Saying) -> list[v1.MessageV1]:
        """Say that a move does not count; league.v1 has no words for any other complaint."""
        said = saying.said
        if said.get("action_required") not in {"CHOOSE_PARITY_RESPONSE", "GAME_MOVE_RESPONSE"}:
            return []
        error = _ERRORS.get(said["error_code"], _OTHERWISE)
        return [self._validation(said, self.who, None, error)]

    def _validation(self, said: Body, player: str, move: Json, error: str | None) -> v1.MessageV1:
        play = None if move is None else v1.Play(action="choose", value=move)
        made = v1.Validation(
            player_id=player, play=play, status="INVALID" if error else "VALID", error=error
        )
        return v1.PlayValidation(**self._in_match(said), validation=made)

    def _ended(self, saying: _Saying) -> list[v1.MessageV1]:
        said, result = saying.said, saying.said["game_result"]
        moves = {player_v1(player): move for player, move in result["choices"].items()}
        begun = any(move is not None for move in moves.values())
        missed = "Timeout exceeded" if "timeout" in result["reason"] else "Invalid choice format"
        judged = [
            self._validation(said, player, move, missed if move is None else None)
            for player, move in moves.items()
            if begun
        ]
        self._seats.pop(saying.match_id, None)
        return [*judged, v1.GameResult(**self._in_match(said), result=_result(result, moves))]

    def _announced(self, saying: _Saying) -> list[v1.MessageV1]:
        """Announce the league with its first round; league.v1 announces no other."""
        if saying.aside is None:
            return []
        plan = saying.aside()
        info = v1.LeagueInfo(
            total_rounds=plan["total_rounds"],
            total_players=plan["total_players"],
            game_type=plan["game_type"],
            schedule=[_planned(number, pairs) for number, pairs in plan["schedule"].items()],
        )
        stamp = self._stamp(saying.said, "ANNOUNCEMENT", saying.said["round_id"])
        return [v1.StartAnnouncement(**stamp, league_info=info)]

    def _round_over(self, saying: _Saying) -> list[v1.MessageV1]:
        said = saying.said
        summary = v1.RoundSummary(
            matches_played=said["matches_completed"], standings=_rows(_table(saying))
        )
        stamp = self._stamp(said, "ROUND_SUMMARY", said["round_id"])
        return [v1.RoundComplete(**stamp, round_summary=summary)]

    def _league_over(self, saying: _Saying) -> list[v1.MessageV1]:
        said, table = saying.said, _table(saying)
        best = said["champion"]
        row = next((row for row in table if row["player_id"] == best["player_id"]), {})
        wins, losses, played = (row.get(key, 0) for key in ("wins", "losses", "played"))
        champion = v1.Champion(
            player_id=player_v1(best["player_id"]),
            display_name=best["display_name"],
            wins=wins,
            losses=losses,
            win_rate=round(wins / played, 3) if played else 0,
        )
        final = v1.FinalStandings(
            total_rounds=said["total_rounds"],
            total_matches=said["total_matches"],
            champion=champion,
            rankings=_rows(table),
        )
        stamp = self._stamp(said, "FINAL_STANDINGS", said["total_rounds"])
        return [v1.LeagueComplete(**stamp, final_standings=final)]


def _seconds(seconds: float) -> v1.Seconds:
    return int(seconds) if seconds == int(seconds) else round(seconds, 3)


def _result(result: Body, moves: Mapping[str, Json]) -> v1.Result:
    winner = player_v1(result["winner_player_id"]) if result["winner_player_id"] else None
    others = [player for player in moves if player != winner]
    summary = {
        **{f"{player}_choice": move for player, move in moves.items()},
        "random_number": result["drawn_number"],
        "number_parity": result["number_parity"],
        "winner_reason": renamed_v1(result["reason"]),
        "moves": [{"turn": 1, **moves, "number": result["drawn_number"], "winner": winner}],
        **result.get("details", {}),
    }
    return v1.Result(
        winner=winner,
        loser=others[0] if winner and others else None,
        outcome=_OUTCOMES[result["status"]],
        game_summary=summary,
    )


def _table(saying: _Saying) -> Rows:
    rows: Rows = saying.aside()["standings"] if saying.aside else ()
    return rows


def _rows(table: Rows) -> list[v1.Row]:
    return [
        v1.Row(
            player_id=player_v1(row["player_id"]),
            wins=row["wins"],
            losses=row["losses"],
            rank=row["rank"],
        )
        for row in table
    ]


def _planned(round_id: int, pairs: Sequence[tuple[str, str, str]]) -> v1.PlannedRound:
    matches = [
        v1.PlannedMatch(match_id=match_id, player1=player_v1(one), player2=player_v1(other))
        for match_id, one, other in pairs
    ]
    return v1.PlannedRound(round_id=round_id, matches=matches)
