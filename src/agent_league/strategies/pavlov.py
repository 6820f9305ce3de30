"""Repeat the last choice after a good round, change it after a bad one: win-stay, lose-shift.

Named by Kraines and Kraines (1989); Nowak and Sigmund (1993) showed that it outdoes tit for tat
in the long run. It corrects a mistake, exploits `always_cooperate`, and is exploited by
`always_defect` every other round.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategies._rounds import DILEMMA, read_mine, read_theirs
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for(DILEMMA, forgets=True)
def strategy(situation: Situation) -> Json:
    mine, theirs = read_mine(situation), read_theirs(situation)
    # A round was good if the other cooperated.
    agreed = not mine or mine[-1] == theirs[-1]
    return prefer("C" if agreed else "D", situation)
