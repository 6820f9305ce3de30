"""Defect only after two defections in a row.

Axelrod (1980) found that it would have won his first tournament, had anybody sent it. It ends
echoes of defection, and is exploited by whoever defects every other round.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategies._rounds import DILEMMA, read_theirs
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for(DILEMMA, forgets=True)
def strategy(situation: Situation) -> Json:
    theirs = read_theirs(situation)
    return prefer("D" if list(theirs[-2:]) == ["D", "D"] else "C", situation)
