"""Which referee gets the next match: pure choice among those that have room."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias


class Load(NamedTuple):
    """A referee that is there, and how busy it is."""

    referee_id: str
    running: int
    capacity: int
    given: int
    """How many matches it has been given in all."""

    @property
    def free(self) -> int:
        return self.capacity - self.running


Policy: TypeAlias = Callable[[Sequence[Load]], Load]
"""Chooses one of the referees, all of which have room."""


def round_robin(loads: Sequence[Load]) -> Load:
    """Everybody in turn: whoever has been given the fewest."""
    return min(loads, key=lambda load: (load.given, load.referee_id))


def least_busy(loads: Sequence[Load]) -> Load:
    """Whoever runs the fewest matches now."""
    return min(loads, key=lambda load: (load.running, load.given, load.referee_id))


def weighted(loads: Sequence[Load]) -> Load:
    """Whoever has been given the least for what it can bear."""
    return min(loads, key=lambda load: (load.given / load.capacity, load.running, load.referee_id))


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {"round_robin": round_robin, "least_busy": least_busy, "weighted": weighted}
)


def choose(policy: Policy, loads: Sequence[Load]) -> Load | None:
    """Return the referee for the next match, or None while nobody has room."""
    with_room = [load for load in loads if load.free > 0]
    return policy(with_room) if with_room else None


def plan(policy: Policy, loads: Sequence[Load], matches: int) -> list[str]:
    """Return whom the next *matches* matches would go to, if each were over at once."""
    by_id = {load.referee_id: load for load in loads}
    planned: list[str] = []
    for _ in range(matches if by_id else 0):
        load = policy([load._replace(running=0) for load in by_id.values()])
        by_id[load.referee_id] = load._replace(given=load.given + 1)
        planned.append(load.referee_id)
    return planned
