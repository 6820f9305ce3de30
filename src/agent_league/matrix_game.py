"""Games of several rounds in which both choose at once, and a table says what each gets."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar

from msgspec import Struct, field

from agent_league.game import IllegalMoveError, Outcome, read_counts
from agent_league.picture import Picture
from agent_league.vocabulary import Json, Seat

_BOTH = (0, 1)
Payoffs = Mapping[tuple[str, str], tuple[int, int]]


class State(Struct, frozen=True):
    """The choices of each seat so far, and what each has collected.

    The choices are lists that nobody changes, so that a view can show them without a copy.
    """

    rounds: int
    first: Sequence[str] = field(default_factory=list)
    second: Sequence[str] = field(default_factory=list)
    scores: tuple[int, int] = (0, 0)
    is_over: bool = False

    def __hash__(self) -> int:
        return hash((self.rounds, tuple(self.first), tuple(self.second)))


class MatrixGame:
    """Who has collected more after the last round wins; as much is a draw."""

    seats = 2
    payoffs: ClassVar[Payoffs]
    """What the two seats get for each pair of choices."""
    unit: ClassVar[str] = "points"
    """What is collected."""
    rounds: ClassVar[int]
    """How many rounds there are, unless the league says otherwise."""
    most_rounds: ClassVar[int] = 1000
    stops_when_decided: ClassVar[bool] = False
    """Whether the game ends as soon as one is ahead by more than the rounds that are left."""

    def __init__(self) -> None:
        self.turns = self.rounds
        self.moves = tuple(dict.fromkeys(one for one, _ in self.payoffs))

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        return State(self.count_turns(options))

    def count_turns(self, options: Mapping[str, Json]) -> int:
        return read_counts(options, rounds=(self.rounds, 1, self.most_rounds))["rounds"]

    def to_move(self, state: State) -> Sequence[Seat]:
        return () if state.is_over else _BOTH

    def view(self, state: State, seat: Seat) -> Json:
        mine, theirs = state.first, state.second
        score, their_score = state.scores
        if seat:
            mine, theirs, score, their_score = theirs, mine, their_score, score
        return {
            "you": seat,
            "round": len(mine) + 1,
            "rounds": state.rounds,
            "mine": mine,
            "theirs": theirs,
            "scores": [score, their_score],
        }

    def read_move(self, raw: Json) -> str:
        if isinstance(raw, str) and raw in self.moves:
            return raw
        expected = " or ".join(map(repr, self.moves))
        raise IllegalMoveError(f"expected {expected}, got {raw!r}")

    def legal(self, state: State, seat: Seat) -> Sequence[str]:
        return () if state.is_over else self.moves

    def play(self, state: State, moves: Mapping[Seat, str], rng: Random) -> State:
        first, second = state.first, state.second
        one, other = moves[0], moves[1]
        gained, gained_too = self.payoffs[one, other]
        score, score_too = state.scores[0] + gained, state.scores[1] + gained_too
        left = state.rounds - len(first) - 1
        is_over = left <= 0 or (self.stops_when_decided and abs(score - score_too) > left)
        scores = (score, score_too)
        return State(state.rounds, [*first, one], [*second, other], scores, is_over)

    def outcome(self, state: State) -> Outcome | None:
        if not state.is_over:
            return None
        one, other = state.scores
        if one == other:
            return Outcome(None, f"Both have {one} {self.unit}", state.scores)
        winner = 0 if one > other else 1
        result = f"{max(one, other)} to {min(one, other)} {self.unit}"
        return Outcome(winner, f"{{{winner}}} wins by {result}", state.scores)

    def record(self, state: State) -> dict[str, Json]:
        return {
            "rounds_played": [list(state.first), list(state.second)],
            "scores": list(state.scores),
        }

    def picture(self, shown: Json) -> Picture:
        rows = shown.get("rounds_played") or [shown["mine"], shown["theirs"]]
        labels = ("A", "B") if "rounds_played" in shown else ("you", "opponent")
        one, other = shown["scores"]
        return Picture(
            [[label, *row[-12:]] for label, row in zip(labels, rows, strict=True)],
            f"{self.unit}: {labels[0]} {one}, {labels[1]} {other}",
        )
