"""Any legal move, with equal chance.

The mixed strategy of game theory (Emile Borel, 1921) with equal chances. In Even/Odd nobody can predict it, and so nobody can do better or worse than 1.25 points a match
against it. It is what the others are measured with.
"""

from agent_league.strategy import Situation
from agent_league.vocabulary import Json


def strategy(situation: Situation) -> Json:
    return situation.rng.choice(situation.legal)
