"""The table: a sum over results, which does not depend on their order."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agent_league.protocol.results import MatchResult
from agent_league.vocabulary import PlayerId


@dataclass(frozen=True)
class Scoring:
    """The points for a match, and the tie-breakers for players with equal points, in this order.

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

    def score(self, result: MatchResult) -> dict[PlayerId, int]:
        """Return the points that each player gets for *result*."""
        first, second = result.players
        if result.forfeits:
            return {player: self._score_forfeit(result, player) for player in result.players}
        if result.winner is None:
            return {first: self.draw, second: self.draw}
        if result.winner == first:
            return {first: self.win, second: self.loss}
        return {first: self.loss, second: self.win}

    def _score_forfeit(self, result: MatchResult, player: PlayerId) -> int:
        return self.technical_loss if player in result.forfeits else self.win


class Standing(Struct, frozen=True):
    """One player's row. A technical loss is a loss too: played = wins + draws + losses."""

    player: PlayerId
    played: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    technical_losses: int = 0
    points: int = 0

    def after(self, result: MatchResult, points: int, times: int = 1) -> "Standing":
        """Return the row with *result* and its *points* added; *times* is -1 to subtract it."""
        won, forfeited = result.winner == self.player, self.player in result.forfeits
        drawn = result.winner is None and not forfeited
        return Standing(
            self.player,
            self.played + times,
            self.wins + times * won,
            self.draws + times * drawn,
            self.losses + times * (not won and not drawn),
            self.technical_losses + times * forfeited,
            self.points + times * points,
        )


class Sums(NamedTuple):
    """The sums of a table at one moment."""

    rows: list[Standing]
    points_taken: list[dict[PlayerId, int]]
    """For each row, the points that its player won against each rival."""

    def points(self) -> list[list[int]]:
        """Return for each row the places of the rivals that its player met, each before the points."""
        places = {row.player: place for place, row in enumerate(self.rows)}
        return [
            [number for rival, points in taken.items() for number in (places[rival], points)]
            for taken in self.points_taken
        ]


class Table:
    """The rows of all players. To add a result takes the same time for any number of players."""

    def __init__(self, players: Iterable[PlayerId], scoring: Scoring) -> None:
        self._scoring = scoring
        self._rows = {player: Standing(player) for player in players}
        self._points_taken: dict[PlayerId, dict[PlayerId, int]] = {
            player: defaultdict(int) for player in self._rows
        }
        self._levels: list[list[Standing]] | None = None
        """What `levels` returned last, until a result changes it: several notices need it at once."""

    def add(self, result: MatchResult, times: int = 1) -> None:
        """Count *result*; raise KeyError, and count nothing, if a player has no row."""
        first, second = result.players
        rows, taken, score = self._rows, self._points_taken, self._scoring.score(result)
        row, other = rows[first], rows[second]
        rows[first] = row.after(result, score[first], times)
        rows[second] = other.after(result, score[second], times)
        taken[first][second] += times * score[first]
        taken[second][first] += times * score[second]
        self._levels = None

    def remove(self, result: MatchResult) -> None:
        """Take *result*, which was counted, out of the table."""
        self.add(result, -1)

    def add_bye(self, player: PlayerId) -> None:
        """Count a round that *player* sits out as a win, as FIDE does (Basic rules of Swiss, 5)."""
        row, points = self._rows[player], self._scoring.win
        self._rows[player] = replace(
            row, played=row.played + 1, wins=row.wins + 1, points=row.points + points
        )
        self._levels = None

    def copy_sums(self) -> "Sums":
        """Return a copy of the sums, which later results do not change."""
        return Sums(
            list(self._rows.values()),
            [dict(row_points) for row_points in self._points_taken.values()],
        )

    def restore(self, rows: Iterable[Standing], points: Iterable[Iterable[int]]) -> None:
        """Continue from *rows*; *points* are as `Sums.points` returns them."""
        self._rows = {row.player: row for row in rows}
        players = list(self._rows)
        self._points_taken = {player: defaultdict(int) for player in players}
        for taken, numbers in zip(self._points_taken.values(), map(list, points), strict=True):
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            taken.update({players[place]: won for place, won in pairs})
        self._levels = None

    def row(self, player: PlayerId) -> Standing:
        """Return the player's row, or raise KeyError."""
        return self._rows[player]

    def ranking(self) -> list[Standing]:
        """Return all rows, best first; no two players share a place."""
        return [row for level in self.levels() for row in level]

    def levels(self) -> list[list[Standing]]:
        """Return all rows, best first, in groups that no tie-breaker can separate."""
        if self._levels is None:
            groups = _split(self._rows.values(), lambda row: row.points)
            for name in self._scoring.tiebreakers:
                worth = TIEBREAKERS[name]
                groups = [finer for tied in groups for finer in self._untie(tied, worth)]
            # The fewest technical losses come first.
            split = [_split(tied, lambda row: -row.technical_losses) for tied in groups]
            self._levels = [sorted(tied, key=_natural_key) for finer in split for tied in finer]
        return self._levels

    def points_against(self, player: PlayerId, rivals: AbstractSet[PlayerId]) -> int:
        """Return the points that *player* won in matches against *rivals*."""
        row_points = self._points_taken[player]
        return sum(row_points[rival] for rival in row_points.keys() & rivals)

    def _untie(self, tied: list[Standing], worth: "Tiebreaker") -> Iterator[list[Standing]]:
        """Yield groups, best first, that *worth* cannot separate any further.

        It is applied again within each new group: among three players, two may stay level that
        the match between them separates.
        """
        waiting = [tied]
        while waiting:
            group = waiting.pop()
            among = {row.player for row in group}
            finer = _split(group, lambda row: worth(self, row, among))  # noqa: B023 - used at once
            if len(finer) == 1:
                yield group
            else:
                waiting += reversed(finer)


def _split(rows: Iterable[Standing], worth: Callable[[Standing], int]) -> list[list[Standing]]:
    """Return groups of rows with equal worth, the highest worth first."""
    pairs = sorted(((worth(row), row) for row in rows), key=itemgetter(0), reverse=True)
    return [[row for _, row in level] for _, level in groupby(pairs, key=itemgetter(0))]


def _natural_key(row: Standing) -> tuple[str, PlayerId]:
    # P2 comes before P10; between P2 and P02, the spelling itself decides.
    natural = re.sub(r"\d+", lambda number: number[0].zfill(20), row.player)
    return natural, row.player


Tiebreaker: TypeAlias = Callable[[Table, Standing, AbstractSet[PlayerId]], int]
"""The value of a row among the players tied so far, itself included; more is better."""

TIEBREAKERS: Mapping[str, Tiebreaker] = MappingProxyType(
    {
        "wins": lambda table, row, tied: row.wins,
        "head_to_head": lambda table, row, tied: table.points_against(row.player, tied),
        "draws": lambda table, row, tied: row.draws,
    }
)

DEFAULT_SCORING = Scoring()
"""The points of the protocol, in which referees report."""
