"""The legal moves in turn: in Even/Odd, the opposite of my own last move.

Nobody's invention: a habit that beginners have. Its moves are all equally frequent, so counting
them tells nothing; their order tells all, and `markov` and `q_learning` find it.
"""

from agent_league.strategy import Situation
from agent_league.vocabulary import Json


def strategy(situation: Situation) -> Json:
    legal = situation.legal
    if not situation.mine or situation.mine[-1] not in legal:
        return situation.rng.choice(legal)
    return legal[(legal.index(situation.mine[-1]) + 1) % len(legal)]
