"""Defect first, then do what the other did in the round before.

Studied by Boyd and Lorberbaum (1987) as a test of tit for tat. Its first defection echoes for
ever against players who answer in kind, so it collects less than `tit_for_tat`.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategies._rounds import DILEMMA, read_theirs
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for(DILEMMA, forgets=True)
def strategy(situation: Situation) -> Json:
    theirs = read_theirs(situation)
    return prefer(theirs[-1] if theirs else "D", situation)
