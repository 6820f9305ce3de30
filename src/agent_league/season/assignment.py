"""Which referee gets the next match. To add a policy, write a function and put it into `POLICIES`."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace


class Load(Struct):
    """How busy a referee is that can be reached."""

    referee_id: str
    running: int
    capacity: int
    given: int
    """How many matches it has been given so far."""

    @property
    def free(self) -> int:
        return self.capacity - self.running


Policy: TypeAlias = Callable[[Sequence[Load]], Load]
"""Chooses one of the referees, all of which can take one more match."""


def round_robin(loads: Sequence[Load]) -> Load:
    """Return the referee that has been given the fewest matches."""
    return min(loads, key=lambda load: (load.given, load.referee_id))


def least_busy(loads: Sequence[Load]) -> Load:
    """Return the referee that runs the fewest matches now."""
    return min(loads, key=lambda load: (load.running, load.given, load.referee_id))


def weighted(loads: Sequence[Load]) -> Load:
    """Return the referee that has been given the fewest matches for its capacity."""
    return min(loads, key=lambda load: (load.given / load.capacity, load.running, load.referee_id))


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {policy.__name__: policy for policy in (round_robin, least_busy, weighted)}
)


def choose(policy: Policy, loads: Sequence[Load]) -> Load | None:
    """Return the referee for the next match, or None if all are busy."""
    with_room = [load for load in loads if load.free > 0]
    return policy(with_room) if with_room else None


def plan(policy: Policy, loads: Sequence[Load], matches: int) -> list[str]:
    """Return the referees of the next *matches* matches, as if each match ended at once."""
    idle = [replace(load, running=0) for load in loads]
    referee_ids: list[str] = []
    for _ in range(matches if idle else 0):
        load = policy(idle)
        load.given += 1
        referee_ids.append(load.referee_id)
    return referee_ids
