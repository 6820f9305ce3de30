"""Find when the opponent's latest moves came before, expect what followed, and play another.

The idea of David Hagelbarger's SEER (1956), a machine that outguessed people at matching pennies.
The longest run of latest moves that occurred before decides; where no move recurs, all are
counted alike. It sees any cycle, once the cycle has come round.
"""

from collections.abc import Sequence

from agent_league.strategies._prediction import differ
from agent_league.strategy import Situation
from agent_league.vocabulary import Json

LONGEST = 16  # a longer run says no more, and would take the square of the history to find


def strategy(situation: Situation) -> Json:
    theirs = situation.theirs
    runs = [_count_agreement(theirs, end) for end in range(len(theirs))]
    longest = max(runs, default=0)
    followers = [move for move, run in zip(theirs, runs, strict=True) if run == longest]
    return differ(followers, situation)


def _count_agreement(moves: Sequence[Json], end: int) -> int:
    """Return how many moves just before *end* are the same as the latest of all."""
    run = 0
    while run < min(end, LONGEST) and moves[end - 1 - run] == moves[-1 - run]:
        run += 1
    return run
