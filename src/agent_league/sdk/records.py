"""The files under `data/` as models: what a season looks like from outside."""

from typing import Literal, TypeAlias

from msgspec import Struct, field

from agent_league.protocol.play import GameResult, ReportedResult
from agent_league.protocol.rounds import AnnouncedMatch, RoundSummary, StandingRow

SCHEMA_VERSION = "1.0.0"
RoundStatus: TypeAlias = Literal["RUNNING", "COMPLETED"]


class StandingsFile(Struct, frozen=True, kw_only=True):
    """`standings.json`: the table, best first."""

    schema_version: str = SCHEMA_VERSION
    league_id: str
    last_updated: str
    version: int
    """Counts up with everything that changes this file."""
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
    status: RoundStatus
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


class Incident(Struct, frozen=True, kw_only=True):
    """A rule that somebody broke in a match."""

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
    """Which rules of the protocol were broken in it (docs/strangers.md)."""


class PlayedMatch(Struct, frozen=True, kw_only=True):
    """A match as one of its players remembers it."""

    league_id: str
    round_id: int
    match_id: str
    opponent_id: str
    ended_at: str
    result: GameResult


class PlayerHistory(Struct, frozen=True, kw_only=True):
    """`history.json`: what a player has played, in whatever league of this folder."""

    schema_version: str = SCHEMA_VERSION
    player_id: str
    last_updated: str | None
    wins: int
    losses: int
    draws: int
    history: list[PlayedMatch]


def history_of(player_id: str, played: list[PlayedMatch]) -> PlayerHistory:
    """Return the history that *played*, in any order, adds up to."""
    ordered = sorted(played, key=lambda m: (m.ended_at, m.league_id, m.round_id, m.match_id))
    outcomes = [_outcome(match.result, player_id) for match in ordered]
    return PlayerHistory(
        player_id=player_id,
        last_updated=ordered[-1].ended_at if ordered else None,
        wins=outcomes.count("WIN"),
        losses=outcomes.count("LOSS"),
        draws=outcomes.count("DRAW"),
        history=ordered,
    )


def _outcome(result: GameResult, player_id: str) -> str:
    if result.winner_player_id == player_id:
        return "WIN"
    return "DRAW" if result.status == "DRAW" else "LOSS"
