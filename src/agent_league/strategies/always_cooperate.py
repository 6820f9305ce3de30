"""Cooperate in every round of a prisoner's dilemma, whatever the other does.

The other end of `always_defect` in Robert Axelrod's studies (1980). It does best among its like,
and is exploited by whoever notices.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategies._rounds import DILEMMA
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for(DILEMMA, forgets=True)
def strategy(situation: Situation) -> Json:
    return prefer("C", situation)
