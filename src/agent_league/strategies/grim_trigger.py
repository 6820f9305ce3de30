"""Cooperate until the other defects once, then defect for ever.

Studied by James Friedman (1971), who showed that its threat keeps cooperation in equilibrium. In
Axelrod's library it is called Grudger. It does well among nice players, and forgives no mistake.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategies._rounds import DILEMMA, read_theirs
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for(DILEMMA, forgets=True)
def strategy(situation: Situation) -> Json:
    return prefer("D" if "D" in read_theirs(situation) else "C", situation)
