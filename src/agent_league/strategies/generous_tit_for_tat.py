"""Tit for tat that forgives one defection in three.

Nowak and Sigmund (1992) found that it takes over from `tit_for_tat` where mistakes happen. With
the payoffs 5, 3, 1, 0 the best chance to forgive is one third.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategies._rounds import DILEMMA, read_theirs
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json

MERCY = 1 / 3


@made_for(DILEMMA, forgets=True)
def strategy(situation: Situation) -> Json:
    theirs = read_theirs(situation)
    is_punished = bool(theirs) and theirs[-1] == "D" and situation.rng.random() >= MERCY
    return prefer("D" if is_punished else "C", situation)
