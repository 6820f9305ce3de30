"""Always "even".

The pure strategy of game theory (von Neumann, 1928), and the simplest player there is: easy to
predict, so it shows what prediction is worth, 1.5 points a match to whoever always differs.
"""

from agent_league.strategies._prediction import prefer
from agent_league.strategy import Situation, made_for
from agent_league.vocabulary import Json


@made_for("even_odd")
def strategy(situation: Situation) -> Json:
    return prefer("even", situation)
