"""The data files of a league, where document 001 has them."""

from agent_league.files import (
    MatchRepository,
    PlayerHistoryRepository,
    RoundsRepository,
    StandingsRepository,
)

__all__ = [
    "MatchRepository",
    "PlayerHistoryRepository",
    "RoundsRepository",
    "StandingsRepository",
]
