"""Look ahead, and assume that the opponent answers with its best move.

The theorem is John von Neumann's (1928), the search for a board Claude Shannon's (1950), and the
cuts that alpha-beta makes were found by several around 1956 (Knuth and Moore, 1975, have the
proofs). It never loses at tic-tac-toe. In connect four it sees a few moves ahead, and beats
whoever does not. It plays any game whose view shows all (`Game.restore`), and elsewhere at random.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from agent_league.game import AnyGame, find_game, find_restore
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json, Seat

NODES = 3000
"""How many positions it looks at for one move, about: what is counted is the same everywhere."""
MOST_KNOWN = 200_000
LOSS, DRAW, WIN = -1, 0, 1
_NO_CHANCE = Random(0)
"""Games that show all have no chance in them, so that its numbers are never used."""


@made_for("tic_tac_toe", "connect_four", forgets=True)
def strategy(situation: Situation) -> Json:
    game = find_game(situation.game)
    restore = find_restore(game) if game else None
    if game is None or restore is None or not isinstance(situation.view, dict):
        return situation.rng.choice(situation.legal)
    return situation.rng.choice(find_best(game, restore(situation.view), situation.legal))


def find_best(game: AnyGame, state: Any, legal: Sequence[Json]) -> Sequence[Json]:
    """Return the moves than which none is better, as far as the search sees.

    It looks deeper and deeper: what wins soonest is taken, and what loses latest where all lose.
    """
    (seat,) = game.to_move(state)
    children = [game.play(state, {seat: move}, _NO_CHANCE) for move in legal]
    best, search = legal, _Search(game, seat)
    for depth in range(game.turns + 1):
        found = [search.look(child, depth, LOSS, WIN) for child in children]
        if search.nodes > NODES and depth:
            break
        highest = max(value for value, _ in found)
        if highest == LOSS:
            break
        best = [move for move, (value, _) in zip(legal, found, strict=True) if value == highest]
        if highest == WIN or all(is_final for _, is_final in found):
            break
    return best


_known: dict[tuple[int, Any], int] = {}
"""What positions are worth to the first seat, of those that were searched to the end."""


class _Search:
    """A search for the best move of *me*; a value is what a position is worth to it."""

    def __init__(self, game: AnyGame, me: Seat) -> None:
        self._game, self._me, self.nodes = game, me, 0

    def look(self, state: Any, depth: int, alpha: int, beta: int) -> tuple[int, bool]:
        """Return a value between *alpha* and *beta*, and whether more depth cannot change it."""
        key = (id(self._game), state)
        if key in _known:
            return (_known[key] if self._me == 0 else -_known[key]), True
        value, is_final = self._examine(state, depth, alpha, beta)
        # In a narrower window a draw may be only a bound; a win or a loss is always what it is.
        if is_final and (value != DRAW or (alpha, beta) == (LOSS, WIN)):
            if len(_known) > MOST_KNOWN:
                _known.clear()
            _known[key] = value if self._me == 0 else -value
        return value, is_final

    def _examine(self, state: Any, depth: int, alpha: int, beta: int) -> tuple[int, bool]:
        self.nodes += 1
        outcome = self._game.outcome(state)
        if outcome is not None:
            return self._judge(outcome.winner), True
        if depth == 0 or self.nodes > NODES:
            return DRAW, False
        (seat,) = self._game.to_move(state)
        is_mine, all_final = seat == self._me, True
        value = LOSS if is_mine else WIN
        for move in self._game.legal(state, seat):
            child = self._game.play(state, {seat: move}, _NO_CHANCE)
            found, is_final = self.look(child, depth - 1, alpha, beta)
            all_final &= is_final
            if is_mine:
                value = max(value, found)
                alpha = max(alpha, value)
            else:
                value = min(value, found)
                beta = min(beta, value)
            if alpha >= beta:  # the other would not let it come to this
                return value, is_final
        return value, all_final

    def _judge(self, winner: Seat | None) -> int:
        if winner is None:
            return DRAW
        return WIN if winner == self._me else LOSS
