"""Counterfactual regret minimisation: an equilibrium of Kuhn poker, found by playing against itself.

Zinkevich, Johanson, Bowling and Piccione (2007); the game is Harold Kuhn's (1950), who also found
its equilibria by hand. Nobody can expect to win chips from it: in the seat that begins it loses
1/18 of a chip a hand, as the theory says, and nobody can take a hundredth of a chip more (a test
computes both). It gives up what it could win from a weak player. In any other
game it plays at random.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import permutations

from agent_league.games.kuhn_poker import CARDS, MOVES, Hand
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json

ITERATIONS = 2000
Known = tuple[str, tuple[str, ...]]
"""What a seat knows in a hand: its card and the moves so far."""
Chances = Mapping[Known, tuple[float, float]]


@made_for("kuhn_poker", forgets=True)
def strategy(situation: Situation) -> Json:
    view = situation.view
    if situation.game != "kuhn_poker" or not isinstance(view, dict):
        return situation.rng.choice(situation.legal)
    chance_to_bet = train()[view["card"], tuple(view["moves"])][1]
    return MOVES[situation.rng.random() < chance_to_bet]


@cache
def train(iterations: int = ITERATIONS) -> Chances:
    """Return how likely each move is, on average over all *iterations*; it takes a third of a second."""
    trainer = _Trainer()
    deals = list(permutations(CARDS, 2))
    for _ in range(iterations):
        for one, other in deals:
            trainer.walk(Hand(0, (one, other)), 1.0, 1.0)
    return dict(trainer.list_averages())


class _Trainer:
    """The regrets, and the sums of the strategies, of everything that a seat can know."""

    def __init__(self) -> None:
        self._regrets: dict[Known, list[float]] = {}
        self._sums: dict[Known, list[float]] = {}

    def list_averages(self) -> Iterator[tuple[Known, tuple[float, float]]]:
        for known, (passes, bets) in self._sums.items():
            total = passes + bets
            yield known, (passes / total, bets / total) if total else (0.5, 0.5)

    def walk(self, hand: Hand, mine: float, theirs: float) -> float:
        """Return what a hand is worth to whoever is to move, and learn from it.

        *mine* and *theirs* are how likely each lets it come to this.
        """
        gains = hand.count_gains()
        if gains is not None:
            return gains[hand.turn]
        known = (hand.cards[hand.turn], hand.moves)
        chances = self._choose(known)
        values = [
            -self.walk(hand._replace(moves=(*hand.moves, move)), theirs, mine * chance)
            for move, chance in zip(MOVES, chances, strict=True)
        ]
        worth = sum(chance * value for chance, value in zip(chances, values, strict=True))
        sums = self._sums.setdefault(known, [0.0, 0.0])
        for number, value in enumerate(values):
            self._regrets[known][number] += theirs * (value - worth)
            sums[number] += mine * chances[number]
        return worth

    def _choose(self, known: Known) -> tuple[float, float]:
        """Return how likely each move is: in proportion to how much it is regretted."""
        passes, bets = (max(0.0, one) for one in self._regrets.setdefault(known, [0.0, 0.0]))
        total = passes + bets
        return (passes / total, bets / total) if total else (0.5, 0.5)
