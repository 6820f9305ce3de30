"""Games of several rounds in which both choose at once, and a table says what each gets."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, NamedTuple

from agent_league.game import IllegalMoveError, Outcome, read_counts
from agent_league.picture import Picture
from agent_league.vocabulary import Json, Seat

_BOTH = (0, 1)
Payoffs = Mapping[tuple[str, str], tuple[int, int]]


class State(NamedTuple):
    """The choices of each seat so far, and what each has collected."""

    rounds: int
    choices: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    scores: tuple[int, int] = (0, 0)


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
        return () if self._is_over(state) else _BOTH

    def view(self, state: State, seat: Seat) -> Json:
        rounds, (mine, theirs), (score, their_score) = state
        if seat:
            mine, theirs, score, their_score = theirs, mine, their_score, score
        return {
            "you": seat,
            "round": len(mine) + 1,
            "rounds": rounds,
            "mine": list(mine),
            "theirs": list(theirs),
            "scores": [score, their_score],
        }

    def read_move(self, raw: Json) -> str:
        if isinstance(raw, str) and raw in self.moves:
            return raw
        expected = " or ".join(map(repr, self.moves))
        raise IllegalMoveError(f"expected {expected}, got {raw!r}")

    def legal(self, state: State, seat: Seat) -> Sequence[str]:
        return () if self._is_over(state) else self.moves

    def play(self, state: State, moves: Mapping[Seat, str], rng: Random) -> State:
        one, other = moves[0], moves[1]
        gained, gained_too = self.payoffs[one, other]
        first, second = state.choices
        scores = (state.scores[0] + gained, state.scores[1] + gained_too)
        return State(state.rounds, (first + (one,), second + (other,)), scores)  # noqa: RUF005 - thrice as fast

    def outcome(self, state: State) -> Outcome | None:
        if not self._is_over(state):
            return None
        one, other = state.scores
        if one == other:
            return Outcome(None, f"Both have {one} {self.unit}", state.scores)
        winner = 0 if one > other else 1
        result = f"{max(one, other)} to {min(one, other)} {self.unit}"
        return Outcome(winner, f"{{{winner}}} wins by {result}", state.scores)

    def record(self, state: State) -> dict[str, Json]:
        return {"rounds_played": list(map(list, state.choices)), "scores": list(state.scores)}

    def picture(self, shown: Json) -> Picture:
        rows = shown.get("rounds_played") or [shown["mine"], shown["theirs"]]
        labels = ("A", "B") if "rounds_played" in shown else ("you", "opponent")
        one, other = shown["scores"]
        return Picture(
            [[label, *row[-12:]] for label, row in zip(labels, rows, strict=True)],
            f"{self.unit}: {one} to {other}",
        )

    def _is_over(self, state: State) -> bool:
        left = state.rounds - len(state.choices[0])
        if not self.stops_when_decided:
            return left <= 0
        return abs(state.scores[0] - state.scores[1]) > left or left <= 0
