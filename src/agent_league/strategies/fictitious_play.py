"""The best answer to how often the opponent has made each move so far.

George W. Brown (1951). In zero-sum games of two players its frequencies converge to equilibrium
(Julia Robinson, 1951), so in the long run nobody exploits it; a player with a bias is exploited
from the first matches on. It sees no order in the moves: `markov` and `pattern` do.
"""

from collections import Counter
from collections.abc import Mapping

from agent_league.game import find_game
from agent_league.strategies._prediction import differ
from agent_league.strategies._rounds import read_theirs
from agent_league.strategy import Situation
from agent_league.vocabulary import Json

Table = Mapping[tuple[Json, Json], tuple[float, float]]


def strategy(situation: Situation) -> Json:
    payoffs: Table | None = getattr(find_game(situation.game), "payoffs", None)
    if payoffs is None:
        return differ(situation.theirs, situation)
    earlier = situation.theirs or situation.everyone
    seen = Counter([*map(str, earlier), *read_theirs(situation)])
    seat = situation.view.get("you", 0)

    def worth(move: Json) -> float:
        pairs = {other: (move, other) if seat == 0 else (other, move) for other in seen}
        known = [(n, payoffs[pairs[one]][seat]) for one, n in seen.items() if pairs[one] in payoffs]
        return sum(count * payoff for count, payoff in known)

    best = max(map(worth, situation.legal))
    return situation.rng.choice([move for move in situation.legal if worth(move) == best])
