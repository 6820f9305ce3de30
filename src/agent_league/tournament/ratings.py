"""Ratings: how strong players are, whoever they met, and how certain that is.

The model is Bradley and Terry's (1952) with draws as Davidson (1970) added them. The strengths that
make the results most likely are found by Hunter's (2004) iteration. They stand beside the points,
which decide.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import exp, log, sqrt
from types import MappingProxyType
from typing import NamedTuple

from agent_league.extras import import_extra
from agent_league.tournament.pairing import Played

SCALE, CENTRE = 400 / log(10), 1500
"""Elo's numbers: 400 more is ten to one."""
CONFIDENCE = 1.959964
STEPS, CLOSE = 2000, 1e-9
MOST_WITH_INTERVALS = 300
"""To invert a table for more players takes too long."""
PRIOR = 2
"""Everybody has so many made-up matches with an average player, and won half of them.

Without them, who wins all would be infinitely strong.
"""


class Rating(NamedTuple):
    """The strength of a player on Elo's scale, with its 95 % interval if that was computed."""

    player: str
    value: float
    reach: float | None = None


class Ratings(NamedTuple):
    """All players, the strongest first."""

    rows: Sequence[Rating]
    draws: float
    """How likely draws are: 0 is never, 1 is one match in three of equals."""
    uncertain: Sequence[tuple[str, str]] = ()
    """The neighbours whose order may be chance."""
    spread: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    """The variance of each rating, and what two of them have in common; if it was computed."""

    def compare(self, one: str, other: str) -> tuple[float, float | None]:
        """Return by how much *one* is stronger, and how far the truth may be from that."""
        values = {row.player: row.value for row in self.rows}
        gap, spread = values[one] - values[other], self.spread
        if one not in spread:
            return gap, None
        variance = spread[one][one] + spread[other][other] - 2 * spread[one][other]
        return gap, CONFIDENCE * sqrt(variance)


def rate_players(players: Iterable[str], results: Iterable[Played]) -> Ratings:
    """Return the ratings that make *results* most likely."""
    names = sorted(players)
    counts = _Counts(names, results)
    strengths, draws = _fit(counts)
    logs = [log(strength) for strength in strengths]
    middle = sum(logs) / max(1, len(logs))
    values = [CENTRE + SCALE * (one - middle) for one in logs]
    order = sorted(range(len(names)), key=lambda number: -values[number])
    if len(names) > MOST_WITH_INTERVALS:
        return Ratings([Rating(names[n], values[n]) for n in order], draws)
    table = _invert(_compute_information(counts, strengths, draws))
    spread = {
        name: {other: SCALE**2 * cell for other, cell in zip(names, row, strict=True)}
        for name, row in zip(names, table, strict=True)
    }
    reach = [CONFIDENCE * sqrt(spread[name][name]) for name in names]
    found = Ratings([Rating(names[n], values[n], reach[n]) for n in order], draws, (), spread)
    pairs = [(one.player, other.player) for one, other in pairwise(found.rows)]
    return found._replace(uncertain=[pair for pair in pairs if _may_be_chance(found, *pair)])


def _may_be_chance(found: Ratings, one: str, other: str) -> bool:
    gap, reach = found.compare(one, other)
    return reach is not None and abs(gap) < reach


class _Counts:
    """How often each pair met, and how often each won or drew."""

    def __init__(self, names: Sequence[str], results: Iterable[Played]) -> None:
        index = {name: number for number, name in enumerate(names)}
        self.size = len(names)
        self.met: Counter[tuple[int, int]] = Counter()
        self.scores = [float(PRIOR)] * self.size
        """Two for a win, one for a draw."""
        self.draws = 0
        for first, second, winner, _ in (one for one in results if one.counts):
            one, other = index[first], index[second]
            self.met[min(one, other), max(one, other)] += 1
            if winner is None:
                self.scores[one] += 1
                self.scores[other] += 1
                self.draws += 1
            else:
                self.scores[index[winner]] += 2


def _fit(counts: _Counts) -> tuple[list[float], float]:
    """Return the strengths, and how likely draws are."""
    strengths, draws = [1.0] * counts.size, 1.0
    for _ in range(STEPS):
        sums = [PRIOR * _weigh(one, 1.0, draws) for one in strengths]
        drawn = sum(PRIOR * _share_draws(one, 1.0, draws) for one in strengths)
        for (i, j), met in counts.met.items():
            one, other = strengths[i], strengths[j]
            sums[i] += met * _weigh(one, other, draws)
            sums[j] += met * _weigh(other, one, draws)
            drawn += met * _share_draws(one, other, draws)
        new = [score / total for score, total in zip(counts.scores, sums, strict=True)]
        new = _level(new, draws)
        change = max((abs(log(a / b)) for a, b in zip(new, strengths, strict=True)), default=0.0)
        draws_now = counts.draws / drawn if drawn else draws
        change = max(change, abs(draws_now - draws))
        strengths, draws = new, draws_now
        if change < CLOSE:
            break
    return strengths, draws


def _level(strengths: Sequence[float], draws: float) -> list[float]:
    """Return *strengths*, all changed by the same factor so that they suit the made-up matches.

    The real matches say nothing of that factor, so the iteration alone takes long to find it.
    """
    missing = sum(0.5 - _expect_score(one, 1.0, draws) for one in strengths)
    slope = sum(_measure_spread(one, 1.0, draws) for one in strengths)
    factor = exp(missing / slope) if slope else 1.0
    return [one * factor for one in strengths]


def _expect_score(one: float, other: float, draws: float) -> float:
    """Return what *one* may expect of a match: 1 for a win, a half for a draw."""
    both = draws * sqrt(one * other)
    return (one + both / 2) / (one + other + both)


def _weigh(mine: float, theirs: float, draws: float) -> float:
    both = sqrt(mine * theirs)
    return (2 + draws * sqrt(theirs / mine)) / (mine + theirs + draws * both)


def _share_draws(one: float, other: float, draws: float) -> float:
    both = sqrt(one * other)
    return both / (one + other + draws * both)


def _compute_information(
    counts: _Counts, strengths: Sequence[float], draws: float
) -> list[list[float]]:
    """Return how sharply the likelihood falls around the best strengths."""
    table = [[0.0] * counts.size for _ in range(counts.size)]
    for number, strength in enumerate(strengths):
        table[number][number] += PRIOR * _measure_spread(strength, 1.0, draws)
    for (i, j), met in counts.met.items():
        known = met * _measure_spread(strengths[i], strengths[j], draws)
        table[i][i] += known
        table[j][j] += known
        table[i][j] -= known
        table[j][i] -= known
    return table


def _measure_spread(one: float, other: float, draws: float) -> float:
    """Return the variance of a match's score: 1 for a win, a half for a draw."""
    both = draws * sqrt(one * other)
    total = one + other + both
    win, draw = one / total, both / total
    return win + draw / 4 - (win + draw / 2) ** 2


def _invert(table: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the inverse of a symmetric positive table, by Gauss and Jordan."""
    size = len(table)
    rows = [[*row, *(float(n == m) for m in range(size))] for n, row in enumerate(table)]
    for column in range(size):
        pivot = rows[column][column]
        rows[column] = [value / pivot for value in rows[column]]
        for number in range(size):
            factor = rows[number][column]
            if number != column and factor:
                pairs = zip(rows[number], rows[column], strict=True)
                rows[number] = [value - factor * base for value, base in pairs]
    return [row[size:] for row in rows]


def expect_win(ratings: Mapping[str, float], draws: float, one: str, other: str) -> float:
    """Return how likely *one* wins against *other*, by their ratings."""
    a, b = (exp((ratings[name] - CENTRE) / SCALE) for name in (one, other))
    return a / (a + b + draws * sqrt(a * b))


def rate_online(results: Iterable[Played]) -> list[Rating]:
    """Return ratings that follow the results in their order, as across leagues: by openskill.

    The reach is that of a 95 % interval; whoever played little has a wide one.
    """
    model = import_extra("openskill.models", "ratings").PlackettLuce()
    found: dict[str, object] = {}
    for first, second, winner, _ in (one for one in results if one.counts):
        sides = [found.get(name) or model.rating(name=name) for name in (first, second)]
        ranks = [0 if winner in (None, name) else 1 for name in (first, second)]
        (one,), (other,) = model.rate([[sides[0]], [sides[1]]], ranks=ranks)
        found[first], found[second] = one, other
    rows = [
        Rating(name, getattr(one, "mu", 0.0), CONFIDENCE * getattr(one, "sigma", 0.0))
        for name, one in found.items()
    ]
    return sorted(rows, key=lambda row: -row.value)
