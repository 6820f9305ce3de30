"""How a league is run; everything that staff may set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import msgspec

from agent_league.game import GAMES
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry
from agent_league.tournament import Scoring
from agent_league.vocabulary import Json

CLASS_LEAD = 60.0
"""Seconds between the announcement of a round and its first match, where people follow it."""


@dataclass(frozen=True)
class LeagueSettings:
    """One league, from the first registration to the last match."""

    seed: str
    """Every draw and every match's chance follows from this."""
    league_id: str = "league_2025_even_odd"
    game_type: str = "even_odd"
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    legs: int = 1
    awaited_players: int | None = None
    """How many must have registered before the first round; None waits to be told."""
    awaited_referees: int = 1
    min_players: int = 2
    max_players: int = 100
    assignment: str = "least_busy"
    scoring: Scoring = field(default_factory=Scoring)
    patience: Patience = field(default_factory=Patience)
    retry: Retry = field(default_factory=Retry)
    announcement_lead: float = 0.0
    """Seconds between the announcement of a round and its first match."""
    unique_names: bool = False
    token_hours: float = 24.0
    table_interval: float = 0.25
    """Seconds that must lie between two standings updates, unless a round ends."""
    heartbeat: float = 5.0
    """Seconds between two looks at everybody."""
    farewell: float = 5.0
    """Seconds that slow agents have to take the last notices."""

    @classmethod
    def read(cls, written: str) -> Self:
        """Return the settings that a store has written down."""
        return msgspec.json.decode(written, type=cls)

    @property
    def lease(self) -> float:
        """The longest that a referee who keeps to the rules can take for a match."""
        waits = self.retry.base_delay * (2 ** (self.retry.attempts - 1) - 1.0)
        turns = GAMES[self.game_type].turns
        windows = self.patience.join + turns * self.patience.move
        asked: float = self.retry.attempts * windows + (1 + turns) * waits
        return asked + self.patience.game_over + self.patience.report + self.patience.generic
