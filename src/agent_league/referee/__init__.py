"""The referee: plays matches for the league, and reports their results."""

from agent_league.referee.referee import Referee

__all__ = ["Referee"]
