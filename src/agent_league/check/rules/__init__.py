"""The rules, one module for each group of them: pure functions of what was seen of an agent."""

from agent_league.check.rule import Rule, declared_in
from agent_league.check.rules import (
    frame,
    manager,
    manager_notices,
    player,
    player_endurance,
    referee,
    referee_results,
    referee_trouble,
    registration,
)

RULES: tuple[Rule, ...] = tuple(
    declared_in(
        frame,
        registration,
        player,
        player_endurance,
        referee,
        referee_results,
        referee_trouble,
        manager,
        manager_notices,
    )
)
