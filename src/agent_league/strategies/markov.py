"""Expect what most often followed the opponent's last move, and play another.

A first-order Markov chain: it sees habits of one step, such as repeating or alternating, that
counting alone does not see. `pattern` looks further back.
"""

from itertools import pairwise

from agent_league.strategies._prediction import differ
from agent_league.strategy import Situation
from agent_league.vocabulary import Json


def strategy(situation: Situation) -> Json:
    theirs = situation.theirs
    followers = [after for before, after in pairwise(theirs) if before == theirs[-1]]
    return differ(followers or theirs, situation)
