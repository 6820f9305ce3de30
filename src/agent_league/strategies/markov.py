"""Expect what most often followed the opponent's last move, and play another.

A first-order Markov chain (Andrei Markov, 1906), as in the machine with which Claude Shannon
(1953) outguessed people at matching pennies. It sees habits of one step, such as repeating or alternating, that
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
