"""Small types that all other modules use."""

from typing import Any, Literal, NewType, TypeAlias

PlayerId = NewType("PlayerId", str)

Seat: TypeAlias = int
"""A place at the table, from 0. Which player sits there is the referee's business."""

Json: TypeAlias = Any
"""What JSON can carry; the only thing that crosses from a game to the wire."""

Level: TypeAlias = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
"""How much a log contains: this level, and those after it."""
