"""The configuration files as models: every key, its default, and what it may be.

The names and defaults are those of the protocol's own examples. A key that is not declared here
is an error: a misspelt timeout that is silently ignored costs somebody a match.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from agent_league.dialects.versions import PROTOCOLS
from agent_league.league.assignment import POLICIES
from agent_league.league.settings import GROUNDS
from agent_league.protocol.fields import (
    Capacity,
    DisplayName,
    ProtocolVersion,
    SemanticVersion,
    UtcTime,
)
from agent_league.protocol.play import Strictness
from agent_league.sdk.config_fields import (
    Attempts,
    Delay,
    GameTypes,
    Hours,
    Id,
    Options,
    Points,
    Port,
    PortRange,
    SchemaVersion,
    Size,
    Text,
    Wait,
    check_distinct,
    check_endpoint,
    check_known,
    rule,
)
from agent_league.sdk.reading import broken
from agent_league.tournament import FORMATS, TIEBREAKERS
from agent_league.vocabulary import Json


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a configuration file."""


class Network(Config, frozen=True, kw_only=True):
    """Where agents listen that are not told otherwise."""

    base_host: Text = "localhost"
    default_league_manager_port: Port = 8000
    default_referee_port_range: PortRange = (8001, 8010)
    default_player_port_range: PortRange = (8101, 8199)

    def __post_init__(self) -> None:
        for key in ("default_referee_port_range", "default_player_port_range"):
            low, high = getattr(self, key)
            if low > high:
                raise broken(key, "two ports, the lower one first", [low, high])


class Security(Config, frozen=True, kw_only=True):
    """The tokens that agents are given."""

    enable_auth_tokens: bool = True
    token_length: Annotated[int, Meta(ge=32, le=43, extra=rule("a whole number from 32 to 43"))] = (
        32
    )
    """The least that a token must have; ours have 43 random characters."""
    token_ttl_hours: Hours = 24

    def __post_init__(self) -> None:
        # To ignore it would be worse than to refuse it: somebody would believe it.
        if not self.enable_auth_tokens:
            raise broken("enable_auth_tokens", "true (every league has tokens)", False)


class Timeouts(Config, frozen=True, kw_only=True):
    """How long an answer may take."""

    register_referee_timeout_sec: Wait = 10
    register_player_timeout_sec: Wait = 10
    game_join_ack_timeout_sec: Wait = 5
    move_timeout_sec: Wait = 30
    generic_response_timeout_sec: Wait = 10
    game_over_timeout_sec: Wait | UnsetType = UNSET
    """Ours, optional."""
    report_timeout_sec: Wait | UnsetType = UNSET
    """Ours, optional."""


class RetryPolicy(Config, frozen=True, kw_only=True):
    """How often a call is tried."""

    max_retries: Attempts = 3
    """Attempts in all, the first one included."""
    base_delay_sec: Delay = 2.0
    backoff_strategy: Annotated[
        Literal["exponential", "fixed"], Meta(extra=rule('"exponential" or "fixed"'))
    ] = "exponential"
    jitter: bool | UnsetType = UNSET
    """Ours, optional."""


class SystemConfig(Config, frozen=True, kw_only=True):
    """`config/system.json`: what holds for every league."""

    schema_version: SchemaVersion = "1.0.0"
    system_id: Id = "league_system_prod"
    protocol_version: ProtocolVersion = "league.v2"
    default_league_id: Id = "league_2025_even_odd"
    network: Network = Network()
    security: Security = Security()
    timeouts: Timeouts = Timeouts()
    retry_policy: RetryPolicy = RetryPolicy()


class ManagerEntry(Config, frozen=True, kw_only=True):
    """The league manager."""

    display_name: DisplayName = "Central League Manager"
    endpoint: Text | UnsetType = UNSET
    """Where it is found; by default where `system.json` has it listen."""
    version: SemanticVersion = "1.0.0"

    def __post_init__(self) -> None:
        if not isinstance(self.endpoint, UnsetType):
            check_endpoint("endpoint", self.endpoint)


class RefereeEntry(Config, frozen=True, kw_only=True):
    """A referee that is known beforehand."""

    referee_id: Id
    display_name: DisplayName
    endpoint: Text
    version: SemanticVersion = "1.0.0"
    game_types: GameTypes = ("even_odd",)
    max_concurrent_matches: Capacity = 2
    active: bool = True

    def __post_init__(self) -> None:
        check_endpoint("endpoint", self.endpoint)


class PlayerEntry(Config, frozen=True, kw_only=True):
    """A player that is known beforehand."""

    player_id: Id
    display_name: DisplayName
    version: SemanticVersion = "1.0.0"
    game_types: GameTypes = ("even_odd",)
    default_endpoint: Text
    active: bool = True
    strategy: Text | UnsetType = UNSET
    """Ours, optional."""

    def __post_init__(self) -> None:
        check_endpoint("default_endpoint", self.default_endpoint)


class AgentsConfig(Config, frozen=True, kw_only=True):
    """`config/agents/agents_config.json`: who is known beforehand."""

    schema_version: SchemaVersion = "1.0.0"
    last_updated: UtcTime | UnsetType = UNSET
    league_manager: ManagerEntry = ManagerEntry()
    referees: tuple[RefereeEntry, ...] = ()
    players: tuple[PlayerEntry, ...] = ()

    def __post_init__(self) -> None:
        check_distinct("referees", "referee_id", (r.referee_id for r in self.referees))
        check_distinct("players", "player_id", (p.player_id for p in self.players))
        # The same endpoint is the same agent.
        check_distinct("referees", "endpoint", (r.endpoint for r in self.referees))
        check_distinct("players", "default_endpoint", (p.default_endpoint for p in self.players))


class ScoringConfig(Config, frozen=True, kw_only=True):
    """What a match is worth, and what separates players with equal points."""

    win_points: Points = 3
    draw_points: Points = 1
    loss_points: Points = 0
    technical_loss_points: Points = 0
    tiebreakers: tuple[Text, ...] = ("wins", "head_to_head", "draws")

    def __post_init__(self) -> None:
        for name in self.tiebreakers:
            check_known("tiebreakers", name, TIEBREAKERS)


class Scheduling(Config, frozen=True, kw_only=True):
    """Who meets whom."""

    format: Text = "round_robin"
    matches_per_round: Annotated[
        int, Meta(ge=1, le=100_000, extra=rule("a whole number from 1"))
    ] = 2
    """Of the example with four players; how many they are follows from the number of players."""

    def __post_init__(self) -> None:
        check_known("format", self.format, FORMATS)


class Participants(Config, frozen=True, kw_only=True):
    """How many may take part."""

    min_players: Size = 2
    max_players: Size = 100

    def __post_init__(self) -> None:
        if self.min_players > self.max_players:
            expected = f"at least min_players ({self.min_players})"
            raise broken("max_players", expected, self.max_players)


class GuestsConfig(Config, frozen=True, kw_only=True):
    """What holds for players that cannot listen, and so move by calling the league."""

    move_timeout_sec: Wait = 90
    presence_timeout_sec: Wait = 120
    farewell_sec: Delay = 30


class LeagueConfig(Config, frozen=True, kw_only=True):
    """`config/leagues/<league_id>.json`: the terms of one league."""

    schema_version: SchemaVersion = "1.0.0"
    league_id: Id
    display_name: DisplayName = "Even/Odd League 2025"
    game_type: Text = "even_odd"
    status: Text = "ACTIVE"
    created_at: UtcTime | UnsetType = UNSET
    scoring: ScoringConfig = ScoringConfig()
    scheduling: Scheduling = Scheduling()
    participants: Participants = Participants()
    # From here on the keys are ours, and optional.
    options: Options = field(default_factory=dict[str, Json])
    assignment: Text = "least_busy"
    legs: Attempts = 1
    announcement_lead_sec: Delay = 0
    unique_names: bool = False
    guests: GuestsConfig = GuestsConfig()
    protocols: Annotated[tuple[Text, ...], Meta(min_length=1)] | UnsetType = UNSET
    """The versions that players may speak; all that there are, or in a class league the newest."""
    strictness: Annotated[Strictness, Meta(extra=rule('"tolerant" or "strict"'))] = "tolerant"
    disqualify: tuple[Text, ...] | UnsetType = UNSET
    """Why a player is put out; everything that 000 names if strict, nothing otherwise."""

    def __post_init__(self) -> None:
        check_known("assignment", self.assignment, POLICIES)
        for version in self.protocols or ():
            check_known("protocols", version, PROTOCOLS)
        for ground in self.disqualify or ():
            check_known("disqualify", ground, GROUNDS)


class GameEntry(Config, frozen=True, kw_only=True):
    """A game that may be played."""

    game_type: Text
    display_name: DisplayName
    module: Text | UnsetType = UNSET
    """Where its rules are, for people; the program finds them by *game_type*."""
    options: Options = field(default_factory=dict[str, Json])


class GamesRegistry(Config, frozen=True, kw_only=True):
    """`config/games/games_registry.json`: the games that may be played."""

    schema_version: SchemaVersion = "1.0.0"
    games: tuple[GameEntry, ...] = ()

    def __post_init__(self) -> None:
        check_distinct("games", "game_type", (game.game_type for game in self.games))


class RefereeDefaults(Config, frozen=True, kw_only=True):
    """`config/defaults/referee.json`: a referee that is not told otherwise."""

    schema_version: SchemaVersion = "1.0.0"
    display_name: DisplayName = "Referee"
    version: SemanticVersion = "1.0.0"
    game_types: GameTypes = ("even_odd",)
    max_concurrent_matches: Capacity = 10


class PlayerDefaults(Config, frozen=True, kw_only=True):
    """`config/defaults/player.json`: a player that is not told otherwise."""

    schema_version: SchemaVersion = "1.0.0"
    display_name: DisplayName = "Player"
    version: SemanticVersion = "1.0.0"
    game_types: GameTypes = ("even_odd", "tic_tac_toe")
    strategy: Text | UnsetType = UNSET
    """`league play` deals out a mixture if nothing is said, `league player` plays at random."""
