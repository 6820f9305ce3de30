"""Rock-paper-scissors: both choose at the same time, three rounds.

Rock beats scissors, scissors beats paper, paper beats rock; equal choices count for nobody.
"""

from typing import ClassVar

from agent_league.game import Game
from agent_league.matrix_game import MatrixGame, Payoffs, State

HANDS = ("rock", "paper", "scissors")
"""Each is beaten by the next, and the last by the first."""
WORTH = ((0, 0), (0, 1), (1, 0))
"""What two hands are worth, by how far the second is after the first."""


class RockPaperScissors(MatrixGame):
    """Who has won more rounds wins the match; as many is a draw. All earlier choices are shown."""

    payoffs: ClassVar[Payoffs] = {
        (one, other): WORTH[(HANDS.index(other) - HANDS.index(one)) % 3]
        for one in HANDS
        for other in HANDS
    }
    unit = "rounds"
    rounds = 3
    most_rounds = 300  # every call shows all rounds, and may be 10 KB long


game: Game[State, str] = RockPaperScissors()
