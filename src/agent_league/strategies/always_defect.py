"""Defect in every round of a prisoner's dilemma.

The only equilibrium of a single round (Flood and Dresher, 1950; told as a dilemma by Tucker). It
never loses a match, and collects little among players who answer defection.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategies._rounds import DILEMMA
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for(DILEMMA, forgets=True)
def strategy(situation: Situation) -> Json:
    return prefer("D", situation)
