"""The shapes of the configuration files, where document 001 has them."""

from agent_league.files import (
    AgentsConfig,
    GamesRegistry,
    LeagueConfig,
    PlayerDefaults,
    RefereeDefaults,
    SystemConfig,
)

__all__ = [
    "AgentsConfig",
    "GamesRegistry",
    "LeagueConfig",
    "PlayerDefaults",
    "RefereeDefaults",
    "SystemConfig",
]
