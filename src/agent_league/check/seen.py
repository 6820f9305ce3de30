"""What a check has seen of an agent so far; the rules judge nothing else."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from agent_league.check.exchange import Exchange, Heard
from agent_league.vocabulary import Json

Progress: TypeAlias = Callable[[str], None]
"""Told what the check is about to look at."""


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
    shunned: Exchange | None = None
    """The first call by the name of a tool, if the agent knows only the names of messages."""
    string_id: Exchange | None = None
    """A right request whose id is a string."""
    trials: dict[str, Trial] = field(default_factory=dict[str, Trial])
    """What was tried, by its name."""
    stopped: str = "the check ran out of time"
    """Why nothing more was seen."""
    registration: Exchange | None = None
    """The request with which it joined the check's own league."""
    given_id: str = ""
    """The id that it got there."""
    unregistered: str = "have it register at the check's own league: --league-port"
    """Why there is no registration."""

    def own_words(self) -> list[tuple[Exchange, Json]]:
        """Return the messages of the agent itself, each with where it stands."""
        return [(said, said.message) for said in self.calls if said.message is not None]


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


@dataclass
class Bout:
    """One match that a referee was told to run between two players of the check."""

    match_id: str
    order: Exchange
    choices: tuple[str, str]
    """What the two seats choose, in the end."""
    heard: tuple[list[Heard], list[Heard]] = field(default_factory=lambda: ([], []))
    """What each seat was told."""
    reports: list[Heard] = field(default_factory=list[Heard])
    joined: list[float] = field(default_factory=list[float])
    """When the seats were taken."""
    asked_together: bool = False
    """Whether both were asked to choose before either had answered."""

    def said(self, kind: str, seat: int | None = None) -> list[Heard]:
        """Return the messages of *kind* that one seat was sent, or anybody."""
        everybody = (*self.heard, self.reports) if seat is None else (self.heard[seat],)
        return [heard for told in everybody for heard in told if heard.kind == kind]

    @property
    def ended(self) -> bool:
        """Whether both seats were told the result."""
        return bool(self.said("GAME_OVER", 0) and self.said("GAME_OVER", 1))

    def result(self) -> Json:
        """Return the result as the first seat was told it; empty if it was not."""
        told = next(iter(self.said("GAME_OVER")), None)
        found = told.message.get("game_result") if told else None
        return found if isinstance(found, dict) else {}


@dataclass
class RefereeSeen(Seen):
    """What a referee is judged by."""

    bouts: dict[str, Bout] = field(default_factory=dict[str, Bout])
    """The matches with something special in them, by its name."""
    together: list[Bout] = field(default_factory=list[Bout])
    """The matches that it was given at the same time."""
    series: list[Bout] = field(default_factory=list[Bout])
    wanted: int = 0
    strange_game: Exchange | None = None

    @property
    def matches(self) -> list[Bout]:
        return [*self.bouts.values(), *self.together, *self.series]

    def sent(self, *kinds: str) -> list[Exchange]:
        """Return what it said to the players and the league, of these kinds or of any."""
        all_heard = [
            heard for bout in self.matches for told in (*bout.heard, bout.reports) for heard in told
        ]
        return [heard.exchange for heard in all_heard if not kinds or heard.kind in kinds]

    def own_words(self) -> list[tuple[Exchange, Json]]:
        return [(said, said.asked) for said in self.sent()]


@dataclass
class ManagerSeen(Seen):
    """What a league manager is judged by."""

    asked: dict[str, Exchange] = field(default_factory=dict[str, Exchange])
    """What was asked of it, by a name of ours."""
    notices: list[Heard] = field(default_factory=list[Heard])
    """What the players of the check were told, in order."""
    reports: list[Exchange] = field(default_factory=list[Exchange])
    """The results that the referee of the check reported."""
    ids: list[str] = field(default_factory=list[str])
    """The ids that its players got."""
    unentered: str = "it would change the league: --allow-registration"
    """Why nobody of the check takes part."""

    def told(self, kind: str) -> list[Exchange]:
        return [heard.exchange for heard in self.notices if heard.kind == kind]

    def own_words(self) -> list[tuple[Exchange, Json]]:
        answers = [(said, said.told) for said in [*self.calls, *self.asked.values()]]
        messages = [(said, told) for said, told in answers if "message_type" in told]
        return [*messages, *((heard.exchange, heard.message) for heard in self.notices)]
