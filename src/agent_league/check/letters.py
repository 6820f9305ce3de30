"""What the check says in the names of a league and a referee that nobody else has."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from agent_league.clock import Clock, system_clock, written
from agent_league.protocol import Message, Patience, Role, Stamp
from agent_league.protocol.complaints import GameComplaint, LeagueComplaint, RetryInfo
from agent_league.protocol.fields import VERSION
from agent_league.protocol.play import (
    Contestant,
    GameOver,
    GameResult,
    Invitation,
    MoveContext,
    ParityCall,
    Record,
    Retry,
    StartMatch,
)
from agent_league.protocol.rounds import (
    AnnouncedMatch,
    Champion,
    FinalStanding,
    LeagueCompleted,
    RoundAnnouncement,
    RoundCompleted,
    RoundSummary,
    StandingRow,
    StandingsUpdate,
)
from agent_league.vocabulary import Json

LEAGUE_ID = "league_check"
REFEREE_ID = "REF99"
OPPONENT = "P98"
PLAYERS = ("P91", "P92")
"""Those that the check sends into a referee's matches."""
TICKET = "tkt_of_the_check"
FIRST_ROUND = 901
"""Far above the rounds of a real league, so that no match of one is mistaken for ours."""
GAME = "even_odd"
QUERIES = ("GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS")
MOVE_WINDOW = Patience().move


def match_name(number: int) -> str:
    """Return the id of the check's match *number*, ten to a round."""
    return f"R{FIRST_ROUND + number // 10}M{number % 10 + 1}"


@dataclass(frozen=True)
class Letters:
    """Writes messages, each right in every field."""

    clock: Clock = system_clock
    move_window: float = MOVE_WINDOW
    join_window: float = 1.0
    """How long a referee that reads our orders waits for a player that is silent on purpose."""
    retry_delay: float = 0.2

    def invitation(self, match_id: str, **changes: Json) -> Json:
        return _plain(
            Invitation(
                **self._of_match(match_id),
                league_id=LEAGUE_ID,
                round_id=FIRST_ROUND,
                game_type=GAME,
                role_in_match="PLAYER_A",
                opponent_id=OPPONENT,
            ),
            changes,
        )

    def move_call(self, match_id: str, player_id: str, **changes: Json) -> Json:
        deadline = self.clock() + timedelta(seconds=self.move_window)
        record = Record(wins=1, losses=1, draws=0)
        return _plain(
            ParityCall(
                **self._of_match(match_id),
                player_id=player_id,
                game_type=GAME,
                context=MoveContext(
                    opponent_id=OPPONENT, round_id=FIRST_ROUND, your_standings=record
                ),
                deadline=written(deadline),
            ),
            changes,
        )

    def game_over(self, match_id: str, player_id: str, choice: Json) -> Json:
        """Tell the player that it drew or won, whatever it chose."""
        mine = choice if choice in ("even", "odd") else None
        result = GameResult(
            status="WIN" if mine == "even" else "DRAW",
            winner_player_id=player_id if mine == "even" else None,
            drawn_number=8,
            number_parity="even",
            choices={player_id: mine, OPPONENT: "odd"},
            reason=f"{player_id} chose {mine}, {OPPONENT} chose odd, number was 8 (even)",
        )
        return _plain(GameOver(**self._of_match(match_id), game_type=GAME, game_result=result))

    def notices(self, player_id: str) -> dict[str, Json]:
        """Return one of each notice that a player gets beside its games, by message type."""
        row = StandingRow(
            rank=1,
            player_id=player_id,
            display_name="You",
            played=1,
            wins=1,
            draws=0,
            losses=0,
            points=3,
        )
        made: list[Message] = [
            RoundAnnouncement(
                **self._of_league(), round_id=FIRST_ROUND, matches=[_announced(player_id)]
            ),
            self._retry_warning(player_id),
            self._league_error(),
            StandingsUpdate(**self._of_league(), round_id=FIRST_ROUND, standings=[row]),
            RoundCompleted(
                **self._of_league(),
                round_id=FIRST_ROUND,
                matches_completed=1,
                next_round_id=None,
                summary=RoundSummary(total_matches=1, wins=1, draws=0, technical_losses=0),
            ),
        ]
        return {said["message_type"]: said for said in map(_plain, made)}

    def farewell(self, player_id: str) -> Json:
        name = "You"
        return _plain(
            LeagueCompleted(
                **self._of_league(),
                total_rounds=1,
                total_matches=1,
                champion=Champion(player_id=player_id, display_name=name, points=3),
                final_standings=[
                    FinalStanding(rank=1, player_id=player_id, display_name=name, points=3)
                ],
            )
        )

    def _retry_warning(self, player_id: str) -> GameComplaint:
        again = written(self.clock() + timedelta(seconds=2))
        return GameComplaint(
            **self._of_match(match_name(0)),
            error_code="E001",
            error_description="TIMEOUT_ERROR",
            error_name="TIMEOUT_ERROR",
            affected_player=player_id,
            action_required="CHOOSE_PARITY_RESPONSE",
            retry_info=RetryInfo(retry_count=1, max_retries=3, next_retry_at=again),
            consequence="Technical loss if max retries exceeded",
        )

    def _league_error(self) -> LeagueComplaint:
        return LeagueComplaint(
            **self._of_league(),
            error_code="E005",
            error_description="PLAYER_NOT_REGISTERED",
            error_name="PLAYER_NOT_REGISTERED",
            original_message_type="LEAGUE_QUERY",
        )

    def order(
        self, match_id: str, players: Sequence[Contestant], proof: str, **changes: Json
    ) -> Json:
        """Return the order to a referee to run a match; *proof* shows that the league wrote it."""
        stamp = self.stamp(Role.LEAGUE, f"conv-{match_id.lower()}-check")
        return _plain(
            StartMatch(
                **stamp,
                auth_token=proof,
                league_id=LEAGUE_ID,
                round_id=FIRST_ROUND,
                match_id=match_id,
                game_type=GAME,
                players=list(players),
                ticket=TICKET,
                seed=f"check-{match_id}",
                patience=Patience(join=self.join_window),
                retry=Retry(base_delay=self.retry_delay),
            ),
            changes,
        )

    def stamp(self, sender: str, conversation_id: str) -> Stamp:
        return {
            "protocol": VERSION,
            "sender": sender,
            "timestamp": written(self.clock()),
            "conversation_id": conversation_id,
        }

    def _of_match(self, match_id: str) -> dict[str, Any]:
        stamp = self.stamp(f"{Role.REFEREE}:{REFEREE_ID}", f"conv-{match_id.lower()}-check")
        return {**stamp, "auth_token": TICKET, "match_id": match_id}

    def _of_league(self) -> dict[str, Any]:
        stamp = self.stamp(Role.LEAGUE, "conv-check-league")
        return {**stamp, "auth_token": TICKET, "league_id": LEAGUE_ID}


def _announced(player_id: str) -> AnnouncedMatch:
    return AnnouncedMatch(
        match_id=match_name(0),
        game_type=GAME,
        player_A_id=player_id,
        player_B_id=OPPONENT,
        referee_endpoint="http://127.0.0.1:8001/mcp",
    )


def _plain(message: Message, changes: dict[str, Json] | None = None) -> Json:
    """Return *message* as JSON, with *changes*; what is changed to None is left out."""
    made = {**msgspec.to_builtins(message), **(changes or {})}
    left_out = {key for key, value in (changes or {}).items() if value is None}
    return {key: value for key, value in made.items() if key not in left_out}
