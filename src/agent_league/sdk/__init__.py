"""The league SDK: the files of a league as a public API — configuration, data and logs.

`docs/files.md` shows the tree. Nothing here is needed to write an agent.
"""

from agent_league.sdk.config_loader import ConfigLoader, patience, retry, scoring, settings
from agent_league.sdk.config_models import (
    AgentsConfig,
    GamesRegistry,
    LeagueConfig,
    PlayerDefaults,
    RefereeDefaults,
    SystemConfig,
)
from agent_league.sdk.config_writer import init
from agent_league.sdk.errors import ConfigError, UnsafeIdError
from agent_league.sdk.logger import JsonLogger, JsonLogHandler
from agent_league.sdk.records import MatchRecord, PlayerHistory, RoundsFile, StandingsFile
from agent_league.sdk.repositories import (
    MatchRepository,
    PlayerHistoryRepository,
    RoundsRepository,
    StandingsRepository,
)
from agent_league.sdk.upkeep import Upkeep
from agent_league.sdk.views import FileViews, export

__all__ = [
    "AgentsConfig",
    "ConfigError",
    "ConfigLoader",
    "FileViews",
    "GamesRegistry",
    "JsonLogHandler",
    "JsonLogger",
    "LeagueConfig",
    "MatchRecord",
    "MatchRepository",
    "PlayerDefaults",
    "PlayerHistory",
    "PlayerHistoryRepository",
    "RefereeDefaults",
    "RoundsFile",
    "RoundsRepository",
    "StandingsFile",
    "StandingsRepository",
    "SystemConfig",
    "UnsafeIdError",
    "Upkeep",
    "export",
    "init",
    "patience",
    "retry",
    "scoring",
    "settings",
]
