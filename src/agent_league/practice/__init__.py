"""Practice: how good an agent is against opponents that are known, and how sure that is."""

from agent_league.practice.criteria import Criterion, Tally, criteria, tallies
from agent_league.practice.gym import AgentAbsentError, Course, Exercise, practise

__all__ = [
    "AgentAbsentError",
    "Course",
    "Criterion",
    "Exercise",
    "Tally",
    "criteria",
    "practise",
    "tallies",
]
