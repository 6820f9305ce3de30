"""Expect the opponent's most frequent move, and play another.

The forecast of fictitious play (George W. Brown, 1951) without its table of payoffs. It needs no order in the moves, only a bias, so it also serves against a first-time opponent: what
the others have played is then the best guess.
"""

from agent_league.strategies._prediction import differ
from agent_league.strategy import Situation
from agent_league.vocabulary import Json


def strategy(situation: Situation) -> Json:
    return differ(situation.theirs, situation)
