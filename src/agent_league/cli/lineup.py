"""Which agents a command starts, where and as whom: from the files that name them, or by number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice, repeat
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from msgspec import UnsetType

from agent_league.hosting import LOOPBACK
from agent_league.local import FIRST_PLAYER, FIRST_REFEREE, Place, moved
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry
from agent_league.sdk import (
    AgentsConfig,
    ConfigLoader,
    PlayerDefaults,
    RefereeDefaults,
    SystemConfig,
    patience,
    retry,
)
from agent_league.sdk.config_models import PlayerEntry, RefereeEntry

HERE = {"localhost", LOOPBACK, "::1"}
UNNAMED_PLAYERS, UNNAMED_REFEREES, FEWEST_PLAYERS = 4, 2, 2
"""How many take part when neither a flag nor a file says it."""


@dataclass(frozen=True)
class Files:
    """What the files of a folder say about agents."""

    system: SystemConfig
    agents: AgentsConfig
    referee: RefereeDefaults
    player: PlayerDefaults

    @classmethod
    def read(cls, shared: Path) -> Self:
        loader = ConfigLoader(shared)
        return cls(
            loader.load_system(),
            loader.load_agents(),
            loader.load_referee_defaults(),
            loader.load_player_defaults(),
        )

    @property
    def host(self) -> str:
        """Where agents listen."""
        host = self.system.network.base_host
        return LOOPBACK if host == "localhost" else host

    @property
    def manager_port(self) -> int:
        return self.system.network.default_league_manager_port

    @property
    def league_url(self) -> str:
        """Where the league manager is found."""
        known = self.agents.league_manager.endpoint
        shown = f"[{self.host}]" if ":" in self.host else self.host
        derived = f"http://{shown}:{self.manager_port}/mcp"
        return derived if isinstance(known, UnsetType) else known

    @property
    def patience(self) -> Patience:
        return patience(self.system)

    @property
    def retry(self) -> Retry:
        return retry(self.system)

    def named_referees(self, game_type: str) -> list[RefereeEntry]:
        """Return the referees that a league of that game starts on this machine."""
        return [
            entry
            for entry in self.agents.referees
            if entry.active and game_type in entry.game_types and self._here(entry.endpoint)
        ]

    def named_players(self, game_type: str) -> list[PlayerEntry]:
        """Return the players that a league of that game starts on this machine."""
        return [
            entry
            for entry in self.agents.players
            if entry.active and game_type in entry.game_types and self._here(entry.default_endpoint)
        ]

    def _here(self, endpoint: str) -> bool:
        return urlsplit(endpoint).hostname in {*HERE, self.host}

    def one_referee(self, referee_id: str) -> Place:
        """Return the place of a referee that is started alone; port 0 leaves it to the range."""
        known = {entry.referee_id: entry for entry in self.agents.referees}
        return referee_place(known[referee_id]) if referee_id in known else self._new(referee_id)

    def one_player(self, player_id: str, strategy: str | None = None) -> Place:
        """Return the place of a player that is started alone; port 0 leaves it to the range."""
        known = {entry.player_id: entry for entry in self.agents.players}
        if player_id in known:
            return player_place(known[player_id])
        chosen = strategy or _given(self.player.strategy) or "random"
        name = f"{self.player.display_name} ({chosen.rsplit('/', 1)[-1]})"
        games, version = self.player.game_types, self.player.version
        return Place(player_id, 0, name, version, games, strategy=_given(self.player.strategy))

    def _new(self, referee_id: str) -> Place:
        usual = self.referee
        name, capacity = f"{usual.display_name} {referee_id}", usual.max_concurrent_matches
        return Place(referee_id, 0, name, usual.version, usual.game_types, capacity)

    def referees(self, game_type: str, wanted: int | None, base: int | None) -> list[Place]:
        """Return the referees of a league: those with a name, and as many more as it takes."""
        named = [referee_place(entry) for entry in self.named_referees(game_type)]
        number = wanted or len(named) or UNNAMED_REFEREES
        # Whoever is added plays the game of the league, whatever it is.
        new = (replace(self._new(i), game_types=()) for i in _ids("REF", named))
        places = list(islice(chain(named, new), number))
        first = self.system.network.default_referee_port_range
        return moved(places, base, FIRST_REFEREE) if base is not None else _settled(places, first)

    def players(self, game_type: str, wanted: int | None, base: int | None) -> list[Place]:
        """Return the players of a league: those with a name, and as many more as it takes."""
        named = [player_place(entry) for entry in self.named_players(game_type)]
        usual = max(len(named), FEWEST_PLAYERS) if named else UNNAMED_PLAYERS
        version, strategy = self.player.version, _given(self.player.strategy)
        new = (Place(i, version=version, strategy=strategy) for i in _ids("P", named))
        places = list(islice(chain(named, new), usual if wanted is None else wanted))
        first = self.system.network.default_player_port_range
        return moved(places, base, FIRST_PLAYER) if base is not None else _settled(places, first)


def referee_place(entry: RefereeEntry) -> Place:
    return Place(
        entry.referee_id,
        _port(entry.endpoint),
        entry.display_name,
        entry.version,
        entry.game_types,
        entry.max_concurrent_matches,
    )


def player_place(entry: PlayerEntry) -> Place:
    return Place(
        entry.player_id,
        _port(entry.default_endpoint),
        entry.display_name,
        entry.version,
        entry.game_types,
        strategy=_given(entry.strategy),
    )


def _port(endpoint: str) -> int:
    return urlsplit(endpoint).port or 0


def _given(value: str | UnsetType) -> str | None:
    return None if isinstance(value, UnsetType) else value


def _ids(prefix: str, named: Sequence[Place]) -> Iterator[str]:
    """Yield the ids that nobody has, in their order."""
    taken = {place.agent_id for place in named}
    return (agent_id for n in count(1) if (agent_id := f"{prefix}{n:02}") not in taken)


def _settled(places: Sequence[Place], ports: tuple[int, int]) -> list[Place]:
    """Return *places*, those without a port in the range; beyond its end any port will do."""
    taken = {place.port for place in places}
    free = (port for port in range(ports[0], ports[1] + 1) if port not in taken)
    found = chain(free, repeat(0))
    return [place if place.port else place.at(next(found)) for place in places]
