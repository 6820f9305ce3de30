"""Nim: three piles of 3, 4 and 5 stones. In turn, take as many stones as you like from one pile."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from agent_league.game import Game, IllegalMoveError, OptionsError, Outcome
from agent_league.picture import Picture
from agent_league.vocabulary import Json, Seat

PILES = (3, 4, 5)


class State(NamedTuple):
    """The stones of each pile, and whose turn it is."""

    piles: tuple[int, ...] = PILES
    turn: Seat = 0


class Nim:
    """Whoever takes the last stone wins. A move is a list: the pile (0, 1 or 2), and how many stones."""

    seats = 2
    turns = sum(PILES)

    def start(self, options: Mapping[str, Json], rng: Random) -> State:
        if options:
            raise OptionsError(f"unknown option {min(options)!r}: expected none")
        return State()

    def to_move(self, state: State) -> Sequence[Seat]:
        return (state.turn,) if any(state.piles) else ()

    def view(self, state: State, seat: Seat) -> Json:
        return {"piles": list(state.piles), "you": seat}

    def read_move(self, raw: Json) -> list[int]:
        if isinstance(raw, list | tuple) and [type(one) for one in raw] == [int, int]:
            return list(raw)
        raise IllegalMoveError(f"expected a pile and a number of stones, as [0, 2], got {raw!r}")

    def legal(self, state: State, seat: Seat) -> Sequence[list[int]]:
        if seat not in self.to_move(state):
            return ()
        return [[n, take] for n, pile in enumerate(state.piles) for take in range(1, pile + 1)]

    def play(self, state: State, moves: Mapping[Seat, list[int]], rng: Random) -> State:
        pile, take = moves[state.turn]
        piles = tuple(one - take if n == pile else one for n, one in enumerate(state.piles))
        return State(piles, 1 - state.turn)

    def outcome(self, state: State) -> Outcome | None:
        last = 1 - state.turn
        return None if any(state.piles) else Outcome(last, f"{{{last}}} took the last stone")

    def record(self, state: State) -> dict[str, Json]:
        return {"piles": list(state.piles)}

    def restore(self, view: Json) -> State:
        return State(tuple(view["piles"]), view["you"])

    def picture(self, shown: Json) -> Picture:
        return Picture([[f"{n}:", "o" * pile] for n, pile in enumerate(shown["piles"])])


game: Game[State, list[int]] = Nim()
