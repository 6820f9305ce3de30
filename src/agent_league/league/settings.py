"""How a league is run; everything that staff may set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

import msgspec

from agent_league.dialects.versions import PROTOCOLS
from agent_league.game import GAMES
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry, Strictness
from agent_league.tournament import Scoring
from agent_league.vocabulary import Json

GROUNDS: Mapping[str, str] = MappingProxyType(
    {
        "schema": "any message violates the schema",
        "missing_field": "any required field is missing",
        "wrong_type": "any field has the wrong type",
        "version_mismatch": "another version of the protocol",
        "timeout": "no answer in time, on any move",
        "crash": "a crash or an error during a game",
        "invalid_endpoint": "nobody listens at the endpoint",
        "unsupported_game": "a game is claimed and then declined",
    }
)
"""Why a player may be disqualified: the eight conditions of 000, each of which staff can switch."""

CLASS_LEAD = 60.0
"""Seconds between the announcement of a round and its first match, where people follow it."""


LONGEST_PATIENCE = 86_400.0
"""The most that a referee can be told to wait."""
WAY = 5.0
"""Seconds that a guest's move has to get from the league to the referee."""


@dataclass(frozen=True)
class GuestRules:
    """What holds for players that cannot listen, and so move by calling the league. In seconds."""

    move: float = 90.0
    """For a move, from when the guest was handed its turn."""
    presence: float = 120.0
    """Without a call of the guest until it counts as gone."""
    wait: float = 25.0
    """That a guest is kept waiting for a turn, unless it says how long."""
    longest_wait: float = 50.0
    """That a guest may ask to be kept waiting: many clients give up after a minute."""
    farewell: float = 30.0
    """For guests to come and hear how the league ended."""

    @property
    def absence(self) -> float:
        """How long a guest may be silent: as long as it may think, at least."""
        return max(self.presence, self.move)

    @property
    def window(self) -> float:
        """The longest from a referee's call to the move of a guest that keeps to the rules."""
        return self.absence + self.move + WAY


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
    protocols: tuple[str, ...] = PROTOCOLS
    """The versions that players may speak; those that we start speak the first."""
    strictness: Strictness = "tolerant"
    """Whether an agent that deviates from the protocol is understood, or refused."""
    disqualify: tuple[str, ...] | None = None
    """Why a player is put out (`GROUNDS`); None: for all of it if strict, else never."""
    token_hours: float = 24.0
    table_interval: float = 0.25
    """Seconds that must lie between two standings updates, unless a round ends."""
    heartbeat: float = 5.0
    """Seconds between two looks at everybody."""
    farewell: float = 5.0
    """Seconds that slow agents have to take the last notices."""
    guests: GuestRules = field(default_factory=GuestRules)

    @classmethod
    def read(cls, written: str) -> Self:
        """Return the settings that a store has written down."""
        return msgspec.json.decode(written, type=cls)

    @property
    def strict(self) -> bool:
        return self.strictness == "strict"

    @property
    def grounds(self) -> frozenset[str]:
        """Why a player is put out of this league."""
        if self.disqualify is None:
            return frozenset(GROUNDS if self.strict else ())
        return frozenset(self.disqualify)

    def patience_in(self, *, guests: bool) -> Patience:
        """Return how long a referee waits in a match, and with guests in it."""
        if not guests:
            return self.patience
        move = min(max(self.patience.move, self.guests.window), LONGEST_PATIENCE)
        return msgspec.structs.replace(self.patience, move=move)

    def lease(self, *, guests: bool = False) -> float:
        """Return the longest that a referee who keeps to the rules can take for a match."""
        patience = self.patience_in(guests=guests)
        waits = self.retry.base_delay * (2 ** (self.retry.attempts - 1) - 1.0)
        turns = GAMES[self.game_type].turns
        windows = patience.join + turns * patience.move
        asked: float = self.retry.attempts * windows + (1 + turns) * waits
        return asked + patience.game_over + patience.report + patience.generic
