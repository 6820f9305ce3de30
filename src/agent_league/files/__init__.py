"""The league SDK: the files of a league as a public API — configuration, data and logs.

`docs/files.md` shows the tree. Nothing here is needed to write an agent.
"""

from agent_league.files.config_files import ConfigLoader, init, patience, retry, scoring, settings
from agent_league.files.config_models import (
    AgentsConfig,
    GamesRegistry,
    LeagueConfig,
    PlayerDefaults,
    RefereeDefaults,
    SystemConfig,
)
from agent_league.files.layout import UnsafeIdError
from agent_league.files.logger import JsonLogger, JsonLogHandler
from agent_league.files.reading import ConfigError
from agent_league.files.records import MatchRecord, PlayerHistory, RoundsFile, StandingsFile
from agent_league.files.repositories import (
    MatchRepository,
    PlayerHistoryRepository,
    RoundsRepository,
    StandingsRepository,
)
from agent_league.files.sync import FileUpdater
from agent_league.files.views import FileViews, export

__all__ = [
    "AgentsConfig",
    "ConfigError",
    "ConfigLoader",
    "FileUpdater",
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
    "export",
    "init",
    "patience",
    "retry",
    "scoring",
    "settings",
]
