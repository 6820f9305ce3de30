"""What is simulated: how many play what, how they behave, and on which machines."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agent_league.game import GAMES, count_turns
from agent_league.season.settings import LeagueSettings
from agent_league.tournament.formats import FORMATS, Format

Standings: TypeAlias = Literal["all", "neighbours", "round", "none"]


@dataclass(frozen=True)
class Machines:
    """Where the manager, its store and the referees run. The players run elsewhere."""

    hosts: int = 1
    cores: int = 2
    """Of each host. The manager and the store have one each on the first, if it has so many."""
    megabits: float = 1000.0
    """Per second, in and out of each host."""
    referees: int = 2
    """Processes, dealt out over the hosts."""
    capacity: int = 100
    """How many matches each referee runs at once."""


@dataclass(frozen=True)
class Scenario:
    """One league to simulate."""

    players: int
    settings: LeagueSettings = field(default_factory=lambda: LeagueSettings(seed="simulation"))
    machines: Machines = field(default_factory=Machines)
    think_s: float = 0.0
    """How long a player thinks about a move."""
    spread: float = 0.0
    """By which share of it that varies, evenly in both directions."""
    failures: float = 0.0
    """The share of the calls to players that are not answered at all."""
    standings: Standings = "all"
    """Which updates of the table the players have asked for, when they registered."""
    max_matches: int = 50_000
    """After so many the simulation ends with the round, and the rest is taken to be the same."""

    @property
    def format(self) -> Format:
        return FORMATS[self.settings.format]

    @property
    def total_matches(self) -> int:
        return self.format.count_matches(self.players, self.settings.pace)

    @property
    def total_rounds(self) -> int:
        return self.format.count_rounds(self.players, self.settings.pace)

    @property
    def turns(self) -> int:
        game = self.settings.game_type
        return count_turns(GAMES[game], self.settings.options_of(game))
