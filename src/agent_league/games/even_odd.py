"""Even/Odd: both call a parity in secret, then a number is drawn."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Literal, TypeAlias

from msgspec import Struct

from agent_league.game import Game, IllegalMoveError, OptionsError, Outcome
from agent_league.picture import Picture
from agent_league.vocabulary import Json, Seat

Parity: TypeAlias = Literal["even", "odd"]
PARITIES: tuple[Parity, ...] = ("even", "odd")

SEATS = (0, 1)
LOW, HIGH = 1, 10
DRAWABLE = range(-(2**31), 2**31)  # the protocol's integers: what is drawn must fit in a message


class State(Struct, frozen=True):
    """A number from *low* to *high* is drawn once both have called, by seat."""

    low: int = LOW
    high: int = HIGH
    calls: tuple[Parity, ...] = ()
    drawn: int | None = None


_START = State()


class EvenOdd:
    """The number is 1 to 10, unless the league says otherwise. Who called its parity wins.

    If both called the same parity, the match is a draw, whatever number is drawn.
    """

    seats = 2
    turns = 1

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        if not options:
            return _START
        if unknown := sorted(options.keys() - {"low", "high"}):
            raise OptionsError(f"unknown option {unknown[0]!r}: expected 'low' or 'high'")
        low, high = _bound(options, "low", LOW), _bound(options, "high", HIGH)
        _check_fair(low, high)
        return State(low, high)

    def to_move(self, state: State) -> Sequence[Seat]:
        return SEATS if state.drawn is None else ()

    def view(self, state: State, seat: Seat) -> Json:
        return {"choices": list(PARITIES)}

    def read_move(self, raw: Json) -> Parity:
        for parity in PARITIES:
            if raw == parity:
                return parity
        raise IllegalMoveError(f"expected 'even' or 'odd', got {raw!r}")

    def legal(self, state: State, seat: Seat) -> Sequence[Parity]:
        return PARITIES if state.drawn is None and seat in SEATS else ()

    def play(self, state: State, moves: Mapping[Seat, Parity], rng: Random) -> State:
        drawn = rng.randint(state.low, state.high)
        return State(state.low, state.high, (moves[0], moves[1]), drawn)

    def outcome(self, state: State) -> Outcome | None:
        if state.drawn is None:
            return None
        (first, second), parity = state.calls, _parity(state.drawn)
        number = f"number was {state.drawn} ({parity})"
        if first != second:
            winner = 0 if first == parity else 1
            return Outcome(winner, f"{{{winner}}} chose {parity}, {number}")
        verdict = "correct" if first == parity else "incorrect"
        return Outcome(None, f"Both chose {first}, {number} - both {verdict}")

    def record(self, state: State) -> dict[str, Json]:
        if state.drawn is None:
            return {"drawn_number": None, "number_parity": None}
        return {"drawn_number": state.drawn, "number_parity": _parity(state.drawn)}

    def picture(self, shown: Json) -> Picture:
        drawn = shown.get("drawn_number")
        if drawn is None:
            return Picture([list(PARITIES)], "call one; the number has not been drawn")
        return Picture([[f"{drawn} is {_parity(drawn)}"]], "the number that was drawn")

    def judge(self, choices: Sequence[Json], record: Mapping[str, Json]) -> Outcome | None:
        drawn = record.get("drawn_number")
        if type(drawn) is not int:
            return None
        try:
            calls = tuple(map(self.read_move, choices))
        except IllegalMoveError:
            return None
        return self.outcome(State(calls=calls, drawn=drawn))


def _parity(number: int) -> Parity:
    return PARITIES[number % 2]


def _bound(options: Mapping[str, Json], name: str, default: int) -> int:
    value = options.get(name, default)
    # A bool is an int to Python, but never to a player.
    if type(value) is not int or value not in DRAWABLE:
        raise OptionsError(f"{name!r}: expected a 32-bit integer, got {value!r}")
    return value


def _check_fair(low: int, high: int) -> None:
    if low > high:
        raise OptionsError(f"'low': expected at most 'high' ({high}), got {low}")
    if (high - low) % 2 == 0:
        raise OptionsError(
            f"'high': expected as many even as odd numbers from 'low' ({low}), got {high}"
        )


game: Game[State, Parity] = EvenOdd()
