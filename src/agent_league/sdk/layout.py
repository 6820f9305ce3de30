"""Where every file of a league lies, under one folder that the user chooses."""

import re
from dataclasses import dataclass
from pathlib import Path

from agent_league.protocol.fields import END
from agent_league.sdk.errors import UnsafeIdError

SAFE_ID = rf"^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9_.-]{{0,63}}(?<!\.){END}"
SAFE_ID_RULE = "1 to 64 letters, digits, '_', '-' or single '.', beginning with a letter or digit"
_SAFE = re.compile(SAFE_ID)


def safe(name: str) -> str:
    """Return *name*, which is going to be part of a path, or raise `UnsafeIdError`."""
    if not _SAFE.match(name):
        shown = ascii(name[:80])
        raise UnsafeIdError(f"{shown} cannot name a file: expected {SAFE_ID_RULE}")
    return name


@dataclass(frozen=True)
class Layout:
    """The tree of the files: `config/` is read, `data/` is written; `logger` knows `logs/`."""

    root: Path

    @property
    def system(self) -> Path:
        return self.root / "config" / "system.json"

    @property
    def agents(self) -> Path:
        return self.root / "config" / "agents" / "agents_config.json"

    @property
    def leagues(self) -> Path:
        return self.root / "config" / "leagues"

    def league(self, league_id: str) -> Path:
        return self.leagues / f"{safe(league_id)}.json"

    @property
    def games_registry(self) -> Path:
        return self.root / "config" / "games" / "games_registry.json"

    @property
    def referee_defaults(self) -> Path:
        return self.root / "config" / "defaults" / "referee.json"

    @property
    def player_defaults(self) -> Path:
        return self.root / "config" / "defaults" / "player.json"

    def standings(self, league_id: str) -> Path:
        return self.root / "data" / "leagues" / safe(league_id) / "standings.json"

    def rounds(self, league_id: str) -> Path:
        return self.root / "data" / "leagues" / safe(league_id) / "rounds.json"

    def progress(self, league_id: str) -> Path:
        return self.root / "state" / safe(league_id) / "files.json"

    def matches(self, league_id: str) -> Path:
        return self.root / "data" / "matches" / safe(league_id)

    def match(self, league_id: str, match_id: str) -> Path:
        return self.matches(league_id) / f"{safe(match_id)}.json"

    @property
    def players(self) -> Path:
        return self.root / "data" / "players"

    def history(self, player_id: str) -> Path:
        return self.players / safe(player_id) / "history.json"
