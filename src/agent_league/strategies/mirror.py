"""The opponent's own last move.

What Anatol Rapoport's `tit_for_tat` (1980) does within a match, from one match to the next. In Even/Odd it draws with whoever repeats, and differs from whoever alternates.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategy import Situation
from agent_league.vocabulary import Json


def strategy(situation: Situation) -> Json:
    if not situation.theirs:
        return situation.rng.choice(situation.legal)
    return prefer(situation.theirs[-1], situation)
