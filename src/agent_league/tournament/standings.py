"""The table is a sum over results: it can be made again from them, in whatever order they came."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby, repeat
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from agent_league.vocabulary import PlayerId


@dataclass(frozen=True)
class Result:
    """A finished match. Without a winner it is a draw, unless both forfeited.

    Raises `ValueError` where the fields contradict each other.
    """

    first: PlayerId
    second: PlayerId
    winner: PlayerId | None
    technical_losses: frozenset[PlayerId] = frozenset()
    """Who forfeited."""

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(f"{self.first} cannot play against itself")
        if not self.technical_losses <= {self.first, self.second}:
            raise ValueError(f"only {self.first} and {self.second} can forfeit this match")
        if self.winner not in self._possible_winners():
            raise ValueError(
                f"{self.first} against {self.second} cannot end with {self.winner} winning"
            )

    def _possible_winners(self) -> set[PlayerId | None]:
        left = {self.first, self.second} - self.technical_losses
        return {*left} if len(left) == 1 else {None, *left}

    @property
    def drawn(self) -> bool:
        return self.winner is None and not self.technical_losses


@dataclass(frozen=True)
class Scoring:
    """What a match is worth, and what separates players with equal points, in this order.

    Raises `ValueError` for a tie-breaker that is not in `TIEBREAKERS`.
    """

    win: int = 3
    draw: int = 1
    loss: int = 0
    technical_loss: int = 0
    tiebreakers: tuple[str, ...] = ("wins", "head_to_head", "draws")

    def __post_init__(self) -> None:
        for name in self.tiebreakers:
            if name not in TIEBREAKERS:
                raise ValueError(f"unknown tie-breaker {name!r}: expected {', '.join(TIEBREAKERS)}")

    def points(self, result: Result, player: PlayerId) -> int:
        """Return what *player* takes from *result*."""
        if player in result.technical_losses:
            return self.technical_loss
        if result.drawn:
            return self.draw
        return self.win if result.winner == player else self.loss


@dataclass(frozen=True)
class Standing:
    """One player's row. A technical loss is a loss too: played = wins + draws + losses."""

    player: PlayerId
    played: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    technical_losses: int = 0
    points: int = 0

    def after(self, result: Result, points: int, times: int = 1) -> "Standing":
        """Return the row with *result*, worth *points*, added; *times* is -1 to take it away."""
        won = result.winner == self.player
        return Standing(
            self.player,
            self.played + times,
            self.wins + times * won,
            self.draws + times * result.drawn,
            self.losses + times * (not won and not result.drawn),
            self.technical_losses + times * (self.player in result.technical_losses),
            self.points + times * points,
        )


class Sums(NamedTuple):
    """What a table has added up."""

    rows: list[Standing]
    taken: list[dict[PlayerId, int]]
    """For each row, the points that its player took from each rival."""

    def points(self) -> list[list[int]]:
        """Return the points that each took from each, itself included, in the order of the rows."""
        rivals = [row.player for row in self.rows]
        return [list(map(taken.get, rivals, repeat(0))) for taken in self.taken]


class Table:
    """The rows of all players. Adding a result costs the same however many they are."""

    def __init__(self, players: Iterable[PlayerId], scoring: Scoring) -> None:
        self._scoring = scoring
        self._rows = {player: Standing(player) for player in players}
        self._taken: dict[PlayerId, dict[PlayerId, int]] = {
            player: defaultdict(int) for player in self._rows
        }
        self._levels: list[list[Standing]] | None = None
        """What `levels` found, until a result changes it: it is told in several notices at once."""

    def add(self, result: Result, times: int = 1) -> None:
        """Count *result*; where it names a stranger, raise KeyError and count nothing."""
        first, second = self._rows[result.first], self._rows[result.second]
        self._add_to(first, second.player, result, times)
        self._add_to(second, first.player, result, times)
        self._levels = None

    def remove(self, result: Result) -> None:
        """Count *result*, which was counted, no more."""
        self.add(result, -1)

    def copied(self) -> "Sums":
        """Return what the results add up to, which later results leave as it is."""
        return Sums(list(self._rows.values()), [dict(taken) for taken in self._taken.values()])

    def take_up(self, rows: Iterable[Standing], points: Iterable[Iterable[int]]) -> None:
        """Go on from *rows*; *points* are those that each took from each of them, in order."""
        self._rows = {row.player: row for row in rows}
        self._taken = {
            player: defaultdict(int, zip(self._rows, taken, strict=True))
            for player, taken in zip(self._rows, points, strict=True)
        }
        self._levels = None

    def row(self, player: PlayerId) -> Standing:
        """Return the player's row, or raise KeyError."""
        return self._rows[player]

    def ranked(self) -> list[Standing]:
        """Return all rows, best first; no two players share a place."""
        return [row for level in self.levels() for row in level]

    def levels(self) -> list[list[Standing]]:
        """Return all rows, best first, in groups of those whom only their ids part."""
        if self._levels is None:
            self._levels = self._ordered()
        return self._levels

    def _ordered(self) -> list[list[Standing]]:
        groups = _split(self._rows.values(), lambda row: row.points)
        for name in self._scoring.tiebreakers:
            groups = [finer for tied in groups for finer in self._untie(tied, TIEBREAKERS[name])]
        groups = [finer for tied in groups for finer in _split(tied, _fewer_technical_losses)]
        return [sorted(tied, key=_natural) for tied in groups]

    def taken(self, player: PlayerId, rivals: AbstractSet[PlayerId]) -> int:
        """Return the points that *player* took in matches against *rivals*."""
        taken = self._taken[player]
        return sum(taken[rival] for rival in taken.keys() & rivals)

    def _add_to(self, row: Standing, rival: PlayerId, result: Result, times: int) -> None:
        points = self._scoring.points(result, row.player)
        self._rows[row.player] = row.after(result, points, times)
        self._taken[row.player][rival] += times * points

    def _untie(self, tied: list[Standing], worth: "Tiebreaker") -> Iterator[list[Standing]]:
        """Yield groups, best first, that *worth* cannot part any more.

        It is asked again within each group that it made: two who stay level in a mini league of
        three may still be parted by the match between them.
        """
        waiting = [tied]
        while waiting:
            group = waiting.pop()
            finer = self._part(group, worth)
            if len(finer) == 1:
                yield group
            else:
                waiting += reversed(finer)

    def _part(self, tied: list[Standing], worth: "Tiebreaker") -> list[list[Standing]]:
        among = {row.player for row in tied}
        return _split(tied, lambda row: worth(self, row, among))


def _split(rows: Iterable[Standing], worth: Callable[[Standing], int]) -> list[list[Standing]]:
    """Return groups of rows with equal worth, the highest worth first."""
    weighed = sorted(((worth(row), row) for row in rows), key=itemgetter(0), reverse=True)
    return [[row for _, row in level] for _, level in groupby(weighed, key=itemgetter(0))]


def _fewer_technical_losses(row: Standing) -> int:
    return -row.technical_losses


def _natural(row: Standing) -> tuple[str, PlayerId]:
    # P2 comes before P10; where P2 and P02 both exist, the spelling itself decides.
    natural = re.sub(r"\d+", lambda number: number[0].zfill(20), row.player)
    return natural, row.player


def _wins(table: Table, row: Standing, tied: AbstractSet[PlayerId]) -> int:
    return row.wins


def _draws(table: Table, row: Standing, tied: AbstractSet[PlayerId]) -> int:
    return row.draws


def _head_to_head(table: Table, row: Standing, tied: AbstractSet[PlayerId]) -> int:
    return table.taken(row.player, tied)


Tiebreaker: TypeAlias = Callable[[Table, Standing, AbstractSet[PlayerId]], int]
"""What a row is worth among the players tied so far, itself included; more is better."""

TIEBREAKERS: Mapping[str, Tiebreaker] = MappingProxyType(
    {"wins": _wins, "head_to_head": _head_to_head, "draws": _draws}
)
