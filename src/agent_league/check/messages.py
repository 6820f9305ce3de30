"""The messages of the check: a league, a referee and players that nobody else has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from agent_league.clock import Clock, format_time, system_clock
from agent_league.protocol import Envelope, Message, Patience, Role, error_messages, play, rounds
from agent_league.protocol.fields import VERSION
from agent_league.protocol.results import GameResult
from agent_league.vocabulary import Json

LEAGUE_ID = "league_check"
REFEREE_ID = "REF01"
"""An id of the documents: some agents know no others."""
PLAYERS = ("P01", "P02")
"""The players in the matches that a referee is given, and the ids of opponents."""
TICKET = "tkt_of_the_check"
FIRST_ROUND = 901
"""Far above the rounds of a real league, so that no match of one is mistaken for ours."""
GAME = "even_odd"
MOVE_WINDOW = Patience().move
JOIN_WINDOW = 1.0
"""How long a referee that follows our orders waits for a player that is silent on purpose."""


def make_match_id(number: int) -> str:
    """Return the id of the check's match *number*, ten to a round."""
    return f"R{FIRST_ROUND + number // 10}M{number % 10 + 1}"


def find_opponent(player_id: str) -> str:
    """Return the id of somebody else than *player_id*."""
    return PLAYERS[0] if player_id == PLAYERS[1] else PLAYERS[1]


@dataclass(frozen=True)
class CheckMessages:
    """Writes messages in which every field is right, as JSON."""

    clock: Clock = system_clock

    def now(self, later: float = 0.0) -> str:
        return format_time(self.clock() + timedelta(seconds=later))

    def write(
        self, kind: Callable[..., Message], sender: str, conversation_id: str, /, **fields: Any
    ) -> Json:
        """Return a message of *kind* with its envelope."""
        message = kind(**self.envelope(sender, conversation_id), **fields)
        return msgspec.to_builtins(message)

    def envelope(self, sender: str, conversation_id: str) -> Envelope:
        return {
            "protocol": VERSION,
            "sender": sender,
            "timestamp": self.now(),
            "conversation_id": conversation_id,
        }

    def invitation(self, match_id: str, player_id: str = PLAYERS[0]) -> Json:
        return self._from_referee(
            play.Invitation,
            match_id,
            league_id=LEAGUE_ID,
            round_id=FIRST_ROUND,
            game_type=GAME,
            role_in_match="PLAYER_A",
            opponent_id=find_opponent(player_id),
        )

    def move_call(self, match_id: str, player_id: str) -> Json:
        record = play.Record(wins=1, losses=1, draws=0)
        return self._from_referee(
            play.ParityCall,
            match_id,
            player_id=player_id,
            game_type=GAME,
            context=play.MoveContext(
                opponent_id=find_opponent(player_id),
                round_id=FIRST_ROUND,
                your_standings=record,
            ),
            deadline=self.now(later=MOVE_WINDOW),
        )

    def game_over(self, match_id: str, player_id: str, choice: Json) -> Json:
        """Tell the player that it won with "even", and drew with any other choice."""
        own_choice = choice if choice in ("even", "odd") else None
        opponent = find_opponent(player_id)
        result = GameResult(
            status="WIN" if own_choice == "even" else "DRAW",
            winner_player_id=player_id if own_choice == "even" else None,
            drawn_number=8,
            number_parity="even",
            choices={player_id: own_choice, opponent: "odd"},
            reason=f"{player_id} chose {own_choice}, {opponent} chose odd, number was 8 (even)",
        )
        return self._from_referee(play.GameOver, match_id, game_type=GAME, game_result=result)

    def notices(self, player_id: str) -> dict[str, Json]:
        """Return one of each notice that a player gets beside its games, by message type."""
        numbers = {"rank": 1, "played": 1, "wins": 1, "draws": 0, "losses": 0, "points": 3}
        row = rounds.StandingRow(player_id=player_id, display_name="You", **numbers)
        match = rounds.AnnouncedMatch(
            match_id=make_match_id(0),
            game_type=GAME,
            player_A_id=player_id,
            player_B_id=find_opponent(player_id),
            referee_endpoint="http://127.0.0.1:8001/mcp",
        )
        summary = rounds.RoundSummary(total_matches=1, wins=1, draws=0, technical_losses=0)
        messages = [
            self._from_league(rounds.RoundAnnouncement, round_id=FIRST_ROUND, matches=[match]),
            self._retry_warning(player_id),
            self._from_league(
                error_messages.LeagueErrorMessage,
                error_code="E005",
                error_description="PLAYER_NOT_REGISTERED",
                error_name="PLAYER_NOT_REGISTERED",
                original_message_type="LEAGUE_QUERY",
            ),
            self._from_league(rounds.StandingsUpdate, round_id=FIRST_ROUND, standings=[row]),
            self._from_league(
                rounds.RoundCompleted,
                round_id=FIRST_ROUND,
                matches_completed=1,
                next_round_id=None,
                summary=summary,
            ),
        ]
        return {message["message_type"]: message for message in messages}

    def farewell(self, player_id: str) -> Json:
        row: dict[str, Any] = {"player_id": player_id, "display_name": "You", "points": 3}
        return self._from_league(
            rounds.LeagueCompleted,
            total_rounds=1,
            total_matches=1,
            champion=rounds.Champion(**row),
            final_standings=[rounds.FinalStanding(rank=1, **row)],
        )

    def _retry_warning(self, player_id: str) -> Json:
        retry_info = error_messages.RetryInfo(
            retry_count=1, max_retries=3, next_retry_at=self.now(later=2)
        )
        return self._from_referee(
            error_messages.GameErrorMessage,
            make_match_id(0),
            error_code="E001",
            error_description="TIMEOUT_ERROR",
            error_name="TIMEOUT_ERROR",
            affected_player=player_id,
            action_required="CHOOSE_PARITY_RESPONSE",
            retry_info=retry_info,
            consequence="Technical loss if max retries exceeded",
        )

    def order(
        self, match_id: str, players: Sequence[play.Contestant], proof: str, game_type: str
    ) -> Json:
        """Return the order to a referee to run a match; *proof* shows that the league wrote it."""
        return self.write(
            play.StartMatch,
            Role.LEAGUE,
            _make_conversation_id(match_id),
            auth_token=proof,
            league_id=LEAGUE_ID,
            round_id=FIRST_ROUND,
            match_id=match_id,
            game_type=game_type,
            players=list(players),
            ticket=TICKET,
            seed=f"check-{match_id}",
            patience=Patience(join=JOIN_WINDOW),
            retry=play.Retry(base_delay=0.2),
        )

    def _from_referee(self, kind: Callable[..., Message], match_id: str, /, **fields: Any) -> Json:
        sender, conversation_id = f"{Role.REFEREE}:{REFEREE_ID}", _make_conversation_id(match_id)
        fields |= {"auth_token": TICKET, "match_id": match_id}
        return self.write(kind, sender, conversation_id, **fields)

    def _from_league(self, kind: Callable[..., Message], /, **fields: Any) -> Json:
        fields |= {"auth_token": TICKET, "league_id": LEAGUE_ID}
        return self.write(kind, Role.LEAGUE, "conv-check-league", **fields)


def _make_conversation_id(match_id: str) -> str:
    return f"conv-{match_id.lower()}-check"
