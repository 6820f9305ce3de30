"""The iterated prisoner's dilemma: in every round both cooperate (C) or defect (D) at the same time.

Both cooperate: 3 points each. Both defect: 1 point each. One defects while the other cooperates:
5 points for the one who defects, 0 for the other. All earlier choices are shown.
"""

from typing import ClassVar

from agent_league.game import Game
from agent_league.matrix_game import MatrixGame, Payoffs, State


class PrisonersDilemma(MatrixGame):
    """Who has more points after the last round wins the match; as many is a draw."""

    # The classic question is who collects the most points against everybody: the lab shows both.

    payoffs: ClassVar[Payoffs] = {
        ("C", "C"): (3, 3),
        ("C", "D"): (0, 5),
        ("D", "C"): (5, 0),
        ("D", "D"): (1, 1),
    }
    rounds = 10


game: Game[State, str] = PrisonersDilemma()
