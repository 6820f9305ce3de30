"""Cooperate first, then do what the other did in the round before.

Anatol Rapoport sent it to Axelrod's two tournaments (1980), and it won both. It never wins a
match: it collects the most by never losing by more than one defection.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategies._rounds import DILEMMA, read_theirs
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for(DILEMMA, forgets=True)
def strategy(situation: Situation) -> Json:
    theirs = read_theirs(situation)
    return prefer(theirs[-1] if theirs else "C", situation)
