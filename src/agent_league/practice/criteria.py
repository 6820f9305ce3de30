"""Judges a practice report by the success criteria for a private league."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from typing import NamedTuple

from agent_league.practice.course import PracticeReport
from agent_league.protocol.results import Termination
from agent_league.store.events import MatchEnded

WITHOUT_TIMEOUT, AGAINST_RANDOM, BASELINE, WIN_RATE_WANTED = 50, 100, "random", 0.60
"""The criteria: 50 games without a timeout, more than 60 % wins in 100 games."""
CONFIDENCE = 1.959964
"""Standard deviations around the mean that contain 95 % of a normal distribution."""


class Rate(NamedTuple):
    """A measured share, and its 95 % confidence interval."""

    value: float
    low: float
    high: float


def rate(hits: int, tries: int) -> Rate:
    """Return the share of *hits* with Wilson's interval, which is valid for few tries as well."""
    if not tries:
        return Rate(0.0, 0.0, 1.0)
    share, square = hits / tries, CONFIDENCE**2
    middle = (share + square / (2 * tries)) / (1 + square / tries)
    spread = share * (1 - share) / tries + square / (4 * tries**2)
    reach = CONFIDENCE * sqrt(spread) / (1 + square / tries)
    # Rounding must not push the interval past the share itself, nor past what a share can be.
    return Rate(share, max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach)))


class Ceiling(NamedTuple):
    """The best that any strategy can expect of a match."""

    win_rate: float
    points: float


PREDICTABLE = Ceiling(0.5, 1.5)
"""Even/Odd: different calls are a coin toss for 3 points; no strategy can do better than differ."""
UNPREDICTABLE = Ceiling(0.25, 1.25)
"""Against random calls: half of the matches are a coin toss, the others a draw for 1 point."""


def ceiling(game_type: str, opponent: str) -> Ceiling | None:
    """Return the best expectation against *opponent*; None for a game of skill."""
    if game_type != "even_odd":
        return None
    return UNPREDICTABLE if opponent == "random" else PREDICTABLE


@dataclass(frozen=True)
class Tally:
    """How the matches against one opponent ended."""

    opponent: str
    played: int
    wins: int
    draws: int
    losses: int
    technical_losses: int
    ceiling: Ceiling | None
    """The best that any strategy can expect against this opponent, if that is known."""

    @property
    def win_rate(self) -> Rate:
        return rate(self.wins, self.played)

    @property
    def points(self) -> float:
        """Points a match."""
        return (3 * self.wins + self.draws) / self.played if self.played else 0.0


@dataclass(frozen=True)
class Criterion:
    """One demand, whether it is met (None: not known), and what was measured."""

    demand: str
    met: bool | None
    measured: str


def tallies(report: PracticeReport) -> list[Tally]:
    """Return the results of the agent against each opponent."""
    pairs = zip(report.plan.opponents, report.opponent_ids, strict=True)
    return [_make_tally(report, strategy, opponent_id) for strategy, opponent_id in pairs]


def _make_tally(report: PracticeReport, strategy: str, opponent_id: str) -> Tally:
    matches = [ended for ended in _own_matches(report) if opponent_id in ended.players]
    wins = sum(ended.winner == report.agent_id for ended in matches)
    draws = sum(ended.status == "DRAW" for ended in matches)
    technical = sum(report.agent_id in ended.technical_losses for ended in matches)
    best = ceiling(report.plan.game_type, strategy)
    return Tally(strategy, len(matches), wins, draws, len(matches) - wins - draws, technical, best)


def judge_criteria(report: PracticeReport) -> list[Criterion]:
    """Judge the agent by the success criteria of a private league."""
    return [
        _judge_compliance(report),
        _judge_punctuality(report),
        _judge_skill(report),
        Criterion(
            "graceful handling of all error conditions",
            None,
            f"not measured here, but by: league check {report.plan.agent}",
        ),
    ]


def _judge_compliance(report: PracticeReport) -> Criterion:
    answered = [one for one in report.calls if not one.silent]
    wrong = [one for one in answered if one.problem]
    illegal = sum(
        ended.termination == Termination.INVALID_MOVE and report.agent_id in ended.technical_losses
        for ended in _own_matches(report)
        if not any(one.match_id == ended.match_id for one in wrong)
    )
    demand, total, faults = "100 % protocol compliance", len(answered), len(wrong) + illegal
    if not total:
        return Criterion(demand, None, f"no answer to any of {len(report.calls)} messages")
    measured = f"{_format_rate(rate(total - faults, total))} of {total} answers"
    if wrong:
        measured += f"; the first that was not: {wrong[0].message_type}: {wrong[0].problem[:200]}"
    return Criterion(demand, not faults, measured)


def _judge_punctuality(report: PracticeReport) -> Criterion:
    late = {one.match_id for one in report.calls if one.silent}
    games = [ended.match_id not in late for ended in _own_matches(report)]
    longest = max((len(list(run)) for good, run in groupby(games) if good), default=0)
    failed = games.count(False)
    measured = f"{longest} in a row, {failed} of {len(games)} with one"
    enough = longest >= WITHOUT_TIMEOUT
    met = enough if enough or failed else None
    advice = "" if met is not None else f"; play more: -n {WITHOUT_TIMEOUT}"
    return Criterion(f"no timeout in {WITHOUT_TIMEOUT} games in a row", met, measured + advice)


def _judge_skill(report: PracticeReport) -> Criterion:
    demand = f"more than {WIN_RATE_WANTED:.0%} wins against {BASELINE} in {AGAINST_RANDOM} games"
    found = [tally for tally in tallies(report) if tally.opponent == BASELINE]
    if not found:
        return Criterion(demand, None, f"not played: --vs {BASELINE}")
    tally = found[0]
    measured = f"{_format_rate(tally.win_rate)} of {tally.played}"
    if tally.ceiling is not None:
        best = f"{tally.ceiling.win_rate:.0%} wins and {tally.ceiling.points:g} points a match"
        return Criterion(demand, None, f"{measured}; none can expect more than {best}")
    if tally.played < AGAINST_RANDOM:
        return Criterion(demand, None, f"{measured}; play more: -n {AGAINST_RANDOM}")
    return Criterion(demand, tally.win_rate.value > WIN_RATE_WANTED, measured)


def _own_matches(report: PracticeReport) -> Iterable[MatchEnded]:
    return (ended for ended in report.results if report.agent_id in ended.players)


def _format_rate(measured: Rate) -> str:
    return f"{measured.value:.1%} [{measured.low:.1%} to {measured.high:.1%}]"
