"""A first set of configuration files, for people to change."""

from pathlib import Path

import msgspec

from agent_league.clock import Clock, system_clock, written
from agent_league.game import GAMES
from agent_league.sdk.config_models import (
    AgentsConfig,
    Config,
    GameEntry,
    GamesRegistry,
    LeagueConfig,
    ManagerEntry,
    PlayerDefaults,
    PlayerEntry,
    RefereeDefaults,
    RefereeEntry,
    SystemConfig,
)
from agent_league.sdk.errors import ConfigError
from agent_league.sdk.layout import Layout

DEFAULT_LEAGUE = SystemConfig().default_league_id


def init(root: Path, league_id: str, clock: Clock = system_clock) -> list[Path]:
    """Write the configuration of a league under *root*, and return the files that are new.

    A file that exists is left as it is. Raises `ConfigError` where a file cannot be written.
    """
    layout, at = Layout(root), written(clock())
    contents: dict[Path, Config] = {
        layout.system: SystemConfig(default_league_id=league_id),
        layout.agents: _agents(at),
        layout.league(league_id): _league(league_id, at),
        layout.games_registry: _games(),
        layout.referee_defaults: RefereeDefaults(),
        layout.player_defaults: PlayerDefaults(),
    }
    return [path for path, config in contents.items() if _written(path, config)]


def _written(path: Path, config: Config) -> bool:
    """Write *config* unless there is such a file; whether it was written."""
    body = msgspec.json.format(msgspec.json.encode(config), indent=2) + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(body)
    except FileExistsError:
        if path.is_file():
            return False
        raise ConfigError("cannot be written: something else is there", file=path) from None
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", file=path) from None
    return True


def _agents(at: str) -> AgentsConfig:
    manager = ManagerEntry(endpoint="http://localhost:8000/mcp")
    referees = [
        RefereeEntry(
            referee_id=f"REF{number:02}",
            display_name=f"Referee {name}",
            endpoint=f"http://localhost:{8000 + number}/mcp",
        )
        for number, name in enumerate(("Alpha", "Beta"), 1)
    ]
    players = [
        PlayerEntry(
            player_id=f"P{number:02}",
            display_name=f"Agent {name}",
            default_endpoint=f"http://localhost:{8100 + number}/mcp",
        )
        for number, name in enumerate(("Alpha", "Beta", "Gamma", "Delta"), 1)
    ]
    return AgentsConfig(
        last_updated=at,
        league_manager=manager,
        referees=tuple(referees),
        players=tuple(players),
    )


def _league(league_id: str, at: str) -> LeagueConfig:
    config = LeagueConfig(league_id=league_id, created_at=at)
    if league_id == DEFAULT_LEAGUE:
        return config
    return msgspec.structs.replace(config, display_name=_titled(league_id)[:50])


def _games() -> GamesRegistry:
    """Return the games that are installed; what they are played with is their own default."""
    entries = [
        GameEntry(game_type=name, display_name=_titled(name)[:50], module=type(game).__module__)
        for name, game in GAMES.items()
    ]
    return GamesRegistry(games=tuple(entries))


def _titled(name: str) -> str:
    return name.replace("_", " ").title()
