"""Judges any player, referee or manager from outside, over real HTTP, rule by rule."""

from agent_league.check.checkup import NobodyThereError, Order, checked
from agent_league.check.report import Finding, Report, document, explained, junit
from agent_league.check.rule import Gravity, Mark, Rule, Verdict
from agent_league.check.rules import RULES
from agent_league.check.talks.roles import UnknownRoleError

__all__ = [
    "RULES",
    "Finding",
    "Gravity",
    "Mark",
    "NobodyThereError",
    "Order",
    "Report",
    "Rule",
    "UnknownRoleError",
    "Verdict",
    "checked",
    "document",
    "explained",
    "junit",
]
