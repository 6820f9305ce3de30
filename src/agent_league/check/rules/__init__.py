"""The rules, one module for each group of them: pure functions of what was seen of an agent."""

from agent_league.check.rule import Rule, find_rules
from agent_league.check.rules import (
    any_agent,
    envelope,
    manager,
    player,
    referee,
    referee_results,
    registration,
)

RULES: tuple[Rule, ...] = tuple(
    find_rules(any_agent, registration, envelope, player, referee, referee_results, manager)
)
