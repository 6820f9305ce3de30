"""The referee: one match at a time is a local affair, many at a time are many of them."""

from agent_league.referee.referee import Referee
from agent_league.referee.verdict import Termination

__all__ = ["Referee", "Termination"]
