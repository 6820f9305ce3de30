"""Matching pennies, best of nine: both show a side of a coin, heads or tails, at the same time.

Equal sides win the round for the first player (seat 0), different sides for the second (seat 1).
All earlier choices are shown.
"""

from typing import ClassVar

from agent_league.game import Game
from agent_league.matrix_game import MatrixGame, Payoffs, State


class MatchingPennies(MatrixGame):
    """Who wins more rounds wins the match, which ends as soon as that is certain."""

    payoffs: ClassVar[Payoffs] = {
        ("heads", "heads"): (1, 0),
        ("heads", "tails"): (0, 1),
        ("tails", "heads"): (0, 1),
        ("tails", "tails"): (1, 0),
    }
    unit = "rounds"
    rounds = 9
    most_rounds = 500  # every call shows all rounds, and may be 10 KB long
    stops_when_decided = True


game: Game[State, str] = MatchingPennies()
