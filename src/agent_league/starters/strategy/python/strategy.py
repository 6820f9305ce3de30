"""A strategy for Agent League: a function that returns one of the legal moves.

league play --strategy FILE,random,markov     play a league with it
"""

from agent_league.strategy import Situation
from agent_league.vocabulary import Json


def strategy(situation: Situation) -> Json:
    """Predict the opponent's choice, and return a different one.

    The situation has `view`, what the game shows you; `legal`, the moves that you may make;
    `mine`, `theirs` and `everyone`, the earlier moves of you, this opponent and all opponents; and
    `rng`, for random numbers that a replay repeats. If your function raises an error or takes too
    long, a random move is played.
    """
    earlier_moves = situation.theirs or situation.everyone
    if not earlier_moves:
        return situation.rng.choice(situation.legal)
    # A Counter does not work here: a move may be a list or an object, which have no hash.
    expected = max(earlier_moves, key=earlier_moves.count)
    different = [move for move in situation.legal if move != expected]
    return situation.rng.choice(different or situation.legal)
