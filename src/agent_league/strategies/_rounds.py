"""What strategies for games of several rounds share."""

from collections.abc import Sequence
from typing import NamedTuple

from agent_league.strategy import Situation
from agent_league.vocabulary import Json

DILEMMA = "prisoners_dilemma"


class Rounds(NamedTuple):
    """The choices of both in the rounds of this match so far, oldest first."""

    mine: Sequence[Json] = ()
    theirs: Sequence[Json] = ()


_NONE = Rounds()


def read_rounds(situation: Situation) -> Rounds:
    """Return the rounds that the view shows; none if it shows no rounds."""
    view = situation.view
    if view.__class__ is not dict:
        return _NONE
    mine, theirs = view.get("mine"), view.get("theirs")
    if mine.__class__ is not list or theirs.__class__ is not list:
        return _NONE
    return Rounds(mine, theirs)
