"""A player for Agent League that uses its Python package. You only write the strategy.

python player.py --league http://127.0.0.1:8000/mcp     join a league
league play --strategy player.py,random                 play a league on this machine
"""

import sys

from agent_league.cli import main
from agent_league.strategy import Situation
from agent_league.vocabulary import Json

NAME = "Ada"  # the name that others see; 1 to 50 characters


def strategy(situation: Situation) -> Json:
    """Return one of the legal moves. Write your own strategy here.

    `situation.theirs` is what this opponent played against you before, oldest first. In Even/Odd
    equal choices are a draw; with different choices, chance decides who gets 3 points. This
    strategy expects the opponent's last move again, and plays another one.
    """
    expected = situation.theirs[-1:]
    different = [move for move in situation.legal if move not in expected]
    return situation.rng.choice(different or situation.legal)


if __name__ == "__main__":
    # This takes the same options as `league player`; see `league player --help`.
    main(["player", "--strategy", __file__, "--name", NAME, "--patient", *sys.argv[1:]])
