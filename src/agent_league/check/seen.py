"""What a check has seen of an agent so far; the rules judge nothing else."""

from dataclasses import dataclass, field

from agent_league.check.exchange import Exchange
from agent_league.vocabulary import Json


@dataclass(frozen=True)
class Trial:
    """Something bad that was sent, and something good right after it."""

    bad: Exchange
    after: Exchange


@dataclass
class Seen:
    """What any agent is judged by, filled as the check goes on."""

    url: str
    calls: list[Exchange] = field(default_factory=list[Exchange])
    """The right requests of the first conversation, in order."""
    string_id: Exchange | None = None
    """A right request whose id is a string."""
    trials: dict[str, Trial] = field(default_factory=dict[str, Trial])
    """What was tried, by its name."""
    stopped: str = "the check ran out of time"
    """Why nothing more was seen."""


@dataclass
class Game:
    """One game of the check with a player."""

    match_id: str
    ack: Exchange
    move: Exchange | None = None
    over: Exchange | None = None

    @property
    def exchanges(self) -> list[Exchange]:
        return [said for said in (self.ack, self.move, self.over) if said is not None]

    @property
    def whole(self) -> bool:
        """Whether everything that was asked in it was answered with JSON."""
        return self.over is not None and not any(said.problem() for said in self.exchanges)


@dataclass
class PlayerSeen(Seen):
    """What a player is judged by."""

    first: Game | None = None
    series: list[Game] = field(default_factory=list[Game])
    """The games that were played one after the other."""
    wanted: int = 0
    """How many of them there should be."""
    together: list[Game] = field(default_factory=list[Game])
    """The games that were played at the same time."""
    notices: dict[str, Exchange] = field(default_factory=dict[str, Exchange])
    unicode: Exchange | None = None
    strange_game: Exchange | None = None
    repeated_moves: list[tuple[Exchange, Exchange]] = field(
        default_factory=list[tuple[Exchange, Exchange]]
    )
    repeated_over: Exchange | None = None
    registration: Json = None
    """The request with which it joined the check's own league."""
    given_id: str | None = None
    """The id that the check's own league gave it."""

    @property
    def games(self) -> list[Game]:
        """The games in which every field counts."""
        return [*([self.first] if self.first else []), *self.series]

    @property
    def acks(self) -> list[Exchange]:
        return [game.ack for game in self.games]

    @property
    def moves(self) -> list[Exchange]:
        return [game.move for game in self.games if game.move is not None]
