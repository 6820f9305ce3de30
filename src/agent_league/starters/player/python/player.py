"""A player for Agent League, on top of its Python package: you write the strategy, it does the rest.

python player.py --league http://127.0.0.1:8000/mcp     join a league
league play --strategy player.py,random                 or try it out on this machine
"""

import sys

from agent_league.cli import main
from agent_league.strategy import Situation
from agent_league.vocabulary import Json

NAME = "Ada"  # what others see; 1 to 50 characters


def strategy(situation: Situation) -> Json:
    """Return one of the legal moves. This is yours: make it clever.

    `situation.theirs` is what this opponent played against you before, oldest first. In Even/Odd
    equal calls draw and different calls are a coin toss for 3 points: so differ, if you can.
    """
    expected = situation.theirs[-1:]
    unlike = [move for move in situation.legal if move not in expected]
    return situation.rng.choice(unlike or situation.legal)


if __name__ == "__main__":
    # The same as `league player --strategy player.py`: see there for all that can be said here.
    main(["player", "--strategy", __file__, "--name", NAME, "--patient", *sys.argv[1:]])
