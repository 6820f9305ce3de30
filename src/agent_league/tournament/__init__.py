"""Who meets whom, and who is ahead. Pure arithmetic over results."""

from agent_league.tournament.formats import (
    FORMATS,
    Format,
    Pairing,
    round_robin,
    total_matches,
    total_rounds,
)
from agent_league.tournament.standings import TIEBREAKERS, Result, Scoring, Standing, Sums, Table

__all__ = [
    "FORMATS",
    "TIEBREAKERS",
    "Format",
    "Pairing",
    "Result",
    "Scoring",
    "Standing",
    "Sums",
    "Table",
    "round_robin",
    "total_matches",
    "total_rounds",
]
