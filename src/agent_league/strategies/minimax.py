"""Look ahead, and assume that the opponent answers with its best move.

The theorem is John von Neumann's (1928), the search for a board Claude Shannon's (1950), and the
cuts that alpha-beta makes were found by several around 1956 (Knuth and Moore, 1975, have the
proofs). It never loses at tic-tac-toe. In connect four it sees about eight moves ahead, and counts
the cells that would complete a line. It plays any game whose view shows all (`Game.restore`), and
elsewhere at random.
"""

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from agent_league.game import GAMES, AnyGame, find_game, find_restore
from agent_league.strategies._estimates import Estimate, find_estimate
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json, Seat

NODES = 3000
"""How many positions it looks at for one move, about: what is counted is the same everywhere."""
TO_THE_END = 1_000_000
"""How far the search saw, where it saw all endings."""
WIN = 1_000_000
"""What a win is worth now; one that is further away is worth a little less."""
_NO_CHANCE = Random(0)
"""Games that show all have no chance in them, so that its numbers are never used."""


@made_for("tic_tac_toe", "connect_four", forgets=True)
def strategy(situation: Situation) -> Json:
    game = find_game(situation.game)
    restore = find_restore(game) if game else None
    if game is None or restore is None or not isinstance(situation.view, dict):
        return situation.rng.choice(situation.legal)
    best = find_best(str(situation.game), restore(situation.view))
    return situation.legal[situation.rng.choice(best)]


@lru_cache(maxsize=10_000)  # the first moves of many matches are the same
def find_best(game_type: str, state: Any) -> Sequence[int]:
    """Return which of the legal moves are the best, as far as the search sees: their places.

    It looks deeper and deeper, until it has seen all, or enough. The same position always gets the
    same moves: nothing is remembered from one search to the next.
    """
    game = GAMES[game_type]
    (seat,) = game.to_move(state)
    children = [game.play(state, {seat: move}, _NO_CHANCE) for move in game.legal(state, seat)]
    places = tuple(range(len(children)))
    best, search = places, _Search(game, find_estimate(game_type))
    for depth in range(game.turns):
        search.depth, cuts = depth, search.cuts
        values = dict[int, int]()
        highest = -WIN
        # The best first: after them, most others are soon seen to be worse.
        for place in sorted(places, key=lambda place: place not in best):
            # One less than the highest, so that a move as good as the best is seen to be so.
            values[place] = search.look_for(seat, children[place], depth, highest - 1, WIN)
            highest = max(highest, values[place])
        if search.nodes > NODES and depth:
            break
        best = tuple(place for place in places if values[place] == highest)
        if abs(highest) > WIN // 2 or search.cuts == cuts:
            break
    return best


class _Seen(NamedTuple):
    """What a position was found to be worth, between which bounds, and how far the search saw."""

    value: int
    low: int
    high: int
    depth: int

    def answers(self, depth: int, alpha: int, beta: int) -> bool:
        """Whether a search between *alpha* and *beta* would find nothing more."""
        is_bound = alpha >= self.value <= self.low or beta <= self.value >= self.high
        return self.depth >= depth and (self.low < self.value < self.high or is_bound)


class _Search:
    """A search from one position; a value is what a position is worth to the seat that moves."""

    def __init__(self, game: AnyGame, estimate: Estimate) -> None:
        self._game, self._estimate = game, estimate
        self._seen: dict[Any, _Seen] = {}
        self.nodes = self.cuts = self.depth = 0
        """*cuts* counts where the search stopped before the end of the game."""

    def look_for(self, seat: Seat, state: Any, depth: int, alpha: int, beta: int) -> int:
        """Return what *state* is worth to *seat*, exactly if it is between *alpha* and *beta*."""
        seats = self._game.to_move(state)
        if seats and seats[0] != seat:
            return -self._look(state, 1 - seat, depth, -beta, -alpha)
        return self._look(state, seat, depth, alpha, beta)

    def _look(self, state: Any, seat: Seat, depth: int, alpha: int, beta: int) -> int:
        seen = self._seen.get(state)
        if seen is not None and seen.answers(depth, alpha, beta):
            self.cuts += seen.depth != TO_THE_END
            return seen.value
        before = self.cuts
        value = self._examine(state, seat, depth, alpha, beta)
        reach = depth if self.cuts > before else TO_THE_END
        self._seen[state] = _Seen(value, alpha, beta, reach)
        return value

    def _examine(self, state: Any, seat: Seat, depth: int, alpha: int, beta: int) -> int:
        self.nodes += 1
        outcome = self._game.outcome(state)
        if outcome is not None:  # a win is worth less, and a loss more, the further away it is
            return _judge(outcome.winner, seat) * (WIN - self.depth + depth)
        if depth == 0 or self.nodes > NODES:
            self.cuts += 1
            return self._estimate(state, seat)
        best = -WIN
        for move in _put_middle_first(self._game.legal(state, seat)):
            child = self._game.play(state, {seat: move}, _NO_CHANCE)
            best = max(best, self.look_for(seat, child, depth - 1, max(alpha, best), beta))
            if best >= beta:  # the other would not let it come to this
                break
        return best


def _put_middle_first(moves: Sequence[Json]) -> Sequence[Json]:
    """Return the moves from the middle of a board outwards: these are better more often."""
    middle = (len(moves) - 1) / 2
    return [moves[n] for n in sorted(range(len(moves)), key=lambda n: abs(n - middle))]


def _judge(winner: Seat | None, seat: Seat) -> int:
    if winner is None:
        return 0
    return 1 if winner == seat else -1
