"""Judges any player, referee or manager from outside, over real HTTP, rule by rule."""

from agent_league.check.checkup import CheckOptions, run_check
from agent_league.check.report import Report, build_document, build_junit, explain
from agent_league.check.rule import Finding, Mark, Rule
from agent_league.check.rules import RULES
from agent_league.check.sessions.roles import AgentNotFoundError, UnknownRoleError
from agent_league.protocol.requirements import Gravity

__all__ = [
    "RULES",
    "AgentNotFoundError",
    "CheckOptions",
    "Finding",
    "Gravity",
    "Mark",
    "Report",
    "Rule",
    "UnknownRoleError",
    "build_document",
    "build_junit",
    "explain",
    "run_check",
]
