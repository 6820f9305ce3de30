"""The configuration files: read as the settings of a league, or written for people to change."""

import logging
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec
from msgspec import UNSET

from agent_league.clock import Clock, format_exact_time, system_clock
from agent_league.files import config_models as models
from agent_league.files.config_models import GamesRegistry, LeagueConfig, SystemConfig
from agent_league.files.layout import Layout
from agent_league.files.reading import ConfigError, did_you_mean, read
from agent_league.game import GAMES, OptionsError
from agent_league.protocol import Patience
from agent_league.protocol.addresses import find_endpoints
from agent_league.protocol.play import Retry
from agent_league.protocol.versions import PROTOCOLS
from agent_league.season.settings import GuestRules, LeagueSettings
from agent_league.tournament.standings import Scoring
from agent_league.vocabulary import Json

log = logging.getLogger("agent_league")
Model = TypeVar("Model", bound=models.Config)
DEFAULT_LEAGUE = SystemConfig().default_league_id


class ConfigLoader:
    """Reads `config/` under *root*; each method raises `ConfigError` for a file that is wrong.

    A missing file means its defaults, but a missing league is an error. If *lenient*, a file that
    another program wrote in its own way means its defaults too.
    """

    def __init__(self, root: Path, *, lenient: bool = False) -> None:
        self._layout, self._lenient = Layout(root), lenient
        self._has_warned = False

    def load_system(self) -> SystemConfig:
        return self._read(SystemConfig(), self._layout.system)

    def load_agents(self) -> models.AgentsConfig:
        return self._read(models.AgentsConfig(), self._layout.agents)

    def load_league(self, league_id: str) -> LeagueConfig:
        path = self._layout.league(league_id)
        try:
            found = read(LeagueConfig, path)
        except FileNotFoundError:
            existing = sorted(other.stem for other in self._layout.leagues.glob("*.json"))
            hint = f" ({did_you_mean(league_id, existing)})" if existing else ""
            command = f"league init {league_id} --shared {self._layout.root}"
            problem = f"not there{hint}; write it with: {command}"
            raise ConfigError(problem, file=path) from None
        if found.league_id != league_id:
            expected = f'"{league_id}", as the file is called'
            problem = f'expected {expected}, got "{found.league_id}"'
            raise ConfigError(problem, file=path, key="league_id", expected=expected)
        return found

    def load_games_registry(self) -> GamesRegistry:
        return self._read(GamesRegistry(), self._layout.games_registry)

    def load_referee_defaults(self) -> models.RefereeDefaults:
        return self._read(models.RefereeDefaults(), self._layout.referee_defaults)

    def load_player_defaults(self) -> models.PlayerDefaults:
        return self._read(models.PlayerDefaults(), self._layout.player_defaults)

    def _read(self, default: Model, path: Path) -> Model:
        try:
            return read(type(default), path)
        except FileNotFoundError:
            return default
        except ConfigError as error:
            if not self._lenient:
                raise
            if not self._has_warned:
                self._has_warned = True
                log.warning("%s; the defaults are used instead of such files", error)
            return default


def read_addresses(root: Path) -> dict[str, str]:
    """Return where agents listen, by id, as the file of agents under *root* says, whoever wrote it."""
    try:
        return find_endpoints(msgspec.json.decode(Layout(root).agents.read_bytes()))
    except (OSError, msgspec.DecodeError):
        return {}


def patience(system: SystemConfig) -> Patience:
    """Return how long *system* lets us wait."""
    timeouts, defaults = system.timeouts, Patience()
    return Patience(
        register_referee=timeouts.register_referee_timeout_sec,
        register_player=timeouts.register_player_timeout_sec,
        join=timeouts.game_join_ack_timeout_sec,
        move=timeouts.move_timeout_sec,
        game_over=timeouts.game_over_timeout_sec or defaults.game_over,
        report=timeouts.report_timeout_sec or defaults.report,
        generic=timeouts.generic_response_timeout_sec,
    )


def retry(system: SystemConfig) -> Retry:
    """Return how often *system* lets us try."""
    policy = system.retry_policy
    return Retry(
        # Named retries, but the documents count attempts: range(3) is three calls.
        attempts=policy.max_retries,
        base_delay=policy.base_delay_sec,
        backoff=policy.backoff_strategy,
        jitter=policy.jitter is True,
    )


def settings(
    system: SystemConfig,
    league: LeagueConfig,
    *,
    seed: str,
    games: GamesRegistry | None = None,
) -> LeagueSettings:
    """Return the settings of *league*, or raise `ConfigError` if its game does not accept them.

    *games* gives the options of a game where the league does not.
    """
    lead = league.announcement_lead_sec
    return LeagueSettings(
        seed=seed,
        league_id=league.league_id,
        game_type=league.game_type,
        options=_check_options(league, games or GamesRegistry()),
        format=league.scheduling.format,
        legs=league.legs,
        rounds=league.rounds,
        overlap_rounds=league.overlap_rounds,
        min_players=league.participants.min_players,
        max_players=league.participants.max_players,
        assignment=league.assignment,
        scoring=scoring(league.scoring),
        patience=patience(system),
        retry=retry(system),
        announcement_lead=0.0 if lead is UNSET else lead,
        unique_names=league.unique_names,
        protocols=PROTOCOLS if league.protocols is UNSET else league.protocols,
        strictness=league.strictness,
        disqualify=None if league.disqualify is UNSET else league.disqualify,
        token_hours=system.security.token_ttl_hours,
        guests=GuestRules(
            move=league.guests.move_timeout_sec,
            presence=league.guests.presence_timeout_sec,
            farewell=league.guests.farewell_sec,
            linger=league.guests.linger_sec,
            rejoin=league.guests.rejoin_sec,
        ),
    )


def scoring(config: models.ScoringConfig) -> Scoring:
    return Scoring(
        win=config.win_points,
        draw=config.draw_points,
        loss=config.loss_points,
        technical_loss=config.technical_loss_points,
        tiebreakers=config.tiebreakers,
    )


def _check_options(league: LeagueConfig, games: GamesRegistry) -> Mapping[str, Json]:
    """Return the options of the league's game, which the game itself has accepted."""
    registered = {game.game_type: game.options for game in games.games}
    name, file = league.game_type, Layout(Path()).league(league.league_id)
    known = [*GAMES] if not registered else [one for one in GAMES if one in registered]
    if name not in known:
        problem = f"no game {name!r} can be played; {did_you_mean(name, known)}"
        raise ConfigError(problem, file=file, key="game_type", expected=", ".join(known))
    options = {**registered.get(name, {}), **league.options}
    try:
        GAMES[name].start(options, Random(0))
    except OptionsError as error:
        raise ConfigError(str(error), file=file, key="options") from None
    return options


def init(root: Path, league_id: str, clock: Clock = system_clock) -> list[Path]:
    """Write the configuration of a league under *root*, and return the files that are new.

    A file that exists is left as it is. Raises `ConfigError` where a file cannot be written.
    """
    layout, at = Layout(root), format_exact_time(clock())
    league = LeagueConfig(league_id=league_id, created_at=at)
    if league_id != DEFAULT_LEAGUE:
        league = msgspec.structs.replace(league, display_name=_title(league_id))
    contents: dict[Path, models.Config] = {
        layout.system: SystemConfig(default_league_id=league_id),
        layout.agents: _default_agents(at),
        layout.league(league_id): league,
        layout.games_registry: _default_games(),
        layout.referee_defaults: models.RefereeDefaults(),
        layout.player_defaults: models.PlayerDefaults(),
    }
    return [path for path, config in contents.items() if _write_if_missing(path, config)]


def _write_if_missing(path: Path, config: models.Config) -> bool:
    """Return whether *config* was written: a file that exists is left alone."""
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


def _default_agents(at: str) -> models.AgentsConfig:
    referees = [
        models.RefereeEntry(
            referee_id=f"REF{number:02}",
            display_name=f"Referee {name}",
            endpoint=f"http://localhost:{8000 + number}/mcp",
        )
        for number, name in enumerate(("Alpha", "Beta"), 1)
    ]
    players = [
        models.PlayerEntry(
            player_id=f"P{number:02}",
            display_name=f"Agent {name}",
            default_endpoint=f"http://localhost:{8100 + number}/mcp",
        )
        for number, name in enumerate(("Alpha", "Beta", "Gamma", "Delta"), 1)
    ]
    return models.AgentsConfig(
        last_updated=at,
        league_manager=models.ManagerEntry(endpoint="http://localhost:8000/mcp"),
        referees=tuple(referees),
        players=tuple(players),
    )


def _default_games() -> GamesRegistry:
    """Return the games that are installed; what they are played with is their own default."""
    entries = [
        models.GameEntry(game_type=name, display_name=_title(name), module=type(game).__module__)
        for name, game in GAMES.items()
    ]
    return GamesRegistry(games=tuple(entries))


def _title(name: str) -> str:
    return name.replace("_", " ").title()[:50]
