"""Rankings: the order of the table, where the format decides more than the points do.

The points themselves are the same in every format.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from agent_league.tournament.knockout import rank_cup
from agent_league.tournament.ladder import climb
from agent_league.tournament.pairing import History
from agent_league.tournament.standings import Standing, Table
from agent_league.vocabulary import PlayerId

Levels: TypeAlias = list[list[Standing]]
"""All rows, best first, in groups that nothing can separate."""
Rank: TypeAlias = Callable[[Sequence[PlayerId], History, int, Table], Levels]
"""From the players, the rounds that are over, the number of the format and the table to the ranking."""


def rank_by_cup(players: Sequence[PlayerId], history: History, legs: int, table: Table) -> Levels:
    """Put first who is left in the cup, then who went out last; points decide between equals."""
    return _arrange(rank_cup(players, history, legs), table)


def rank_by_ladder(
    players: Sequence[PlayerId], history: History, rounds: int, table: Table
) -> Levels:
    """Put everybody on their place on the ladder."""
    return _arrange([[player] for player in climb(players, history)], table)


def rank_by_rate(players: Sequence[PlayerId], history: History, legs: int, table: Table) -> Levels:
    """Put first who has the most points a match, since some play many more matches than others."""
    rates = {player: _rate(table.row(player)) for player in players}
    groups = [
        [player for player in players if rates[player] == rate]
        for rate in sorted(set(rates.values()), reverse=True)
    ]
    return _arrange(groups, table)


def _rate(row: Standing) -> Fraction:
    return Fraction(row.points, max(1, row.played))


def _arrange(groups: Sequence[Sequence[PlayerId]], table: Table) -> Levels:
    """Return the rows in the order of *groups*, and those of a group in the order of the table."""
    places = {player: number for number, group in enumerate(groups) for player in group}
    arranged: list[Levels] = [[] for _ in groups]
    for level in table.levels():
        parts: dict[int, list[Standing]] = {}
        for row in level:
            parts.setdefault(places[row.player], []).append(row)
        for number, part in parts.items():
            arranged[number].append(part)
    return [level for levels in arranged for level in levels]
