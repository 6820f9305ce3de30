"""Leave piles whose exclusive or is zero: Charles Bouton's theory of Nim (1901).

Who can do so at the beginning always wins; the first player can, with piles of 3, 4 and 5.
"""

from functools import reduce
from operator import xor

from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for("nim", forgets=True)
def strategy(situation: Situation) -> Json:
    if situation.game != "nim":
        return situation.rng.choice(situation.legal)
    piles = situation.view["piles"]
    good = [
        [pile, take]
        for pile, take in situation.legal
        if not reduce(xor, (one - take if n == pile else one for n, one in enumerate(piles)))
    ]
    return situation.rng.choice(good or situation.legal)
