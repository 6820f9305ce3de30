"""What a course of practice says about an agent: the criteria for a private league, judged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from agent_league.practice.gym import Course
from agent_league.protocol import ErrorCode
from agent_league.store.events import MatchEnded
from agent_league.tournament.chances import Ceiling, Rate, ceiling, rate

WITHOUT_TIMEOUT, AGAINST_RANDOM, BASELINE, ENOUGH = 50, 100, "random", 0.60
"""What the criteria ask: 50 games without a timeout, more than 60 % wins in 100 games."""
SILENT = {ErrorCode.TIMEOUT_ERROR, ErrorCode.CONNECTION_ERROR}


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
    """The best that any strategy can expect here, where there is such a thing."""

    @property
    def win_rate(self) -> Rate:
        return rate(self.wins, self.played)

    @property
    def points(self) -> float:
        """Points a match."""
        return (3 * self.wins + self.draws) / self.played if self.played else 0.0


@dataclass(frozen=True)
class Criterion:
    """One demand, whether it is met (None: it cannot be said here), and what was measured."""

    demand: str
    met: bool | None
    measured: str


def tallies(course: Course) -> list[Tally]:
    """Return how the agent fared against each opponent."""
    named = zip(course.exercise.opponents, course.opponent_ids, strict=True)
    return [_tally(course, strategy, opponent_id) for strategy, opponent_id in named]


def _tally(course: Course, strategy: str, opponent_id: str) -> Tally:
    met = [ended for ended in _own(course) if opponent_id in ended.players]
    wins = sum(ended.winner == course.agent_id for ended in met)
    draws = sum(ended.status == "DRAW" for ended in met)
    technical = sum(course.agent_id in ended.technical_losses for ended in met)
    best = ceiling(course.exercise.game_type, strategy)
    return Tally(strategy, len(met), wins, draws, len(met) - wins - draws, technical, best)


def criteria(course: Course) -> list[Criterion]:
    """Judge the agent by the success criteria of a private league."""
    return [_compliance(course), _punctuality(course), _skill(course), _grace(course)]


def _compliance(course: Course) -> Criterion:
    wrong = [one for one in course.exchanges if one.problem and one.problem not in SILENT]
    illegal = sum(
        ended.termination == "invalid_move" and course.agent_id in ended.technical_losses
        for ended in _own(course)
        if not any(one.match_id == ended.match_id for one in wrong)
    )
    total, faults = len(course.exchanges), len(wrong) + illegal
    measured = f"{_shown(rate(total - faults, total))} of {total} answers"
    first = f"; the first that was not: {wrong[0].said}: {wrong[0].detail[:200]}" if wrong else ""
    return Criterion("100 % protocol compliance", not faults and total > 0, measured + first)


def _punctuality(course: Course) -> Criterion:
    late = {one.match_id for one in course.exchanges if one.problem in SILENT}
    games = [ended.match_id not in late for ended in _own(course)]
    longest, failed = _longest_run(games), games.count(False)
    measured = f"{longest} in a row, {failed} of {len(games)} with one"
    enough = longest >= WITHOUT_TIMEOUT
    met = enough if enough or failed else None
    asked = "" if met is not None else f"; play more: -n {WITHOUT_TIMEOUT}"
    return Criterion(f"no timeout in {WITHOUT_TIMEOUT} games in a row", met, measured + asked)


def _longest_run(games: Sequence[bool]) -> int:
    return max((len(list(run)) for good, run in groupby(games) if good), default=0)


def _skill(course: Course) -> Criterion:
    demand = f"more than {ENOUGH:.0%} wins against {BASELINE} in {AGAINST_RANDOM} games"
    found = [tally for tally in tallies(course) if tally.opponent == BASELINE]
    if not found:
        return Criterion(demand, None, f"not played: --vs {BASELINE}")
    tally = found[0]
    measured = f"{_shown(tally.win_rate)} of {tally.played}"
    if tally.ceiling is not None:
        best = f"{tally.ceiling.win_rate:.0%} wins and {tally.ceiling.points:g} points a match"
        return Criterion(demand, None, f"{measured}; none can expect more than {best}")
    if tally.played < AGAINST_RANDOM:
        return Criterion(demand, None, f"{measured}; play more: -n {AGAINST_RANDOM}")
    return Criterion(demand, tally.win_rate.value > ENOUGH, measured)


def _grace(course: Course) -> Criterion:
    measured = f"not measured here, but by: league check {course.exercise.agent}"
    return Criterion("graceful handling of all error conditions", None, measured)


def _own(course: Course) -> Iterable[MatchEnded]:
    return (ended for ended in course.results if course.agent_id in ended.players)


def _shown(measured: Rate) -> str:
    return f"{measured.value:.1%} [{measured.low:.1%} to {measured.high:.1%}]"
