"""What a player remembers of what others have sent: never more than so much."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
MAX_REMEMBERED = 1000
"""How many referees and matches are remembered, whatever strangers send."""


def remember(memory: dict[K, V], key: K, value: V) -> None:
    """Add *key* to a memory of limited size, which forgets the oldest."""
    memory[key] = value
    if len(memory) > MAX_REMEMBERED:
        del memory[next(iter(memory))]
