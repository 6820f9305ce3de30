"""What strategies for games of several rounds share."""

from collections.abc import Sequence

from agent_league.strategy import Situation
from agent_league.vocabulary import Json

DILEMMA = "prisoners_dilemma"


def read_mine(situation: Situation) -> Sequence[Json]:
    """Return my choices in the rounds of this match so far, oldest first; none if none are shown."""
    view = situation.view
    shown = view.get("mine") if view.__class__ is dict else None
    return shown if shown.__class__ is list else ()


def read_theirs(situation: Situation) -> Sequence[Json]:
    """Return the opponent's choices in the rounds of this match so far, oldest first."""
    view = situation.view
    shown = view.get("theirs") if view.__class__ is dict else None
    return shown if shown.__class__ is list else ()
