"""What an unfinished position is probably worth, in games that are too long to be searched to the end."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from agent_league.games.connect_four import COLUMNS, HEIGHT, ROWS, State
from agent_league.vocabulary import Seat

Estimate: TypeAlias = Callable[[Any, Seat], int]
"""From a position to what it is worth to a seat, in any unit; the other seat has the opposite."""

_COLUMN = (1 << ROWS) - 1
_BOARD = sum(_COLUMN << column * HEIGHT for column in range(COLUMNS))
_CENTRE = _COLUMN << COLUMNS // 2 * HEIGHT
THREAT = 4
"""What a free cell that completes a line is worth, in discs in the middle column."""


def find_estimate(game_type: str) -> Estimate:
    return _ESTIMATES.get(game_type, _know_nothing)


def _know_nothing(state: Any, seat: Seat) -> int:
    return 0


def _estimate_connect_four(state: State, seat: Seat) -> int:
    """Count the free cells that would complete a line, and the discs in the middle column."""
    mine, theirs = state.discs[seat], state.discs[1 - seat]
    free = _BOARD & ~(mine | theirs)
    threats = (_find_threats(mine) & free).bit_count() - (_find_threats(theirs) & free).bit_count()
    return THREAT * threats + (mine & _CENTRE).bit_count() - (theirs & _CENTRE).bit_count()


def _find_threats(discs: int) -> int:
    """Return the cells with which *discs* would have four in a line."""
    found = discs << 1 & discs << 2 & discs << 3
    for step in (HEIGHT - 1, HEIGHT, HEIGHT + 1):
        right = discs << step & discs << 2 * step
        left = discs >> step & discs >> 2 * step
        found |= right & (discs << 3 * step | discs >> step)
        found |= left & (discs >> 3 * step | discs << step)
    return found


_ESTIMATES: Mapping[str, Estimate] = MappingProxyType({"connect_four": _estimate_connect_four})
