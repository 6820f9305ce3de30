"""Divisions: who plays in which division next season, from the final tables of the last one."""

from collections.abc import Collection, Sequence
from itertools import accumulate, chain, pairwise
from typing import TypeVar

Name = TypeVar("Name")
Divisions = list[list[Name]]
"""The players of each division, the highest division first."""


def draw_divisions(players: Sequence[Name], sizes: Sequence[int]) -> Divisions[Name]:
    """Return *players*, the best first, in divisions of these sizes; the last takes all who are left."""
    ends = [*accumulate(sizes)][:-1]
    cuts = [0, *(min(end, len(players)) for end in ends), len(players)]
    return [list(players[first:last]) for first, last in pairwise(cuts)]


def exchange(tables: Sequence[Sequence[Name]], movers: int) -> Divisions[Name]:
    """Let the last *movers* of each division change places with the first of the one below.

    Nobody goes up and down, or moves by two divisions: of a small division fewer move.
    """
    divisions = [list(table) for table in tables]
    for upper, lower in pairwise(range(len(tables))):
        count = min(movers, len(tables[upper]) // 2, len(tables[lower]) // 2)
        if count:
            divisions[upper][-count:] = tables[lower][:count]
            divisions[lower][:count] = tables[upper][-count:]
    return divisions


def plan_season(
    tables: Sequence[Sequence[Name]],
    movers: int,
    sizes: Sequence[int],
    gone: Collection[Name] = (),
    newcomers: Sequence[Name] = (),
) -> Divisions[Name]:
    """Return the divisions of the next season.

    After the exchange, who has *gone* is left out, and everybody below moves up to fill the gap;
    *newcomers* begin at the end of the last division.
    """
    order = [name for name in chain(*exchange(tables, movers)) if name not in gone]
    return draw_divisions([*order, *newcomers], sizes)
