"""The models of the files under `data/`, and how they are made."""

from collections import defaultdict
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from agent_league.protocol.results import GameResult, ReportedResult
from agent_league.protocol.rounds import AnnouncedMatch, RoundSummary, StandingRow
from agent_league.store.events import RoundClosed, RoundOpened, ScheduledMatch
from agent_league.vocabulary import Json

SCHEMA_VERSION = "1.0.0"


class StandingsFile(Struct, frozen=True, kw_only=True):
    """`standings.json`: the table, best first."""

    schema_version: str = SCHEMA_VERSION
    league_id: str
    last_updated: str
    version: int
    """Counts up with every event that changes this file."""
    rounds_completed: int
    standings: list[StandingRow]


class RoundMatch(AnnouncedMatch, frozen=True, kw_only=True):
    """One match of a round, as it was announced and as it ended."""

    referee_id: str | None
    status: str
    winner: str | None


class RoundRecord(Struct, frozen=True, kw_only=True):
    """One round."""

    round_id: int
    status: Literal["RUNNING", "COMPLETED"]
    started_at: str
    completed_at: str | None
    matches: list[RoundMatch]
    matches_completed: int
    summary: RoundSummary


class RoundsFile(Struct, frozen=True, kw_only=True):
    """`rounds.json`: every round that has begun."""

    schema_version: str = SCHEMA_VERSION
    league_id: str
    last_updated: str
    rounds: list[RoundRecord]


class RoundBook:
    """Every round that has begun. To update a match takes the same time for any number of them."""

    def __init__(self, game_type: str) -> None:
        self._game_type = game_type
        self._opened: dict[int, RoundOpened] = {}
        self._closed: dict[int, RoundClosed] = {}
        self._match_ids: dict[int, list[str]] = defaultdict(list)
        self._matches: dict[str, RoundMatch] = {}

    def open_round(self, event: RoundOpened) -> None:
        self._opened[event.round_id] = event
        for match in event.matches:
            self.add_match(match)

    def add_match(self, match: ScheduledMatch) -> None:
        self._match_ids[match.round_id].append(match.match_id)
        self._matches[match.match_id] = RoundMatch(
            match_id=match.match_id,
            game_type=self._game_type,
            player_A_id=match.first,
            player_B_id=match.second,
            referee_endpoint="unassigned",
            referee_id=None,
            status="SCHEDULED",
            winner=None,
        )

    def update_match(self, match_id: str, **changes: Json) -> None:
        self._matches[match_id] = replace(self._matches[match_id], **changes)

    def close_round(self, event: RoundClosed) -> None:
        self._closed[event.round_id] = event

    def records(self) -> list[RoundRecord]:
        return [self._record(event) for event in self._opened.values()]

    def _record(self, event: RoundOpened) -> RoundRecord:
        closed = self._closed.get(event.round_id)
        matches = [self._matches[match_id] for match_id in self._match_ids[event.round_id]]
        ended = [match.status for match in matches if match.status != "SCHEDULED"]
        return RoundRecord(
            round_id=event.round_id,
            status="COMPLETED" if closed else "RUNNING",
            started_at=event.at,
            completed_at=closed.at if closed else None,
            matches=matches,
            matches_completed=len(ended),
            summary=RoundSummary(
                total_matches=len(matches),
                wins=ended.count("WIN"),
                draws=ended.count("DRAW"),
                technical_losses=ended.count("TECHNICAL_LOSS"),
            ),
        )


class Incident(Struct, frozen=True, kw_only=True):
    """A rule that an agent broke in a match."""

    agent_id: str
    rule: str
    got: str


class MatchRecord(Struct, frozen=True, kw_only=True):
    """`R1M1.json`: a match that has ended."""

    schema_version: str = SCHEMA_VERSION
    league_id: str
    round_id: int
    match_id: str
    game_type: str
    player_A_id: str  # noqa: N815 - the protocol's spelling
    player_B_id: str  # noqa: N815 - the protocol's spelling
    referee_id: str
    started_at: str | None
    ended_at: str
    result: ReportedResult
    violations: list[Incident] = field(default_factory=list)
    """The rules of the protocol that were broken in it (docs/third-party-agents.md)."""
    voided: bool = False
    """Whether the organiser took the result out of the standings."""
    void_reason: str | None = None
    replayed_as: str | None = None
    """The match that was played instead."""


class PlayedMatch(Struct, frozen=True, kw_only=True):
    """A match from the view of one player."""

    league_id: str
    round_id: int
    match_id: str
    opponent_id: str
    ended_at: str
    result: GameResult
    voided: bool = False
    """Whether the organiser took the result out of the standings."""


class PlayerHistory(Struct, frozen=True, kw_only=True):
    """`history.json`: the matches of a player in all leagues of this folder."""

    schema_version: str = SCHEMA_VERSION
    player_id: str
    last_updated: str | None
    wins: int
    losses: int
    draws: int
    history: list[PlayedMatch]


def build_history(player_id: str, matches: list[PlayedMatch]) -> PlayerHistory:
    """Return the history with *matches*, which may come in any order."""
    ordered = sorted(matches, key=lambda m: (m.ended_at, m.league_id, m.round_id, m.match_id))
    counted = [match.result for match in ordered if not match.voided]
    wins = sum(result.winner_player_id == player_id for result in counted)
    draws = sum(result.status == "DRAW" for result in counted)
    return PlayerHistory(
        player_id=player_id,
        last_updated=ordered[-1].ended_at if ordered else None,
        wins=wins,
        losses=len(counted) - wins - draws,
        draws=draws,
        history=ordered,
    )
