"""The configuration files as models: every key, its default, and what it may be.

The names and defaults are those of the protocol's own examples; keys that are UNSET by
default are optional. A key that is not declared here is an error: a misspelt timeout that is
silently ignored would cost a player a match.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, field

from agent_league.files.layout import SAFE_ID, SAFE_ID_RULE
from agent_league.files.reading import did_you_mean
from agent_league.protocol.explain import make_field_error
from agent_league.protocol.fields import (
    END,
    Capacity,
    DisplayName,
    ProtocolVersion,
    SemanticVersion,
    Text,
    UtcTime,
    find_endpoint_problem,
    rule,
)
from agent_league.protocol.play import Strictness
from agent_league.protocol.versions import PROTOCOLS
from agent_league.season.assignment import POLICIES
from agent_league.season.settings import GROUNDS
from agent_league.tournament.formats import FORMATS
from agent_league.tournament.standings import TIEBREAKERS
from agent_league.vocabulary import Json

SchemaVersion: TypeAlias = Annotated[
    str, Meta(pattern=rf"^1\.[0-9]{{1,9}}\.[0-9]{{1,9}}{END}", extra=rule('"1.0.0"'))
]
Id: TypeAlias = Annotated[str, Meta(pattern=SAFE_ID, extra=rule(SAFE_ID_RULE))]
Port: TypeAlias = Annotated[int, Meta(ge=1, le=65535, extra=rule("a port from 1 to 65535"))]
PortRange: TypeAlias = Annotated[
    tuple[Port, Port], Meta(extra=rule("two ports, the lower one first"))
]
Wait: TypeAlias = Annotated[
    float, Meta(gt=0, le=86400, extra=rule("seconds, more than 0 and at most 86400"))
]
Delay: TypeAlias = Annotated[float, Meta(ge=0, le=86400, extra=rule("seconds, from 0 to 86400"))]
TokenLength: TypeAlias = Annotated[
    int, Meta(ge=32, le=43, extra=rule("a whole number from 32 to 43"))
]
Hours: TypeAlias = Annotated[
    float, Meta(gt=0, le=8760, extra=rule("hours, more than 0 and at most 8760"))
]
Points: TypeAlias = Annotated[int, Meta(ge=0, le=1000, extra=rule("a whole number from 0 to 1000"))]
Attempts: TypeAlias = Annotated[int, Meta(ge=1, le=10, extra=rule("a whole number from 1 to 10"))]
Legs: TypeAlias = Annotated[int, Meta(ge=1, le=1000, extra=rule("a whole number from 1 to 1000"))]
GameTypes: TypeAlias = Annotated[
    tuple[Text, ...], Meta(min_length=1, extra=rule("a list of at least one game"))
]
Options: TypeAlias = Annotated[dict[str, Json], Meta(extra=rule("an object"))]
Size: TypeAlias = Annotated[int, Meta(ge=2, le=10_000, extra=rule("a number from 2 to 10000"))]


def _check_endpoint(key: str, endpoint: str) -> None:
    if problem := find_endpoint_problem(endpoint):
        expected = f"an address as http://localhost:8101/mcp ({problem})"
        raise make_field_error(key, expected, endpoint)


def _check_known(key: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise make_field_error(key, f"another name ({did_you_mean(name, known)})", name)


def _check_distinct(key: str, what: str, values: Iterable[str]) -> None:
    for value, times in Counter(values).items():
        if times > 1:
            raise make_field_error(key, f"a different {what} for each", value)


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a configuration file."""


class Network(Config, frozen=True, kw_only=True):
    """Where agents listen by default."""

    base_host: Text = "localhost"
    default_league_manager_port: Port = 8000
    default_referee_port_range: PortRange = (8001, 8010)
    default_player_port_range: PortRange = (8101, 8199)

    def __post_init__(self) -> None:
        for key in ("default_referee_port_range", "default_player_port_range"):
            low, high = getattr(self, key)
            if low > high:
                raise make_field_error(key, "two ports, the lower one first", [low, high])


class Security(Config, frozen=True, kw_only=True):
    """The tokens that agents are given."""

    enable_auth_tokens: bool = True
    token_length: TokenLength = 32
    """The smallest length of a token; ours have 43 random characters."""
    token_ttl_hours: Hours = 24

    def __post_init__(self) -> None:
        # To ignore it would be worse than to refuse it: people would rely on it.
        if not self.enable_auth_tokens:
            raise make_field_error("enable_auth_tokens", "true (every league has tokens)", False)


class Timeouts(Config, frozen=True, kw_only=True):
    """How long an answer may take."""

    register_referee_timeout_sec: Wait = 10
    register_player_timeout_sec: Wait = 10
    game_join_ack_timeout_sec: Wait = 5
    move_timeout_sec: Wait = 30
    generic_response_timeout_sec: Wait = 10
    game_over_timeout_sec: Wait | UnsetType = UNSET
    report_timeout_sec: Wait | UnsetType = UNSET


class RetryPolicy(Config, frozen=True, kw_only=True):
    """How often a call is tried."""

    max_retries: Attempts = 3
    """Attempts in all, the first one included."""
    base_delay_sec: Delay = 2.0
    backoff_strategy: Annotated[
        Literal["exponential", "fixed"], Meta(extra=rule('"exponential" or "fixed"'))
    ] = "exponential"
    jitter: bool | UnsetType = UNSET


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
            _check_endpoint("endpoint", self.endpoint)


class RefereeEntry(Config, frozen=True, kw_only=True):
    """A referee that the file names."""

    referee_id: Id
    display_name: DisplayName
    endpoint: Text
    version: SemanticVersion = "1.0.0"
    game_types: GameTypes = ("even_odd",)
    max_concurrent_matches: Capacity = 2
    active: bool = True

    def __post_init__(self) -> None:
        _check_endpoint("endpoint", self.endpoint)

    @property
    def agent_id(self) -> str:
        return self.referee_id

    @property
    def url(self) -> str:
        return self.endpoint


class PlayerEntry(Config, frozen=True, kw_only=True):
    """A player that the file names."""

    player_id: Id
    display_name: DisplayName
    version: SemanticVersion = "1.0.0"
    game_types: GameTypes = ("even_odd",)
    default_endpoint: Text
    active: bool = True
    strategy: Text | UnsetType = UNSET

    def __post_init__(self) -> None:
        _check_endpoint("default_endpoint", self.default_endpoint)

    @property
    def agent_id(self) -> str:
        return self.player_id

    @property
    def url(self) -> str:
        return self.default_endpoint


class AgentsConfig(Config, frozen=True, kw_only=True):
    """`config/agents/agents_config.json`: the agents that have names."""

    schema_version: SchemaVersion = "1.0.0"
    last_updated: UtcTime | UnsetType = UNSET
    league_manager: ManagerEntry = ManagerEntry()
    referees: tuple[RefereeEntry, ...] = ()
    players: tuple[PlayerEntry, ...] = ()

    def __post_init__(self) -> None:
        _check_distinct("referees", "referee_id", (r.referee_id for r in self.referees))
        _check_distinct("players", "player_id", (p.player_id for p in self.players))
        # The same endpoint is the same agent.
        _check_distinct("referees", "endpoint", (r.endpoint for r in self.referees))
        _check_distinct("players", "default_endpoint", (p.default_endpoint for p in self.players))


class ScoringConfig(Config, frozen=True, kw_only=True):
    """What a match is worth, and what separates players with equal points."""

    win_points: Points = 3
    draw_points: Points = 1
    loss_points: Points = 0
    technical_loss_points: Points = 0
    tiebreakers: tuple[Text, ...] = ("wins", "head_to_head", "draws")

    def __post_init__(self) -> None:
        for name in self.tiebreakers:
            _check_known("tiebreakers", name, TIEBREAKERS)


class Scheduling(Config, frozen=True, kw_only=True):
    """Who meets whom."""

    format: Text = "round_robin"
    matches_per_round: Annotated[
        int, Meta(ge=1, le=100_000, extra=rule("a whole number from 1"))
    ] = 2
    """As in the example with four players; the real number follows from the number of players."""

    def __post_init__(self) -> None:
        _check_known("format", self.format, FORMATS)


class Participants(Config, frozen=True, kw_only=True):
    """How many may take part."""

    min_players: Size = 2
    max_players: Size = 100

    def __post_init__(self) -> None:
        if self.min_players > self.max_players:
            expected = f"at least min_players ({self.min_players})"
            raise make_field_error("max_players", expected, self.max_players)


class GuestsConfig(Config, frozen=True, kw_only=True):
    """The rules for guests: players that cannot listen, and so call the league."""

    move_timeout_sec: Wait = 90
    presence_timeout_sec: Wait = 120
    farewell_sec: Delay = 30
    linger_sec: Delay = 10
    rejoin_sec: Delay = 60


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
    legs: Legs = 1
    rounds: Legs = 8
    overlap_rounds: Annotated[int, Meta(ge=0, le=1000, extra=rule("0 to 1000 rounds"))] = 0
    announcement_lead_sec: Delay | UnsetType = UNSET
    """Seconds from the announcement of a round to its first match; if unset, 60 in a class league."""
    unique_names: bool = False
    guests: GuestsConfig = GuestsConfig()
    protocols: Annotated[tuple[Text, ...], Meta(min_length=1)] | UnsetType = UNSET
    """The versions that players may speak; if unset, all, or in a class league the newest."""
    strictness: Annotated[Strictness, Meta(extra=rule('"tolerant" or "strict"'))] = "tolerant"
    disqualify: tuple[Text, ...] | UnsetType = UNSET
    """Why a player is disqualified; if unset, all that 000 names if strict, else nothing."""

    def __post_init__(self) -> None:
        _check_known("assignment", self.assignment, POLICIES)
        for version in self.protocols or ():
            _check_known("protocols", version, PROTOCOLS)
        for ground in self.disqualify or ():
            _check_known("disqualify", ground, GROUNDS)


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
        _check_distinct("games", "game_type", (game.game_type for game in self.games))


class RefereeDefaults(Config, frozen=True, kw_only=True):
    """`config/defaults/referee.json`: the defaults of a referee."""

    schema_version: SchemaVersion = "1.0.0"
    display_name: DisplayName = "Referee"
    version: SemanticVersion = "1.0.0"
    game_types: GameTypes | UnsetType = UNSET  # every game that is known here
    max_concurrent_matches: Capacity = 10


class PlayerDefaults(Config, frozen=True, kw_only=True):
    """`config/defaults/player.json`: the defaults of a player."""

    schema_version: SchemaVersion = "1.0.0"
    display_name: DisplayName = "Player"
    version: SemanticVersion = "1.0.0"
    game_types: GameTypes | UnsetType = UNSET  # every game that is known here
    strategy: Text | UnsetType = UNSET
    """If unset, `league play` mixes strategies, and `league player` plays at random."""
