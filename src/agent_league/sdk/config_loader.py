"""From the configuration files to the terms of a league."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import TypeVar

from msgspec import UNSET, UnsetType

from agent_league.dialects.versions import PROTOCOLS
from agent_league.game import GAMES, OptionsError
from agent_league.league import GuestRules, LeagueSettings
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry
from agent_league.sdk.config_models import (
    AgentsConfig,
    Config,
    GamesRegistry,
    GuestsConfig,
    LeagueConfig,
    PlayerDefaults,
    RefereeDefaults,
    ScoringConfig,
    SystemConfig,
)
from agent_league.sdk.errors import ConfigError, did_you_mean
from agent_league.sdk.layout import Layout
from agent_league.sdk.reading import read
from agent_league.tournament import Scoring
from agent_league.vocabulary import Json

Model = TypeVar("Model", bound=Config)


class ConfigLoader:
    """Reads `config/` under *root*; each method raises `ConfigError` for a file that is wrong.

    A file that is not there stands for its defaults, but for a league's: a league has terms.
    """

    def __init__(self, root: Path) -> None:
        self._layout = Layout(root)

    def load_system(self) -> SystemConfig:
        return _read_or(SystemConfig(), self._layout.system)

    def load_agents(self) -> AgentsConfig:
        return _read_or(AgentsConfig(), self._layout.agents)

    def load_league(self, league_id: str) -> LeagueConfig:
        path = self._layout.league(league_id)
        try:
            found = read(LeagueConfig, path)
        except FileNotFoundError:
            raise self._no_league(path, league_id) from None
        if found.league_id != league_id:
            expected = f'"{league_id}", as the file is called'
            problem = f'expected {expected}, got "{found.league_id}"'
            raise ConfigError(problem, file=path, key="league_id", expected=expected)
        return found

    def load_games_registry(self) -> GamesRegistry:
        return _read_or(GamesRegistry(), self._layout.games_registry)

    def load_referee_defaults(self) -> RefereeDefaults:
        return _read_or(RefereeDefaults(), self._layout.referee_defaults)

    def load_player_defaults(self) -> PlayerDefaults:
        return _read_or(PlayerDefaults(), self._layout.player_defaults)

    def _no_league(self, path: Path, league_id: str) -> ConfigError:
        there = sorted(found.stem for found in self._layout.leagues.glob("*.json"))
        hint = f" ({did_you_mean(league_id, there)})" if there else ""
        shared = self._layout.root
        command = f"league init {league_id} --shared {shared}"
        return ConfigError(f"not there{hint}; write it with: {command}", file=path)


def _read_or(default: Model, path: Path) -> Model:
    try:
        return read(type(default), path)
    except FileNotFoundError:
        return default


def patience(system: SystemConfig) -> Patience:
    """Return how long *system* lets us wait."""
    waits, usual = system.timeouts, Patience()
    return Patience(
        register_referee=waits.register_referee_timeout_sec,
        register_player=waits.register_player_timeout_sec,
        join=waits.game_join_ack_timeout_sec,
        move=waits.move_timeout_sec,
        game_over=_given(waits.game_over_timeout_sec, usual.game_over),
        report=_given(waits.report_timeout_sec, usual.report),
        generic=waits.generic_response_timeout_sec,
    )


def _given(value: float | UnsetType, default: float) -> float:
    return default if isinstance(value, UnsetType) else value


def retry(system: SystemConfig) -> Retry:
    """Return how often *system* lets us try."""
    policy = system.retry_policy
    return Retry(
        # Named retries, but counted as attempts by all who wrote it: range(3) is three calls.
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
    """Return the terms of *league*, or raise `ConfigError` if its game cannot be played so.

    *games* gives the options of a game where the league does not.
    """
    return LeagueSettings(
        seed=seed,
        league_id=league.league_id,
        game_type=league.game_type,
        options=_options(league, games or GamesRegistry()),
        legs=league.legs,
        min_players=league.participants.min_players,
        max_players=league.participants.max_players,
        assignment=league.assignment,
        scoring=scoring(league.scoring),
        patience=patience(system),
        retry=retry(system),
        announcement_lead=league.announcement_lead_sec,
        unique_names=league.unique_names,
        protocols=PROTOCOLS if league.protocols is UNSET else league.protocols,
        strictness=league.strictness,
        disqualify=None if league.disqualify is UNSET else league.disqualify,
        token_hours=system.security.token_ttl_hours,
        guests=guest_rules(league.guests),
    )


def guest_rules(config: GuestsConfig) -> GuestRules:
    return GuestRules(
        move=config.move_timeout_sec,
        presence=config.presence_timeout_sec,
        farewell=config.farewell_sec,
    )


def scoring(config: ScoringConfig) -> Scoring:
    return Scoring(
        win=config.win_points,
        draw=config.draw_points,
        loss=config.loss_points,
        technical_loss=config.technical_loss_points,
        tiebreakers=config.tiebreakers,
    )


def _options(league: LeagueConfig, games: GamesRegistry) -> Mapping[str, Json]:
    """Return the options of the league's game, once the game itself agrees to them."""
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
