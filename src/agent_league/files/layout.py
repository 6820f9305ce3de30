"""Where every file of a league lies, under one folder that the user chooses."""

import re
from pathlib import Path

from agent_league.protocol import LeagueError
from agent_league.protocol.fields import END

SAFE_ID = rf"^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9_.-]{{0,63}}(?<!\.){END}"
SAFE_ID_RULE = "1 to 64 letters, digits, '_', '-' or single '.', beginning with a letter or digit"
_SAFE = re.compile(SAFE_ID)


class UnsafeIdError(LeagueError, ValueError):
    """An id cannot be the name of a file."""


def is_safe_id(name: str) -> bool:
    """Whether *name* can be part of a path."""
    return _SAFE.match(name) is not None


def validate_id(name: str) -> str:
    """Return *name*, which is going to be part of a path, or raise `UnsafeIdError`."""
    if not is_safe_id(name):
        raise UnsafeIdError(f"{name[:80]!a} cannot name a file: expected {SAFE_ID_RULE}")
    return name


class Layout:
    """The tree of the files: `config/` is read, `data/` is written; `logger` knows `logs/`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        config = root / "config"
        self.system = config / "system.json"
        self.agents = config / "agents" / "agents_config.json"
        self.leagues = config / "leagues"
        self.games_registry = config / "games" / "games_registry.json"
        self.referee_defaults = config / "defaults" / "referee.json"
        self.player_defaults = config / "defaults" / "player.json"
        self.players = root / "data" / "players"

    def league(self, league_id: str) -> Path:
        return self.leagues / f"{validate_id(league_id)}.json"

    def standings(self, league_id: str) -> Path:
        return self.root / "data" / "leagues" / validate_id(league_id) / "standings.json"

    def rounds(self, league_id: str) -> Path:
        return self.standings(league_id).with_name("rounds.json")

    def progress(self, league_id: str) -> Path:
        return self.root / "state" / validate_id(league_id) / "files.json"

    def matches(self, league_id: str) -> Path:
        return self.root / "data" / "matches" / validate_id(league_id)

    def match(self, league_id: str, match_id: str) -> Path:
        return self.matches(league_id) / f"{validate_id(match_id)}.json"

    def history(self, player_id: str) -> Path:
        return self.players / validate_id(player_id) / "history.json"
