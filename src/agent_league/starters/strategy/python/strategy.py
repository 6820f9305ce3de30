"""A strategy for Agent League: one function, from a situation to one of the legal moves.

league play --strategy FILE,random,markov     lets it play
"""

from agent_league.strategy import Situation
from agent_league.vocabulary import Json


def strategy(situation: Situation) -> Json:
    """Predict what the opponent calls, and call something else.

    You may use: `view`, what the game shows you; `legal`, the moves you may make; `mine`,
    `theirs` and `everyone`, earlier moves of yours, of this opponent, of all opponents; and
    `rng`, the only chance that can be replayed. Raising or dawdling costs a random move.
    """
    seen = situation.theirs or situation.everyone
    if not seen:
        return situation.rng.choice(situation.legal)
    # A move may be a list or an object, which max() counts but a Counter would not.
    expected = max(seen, key=seen.count)
    unlike = [move for move in situation.legal if move != expected]
    return situation.rng.choice(unlike or situation.legal)
