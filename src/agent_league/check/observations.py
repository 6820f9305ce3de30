"""What a check has seen of an agent so far; the rules judge nothing else."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from agent_league.check.exchange import Exchange, Received
from agent_league.check.reading import find_choice
from agent_league.check.rule import Case, NotJudgedError
from agent_league.vocabulary import Json

GAMES_IN_A_ROW = 50
"""How many games, or matches, the document demands without a fault."""
Progress: TypeAlias = Callable[[str], None]
"""Called with what the check is about to look at."""


@dataclass(frozen=True)
class Trial:
    """A right request, a bad copy of it, and a valid request right after that."""

    right: Exchange
    bad: Exchange
    after: Exchange

    @property
    def right_is_taken(self) -> bool:
        return self.right.answer is not None and not self.right.is_refusal


@dataclass
class Observations(ABC):
    """What any agent is judged by; filled as the check goes on."""

    calls: list[Exchange] = field(default_factory=list[Exchange])
    """The valid requests of the first conversation, in order."""
    nothing_served: Exchange | None = None
    """The answer of a server that serves nothing at the address."""
    tool_calls: list[Exchange] = field(default_factory=list[Exchange])
    """One call of each kind by the name of its tool that the agent understood."""
    misnamed: list[tuple[Exchange, Exchange]] = field(
        default_factory=list[tuple[Exchange, Exchange]]
    )
    """The calls by the name of a tool that it does not know, each with the call that it knows."""
    reworded: list[tuple[Exchange, Exchange]] = field(
        default_factory=list[tuple[Exchange, Exchange]]
    )
    """The right messages that it refuses, each with the wording that it takes."""
    trials: dict[str, Trial] = field(default_factory=dict[str, Trial])
    """The bad requests, by what is bad about them."""
    game_count: int = 0
    """How many games or matches in a row there should be."""
    stop_reason: str = "the check did not come to it"
    """Why nothing more was seen."""
    is_cut_short: bool = False
    """Whether the check ran out of time."""
    registration: Exchange | None = None
    """The request with which it joined the check's own league."""
    assigned_id: str = ""
    """The id that it got there."""
    no_registration_reason: str = "have it register at the check's own league: --league-port"
    """Why there is no registration."""

    def get_registration(self) -> Exchange:
        """Return the registration, or raise `NotJudgedError`."""
        if self.registration is None:
            raise NotJudgedError(self.no_registration_reason)
        return self.registration

    def list_answered(self) -> list[Exchange]:
        """Return the valid requests whose answers show how the agent frames them."""
        return self.calls

    @abstractmethod
    def list_own_messages(self) -> list[Case[Json]]:
        """Return the messages that the agent wrote."""


@dataclass
class Game:
    """One game of the check with a player."""

    match_id: str
    ack: Exchange
    move: Exchange | None = None
    over: Exchange | None = None

    @property
    def exchanges(self) -> list[Exchange]:
        return [exchange for exchange in (self.ack, self.move, self.over) if exchange is not None]

    @property
    def has_ended(self) -> bool:
        """Whether the player made its choice, and answered to the end."""
        return self.over is not None and not self.is_cut_short and self.choice is not None

    @property
    def is_cut_short(self) -> bool:
        """Whether a request was not answered at all."""
        return any(exchange.failure for exchange in self.exchanges)

    @property
    def choice(self) -> Json:
        """What the player chose; None if it did not."""
        return find_choice(self.move.message) if self.move and not self.move.is_refusal else None

    def find_proof(self) -> Exchange:
        """Return the exchange at which the game stopped, or the last one."""
        stopped = (exchange for exchange in self.exchanges[1:] if exchange.is_refusal)
        return next(stopped, self.exchanges[-1])


@dataclass
class PlayerObservations(Observations):
    """What a player is judged by."""

    first: Game | None = None
    series: list[Game] = field(default_factory=list[Game])
    """The games that were played one after the other."""
    concurrent: list[Game] = field(default_factory=list[Game])
    """The games that were played at the same time."""
    notices: dict[str, Exchange] = field(default_factory=dict[str, Exchange])
    unicode: Exchange | None = None
    unknown_game: Exchange | None = None
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

    def list_own_messages(self) -> list[Case[Json]]:
        kinds = ("GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE")
        replies = [*self.acks, *self.moves]
        return [Case(reply.message, reply) for reply in replies if reply.is_reply_of(*kinds)]


@dataclass
class Bout:
    """One match that a referee was given, between two players of the check."""

    match_id: str
    order: Exchange
    choices: tuple[str, str]
    """What the two seats choose, in the end."""
    inboxes: tuple[list[Received], list[Received]] = field(default_factory=lambda: ([], []))
    """What each seat received."""
    reports: list[Received] = field(default_factory=list[Received])
    join_times: list[float] = field(default_factory=list[float])
    """When the seats joined."""
    asked_together: bool = False
    """Whether both were asked to choose before either had answered."""

    def find_messages(self, kind: str, seat: int | None = None) -> list[Received]:
        """Return the messages of *kind* to one seat, or to the seats and the league."""
        inboxes = (*self.inboxes, self.reports) if seat is None else (self.inboxes[seat],)
        return [received for inbox in inboxes for received in inbox if received.kind == kind]

    def find_proof(self, *kinds: str) -> Exchange:
        """Return the last message of *kinds*, or the order if there is none."""
        found = [received.exchange for kind in kinds for received in self.find_messages(kind)]
        return found[-1] if found else self.order

    def reached_both(self, kind: str) -> bool:
        """Whether both seats got a message of *kind*."""
        return bool(self.find_messages(kind, 0) and self.find_messages(kind, 1))

    @property
    def has_ended(self) -> bool:
        return self.reached_both("GAME_OVER")

    def find_repeated(self) -> tuple[str, int] | None:
        """Return what shows that a match was played more than once, and how often it came."""
        kinds = ("GAME_INVITATION", "GAME_OVER")
        counts = ((kind, len(self.find_messages(kind, 0))) for kind in kinds)
        return next((found for found in counts if found[1] > 1), None)

    def result(self) -> Json:
        """Return the result as the second seat got it, or else the first; empty if none came.

        Some referees write to each player how it did itself; it is the second that does wrong.
        """
        found = self.find_messages("GAME_OVER")
        result = found[-1].message.get("game_result") if found else None
        return result if isinstance(result, dict) else {}


class ReplyForm(StrEnum):
    """What the replies of the check's players are like; the value completes a sentence."""

    RIGHT = "as the protocol writes it"
    REWORDED = 'the reply also says "type", "accepted" and "choice"'
    ELSEWHERE = "the reply is also beside result, or comes in a request of its own"


@dataclass
class RefereeObservations(Observations):
    """What a referee is judged by."""

    bouts: dict[str, Bout] = field(default_factory=dict[str, Bout])
    """The matches with something special in them, by its name."""
    concurrent: list[Bout] = field(default_factory=list[Bout])
    """The matches that it was given at the same time."""
    series: list[Bout] = field(default_factory=list[Bout])
    unknown_game: Exchange | None = None
    reply_form: ReplyForm = ReplyForm.RIGHT
    """The replies with which it goes on."""
    deaf_bout: Bout | None = None
    """The first match, if it did not go on with right replies."""
    order_detour: tuple[Exchange, Exchange] | None = None
    """The order that it refuses, and the other form of it that it takes."""
    seats_are_documented: bool = True
    """Whether the players of the check listen where the documents put them."""

    @property
    def matches(self) -> list[Bout]:
        return [*self.bouts.values(), *self.concurrent, *self.series]

    @property
    def clear_matches(self) -> list[Bout]:
        """The matches without the one that was ordered twice, if it was played twice as well.

        Nobody can tell which of its messages belong together.
        """
        twice = self.bouts.get("twice")
        return [bout for bout in self.matches if bout is not twice or not bout.find_repeated()]

    def list_answered(self) -> list[Exchange]:
        refused = [self.order_detour[0]] if self.order_detour else []
        return [*self.calls, *refused, *(bout.order for bout in self.matches)]

    def forget(self, bout: Bout) -> None:
        """Leave out a match for whose end there was no time."""
        self.bouts = {name: other for name, other in self.bouts.items() if other is not bout}
        self.series = [other for other in self.series if other is not bout]
        self.concurrent = [other for other in self.concurrent if other is not bout]

    def list_sent(self, *kinds: str) -> list[Exchange]:
        """Return what it sent to the players and the league: messages of *kinds*, or all."""
        return [
            received.exchange
            for bout in self.matches
            for inbox in (*bout.inboxes, bout.reports)
            for received in inbox
            if not kinds or received.kind in kinds
        ]

    def list_own_messages(self) -> list[Case[Json]]:
        return [Case(exchange.request_message, exchange) for exchange in self.list_sent()]


@dataclass
class ManagerObservations(Observations):
    """What a league manager is judged by."""

    knows_queries: bool = True
    """Whether it knows LEAGUE_QUERY at all."""
    requests: dict[str, Exchange] = field(default_factory=dict[str, Exchange])
    """The requests of the check, by name."""
    registrations: list[Exchange] = field(default_factory=list[Exchange])
    """The valid registrations of the referee and the players of the check."""
    notices: list[Received] = field(default_factory=list[Received])
    """What the players of the check received, in order."""
    reports: list[Exchange] = field(default_factory=list[Exchange])
    """The results that the referee of the check reported."""

    def list_answered(self) -> list[Exchange]:
        return [*self.calls, *self.requests.values(), *self.registrations]

    def find_notices(self, kind: str) -> list[Exchange]:
        return [received.exchange for received in self.notices if received.kind == kind]

    def list_own_messages(self) -> list[Case[Json]]:
        sent = (*self.calls, *self.requests.values(), *self.registrations)
        answers = [Case(exchange.reply_or_error, exchange) for exchange in sent]
        replies = [answer for answer in answers if "message_type" in answer.subject]
        return [*replies, *(Case(got.message, got.exchange) for got in self.notices)]
