"""The settings of a league: everything that the staff may choose."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

import msgspec

from agent_league.game import GAMES, count_turns
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry, Strictness
from agent_league.protocol.versions import PROTOCOLS
from agent_league.store.errors import StoreError
from agent_league.tournament.formats import FORMATS
from agent_league.tournament.standings import Scoring
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
"""The grounds for disqualifying a player: the eight conditions of 000. The staff chooses among them."""

CLASS_LEAD = 60.0
"""Seconds between the announcement of a round and its first match, in a class with spectators."""

LONGEST_PATIENCE = 86_400.0
"""The longest time in seconds that an order may tell a referee to wait."""
GUEST_MOVE_DELAY = 5.0
"""Seconds that a guest's move may take from the league to the referee."""


@dataclass(frozen=True)
class GuestRules:
    """Time limits, in seconds, for guests: players without a server, which move by calling the league."""

    move: float = 90.0
    """For a move, counted from when the guest received its turn."""
    presence: float = 120.0
    """Without a call from the guest, until it counts as gone."""
    rejoin: float = 60.0
    """How long each match of a guest that has gone waits for it to come back."""
    wait: float = 25.0
    """How long a call waits for a turn, unless the guest says how long."""
    longest_wait: float = 50.0
    """The longest that a call waits, whatever the guest says: many clients give up after a minute."""
    farewell: float = 30.0
    """For guests to call and learn how the league ended."""
    linger: float = 10.0
    """After they have learned it, in which they can still read the table and the matches."""

    @property
    def absence(self) -> float:
        """How long a guest may go without a call; never shorter than the time for a move."""
        return max(self.presence, self.move)

    @property
    def window(self) -> float:
        """The longest time from a referee's call to the move of a guest that keeps its limits."""
        return self.absence + self.move + GUEST_MOVE_DELAY


@dataclass(frozen=True)
class Division:
    """The place of a league in a competition of several divisions, for one season of it."""

    competition: str
    season: int = 1
    number: int = 1
    """1 is the highest."""
    sizes: tuple[int, ...] = ()
    """How many players each division has, the highest first; the last takes all who are left."""
    movers: int = 1
    """How many go down after the season, and as many from the division below go up."""
    invited: tuple[str, ...] = ()
    """The display names of those who play here; empty in a first season without a list."""
    elsewhere: tuple[str, ...] = ()
    """The display names of those who play in the other divisions."""

    @property
    def is_last(self) -> bool:
        return self.number >= len(self.sizes)

    def admits(self, display_name: str) -> bool:
        """Whether a player of this name plays here; newcomers play in the last division."""
        if not self.invited and not self.elsewhere:
            return True
        return display_name in self.invited or (self.is_last and display_name not in self.elsewhere)


@dataclass(frozen=True)
class LeagueSettings:
    """The settings of one league, from the first registration to the last match."""

    seed: str
    """The only source of chance: every draw and every match derives its own seed from it."""
    league_id: str = "league_2025_even_odd"
    game_type: str = "even_odd"
    other_games: tuple[str, ...] = ()
    """More games, in a league of several: two players meet in one that both have declared."""
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    format: str = "round_robin"
    """Who meets whom: one of `FORMATS`."""
    legs: int = 1
    """How often a pair meets."""
    rounds: int = 8
    """How many rounds there are, in a format that does not end by itself."""
    overlap_rounds: int = 0
    """How many rounds may begin before an earlier one is over, where all pairings are known before."""
    awaited_players: int | None = None
    """How many must have registered before the first round; None: the organiser starts the league."""
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
    """The versions that players may use; players that we start use the first."""
    strictness: Strictness = "tolerant"
    """Whether messages that deviate from the protocol are accepted or refused."""
    disqualify: tuple[str, ...] | None = None
    """The grounds for disqualifying a player (`GROUNDS`); None: all if strict, else none."""
    join_code: str | None = None
    """Whoever knows it may join; None: everybody may."""
    students: Mapping[str, str] = field(default_factory=dict[str, str])
    """Who may join as a player, each with the hash of a code of their own."""
    cross_check: float = 0.0
    """The share of the matches that end by forfeit which another referee plays again."""
    token_hours: float = 24.0
    table_interval: float = 0.25
    """Seconds between two standings updates, at least; the end of the season does not wait."""
    heartbeat: float = 5.0
    """Seconds between two checks that every agent still listens."""
    farewell: float = 5.0
    """Seconds that slow agents have to receive the last notices."""
    guests: GuestRules = field(default_factory=GuestRules)
    division: Division | None = None
    """None: the league is a competition of its own."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the settings that a store keeps, or raise `StoreError` if they are damaged."""
        try:
            return msgspec.json.decode(text, type=cls)
        except msgspec.DecodeError as error:
            raise StoreError(f"the store is damaged: the settings of a league: {error}") from error

    @property
    def names(self) -> tuple[str, ...]:
        """The ids that mean this league: its own, and that of the competition it is a division of."""
        return (self.league_id, *([self.division.competition] if self.division else ()))

    @property
    def games(self) -> tuple[str, ...]:
        """Every game that is played; most leagues have one."""
        return (self.game_type, *self.other_games)

    def options_of(self, game_type: str) -> Mapping[str, Json]:
        """Return the options of a game; they are those of the first."""
        return self.options if game_type == self.game_type else {}

    @property
    def pace(self) -> int:
        """The number that the format counts by: legs, or rounds."""
        return self.rounds if FORMATS[self.format].number == "rounds" else self.legs

    @property
    def strict(self) -> bool:
        return self.strictness == "strict"

    @property
    def grounds(self) -> frozenset[str]:
        """The grounds for disqualifying a player that this league applies."""
        if self.disqualify is None:
            return frozenset(GROUNDS if self.strict else ())
        return frozenset(self.disqualify)

    def patience_in(self, *, guests: bool) -> Patience:
        """Return how long a referee waits in a match, which is longer with guests in it."""
        if not guests:
            return self.patience
        move = min(max(self.patience.move, self.guests.window), LONGEST_PATIENCE)
        return msgspec.structs.replace(self.patience, move=move)

    def lease(self, *, guests: bool = False) -> float:
        """Return the longest time that a match can take with a referee that keeps its limits."""
        patience = self.patience_in(guests=guests)
        waits = self.retry.base_delay * (2 ** (self.retry.attempts - 1) - 1.0)
        turns = max(count_turns(GAMES[one], self.options_of(one)) for one in self.games)
        windows = patience.join + turns * patience.move
        play_time: float = self.retry.attempts * windows + (1 + turns) * waits
        return play_time + patience.game_over + patience.report + patience.generic
