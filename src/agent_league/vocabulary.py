"""The small words everything else is said in."""

from typing import Any, NewType, TypeAlias

PlayerId = NewType("PlayerId", str)

Seat: TypeAlias = int
"""A place at the table, from 0. Which player sits there is the referee's business."""

Json: TypeAlias = Any
"""What JSON can carry; the only thing that crosses from a game to the wire."""
