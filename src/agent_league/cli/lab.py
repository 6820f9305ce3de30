"""`league lab`, `league compare`: strategies measured by thousands of matches, without HTTP."""

import secrets
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.text import Text

from agent_league.cli import league_options as flags
from agent_league.cli.console import ProgressDisplay, print_document, show
from agent_league.cli.exit_codes import Exit
from agent_league.cli.lab_report import print_lab, print_lab_json, round_rate
from agent_league.cli.which_league import complete_endpoint
from agent_league.lab.comparison import ComparisonPlan
from agent_league.lab.comparison import compare as run_comparison
from agent_league.lab.crosstable import make_rows
from agent_league.lab.endpoints import play_anywhere
from agent_league.lab.parquet import write_parquet
from agent_league.lab.plot import draw_convergence
from agent_league.lab.series import Met
from agent_league.lab.sprt import Answer, SequentialTest
from agent_league.lab.tournament import LabPlan, run_lab
from agent_league.player import load_brain
from agent_league.practice.course import is_address
from agent_league.printable import format_count
from agent_league.running.errors import UsageError
from agent_league.running.lineup import check_game, read_options
from agent_league.strategy import STRATEGIES, suits

Matches = Annotated[int, flags.between(1, 1_000_000, name=("--matches", "-n"))]


def lab(
    game: str,
    /,
    *,
    strategies: str = "all",
    matches: Matches = 1000,
    seed: flags.Seed = None,
    option: flags.Option = (),
    cores: Annotated[int, flags.between(1)] | None = None,
    plot: Path | None = None,
    parquet: Path | None = None,
    json: flags.Json = False,
) -> None:
    """Let strategies play against each other many times, in this process and without messages.

    The games, the moves and the judgement are those of a league. A strategy remembers a series
    of 100 matches, then it begins anew.

    Parameters
    ----------
    game
        What to play: even_odd, prisoners_dilemma, ...
    strategies
        Names and files with commas, or all that have a skill in the game.
    matches
        How many matches each pair plays.
    cores
        How many processes play; by default one for each core.
    plot
        A file for the convergence, as SVG.
    parquet
        A file for all matches; this takes the extra parquet.
    """
    check_game(game)
    plan = LabPlan(
        game,
        _choose_strategies(strategies, game),
        matches,
        seed or str(secrets.randbelow(10**6)),
        read_options(game, option),
    )
    started = time.monotonic()
    results = _play(plan, cores)
    rows, seconds = make_rows(plan.strategies, results), time.monotonic() - started
    if plot is not None:
        lines = {row.strategy: row.follow_points() for row in rows}
        title = f"{game}: points a match, seed {plan.seed}"
        plot.write_text(draw_convergence(title, lines), encoding="utf-8")
    if parquet is not None:
        write_parquet(parquet, results)
    (print_lab_json if json else print_lab)(plan, rows, results, seconds)


def compare(
    first: str,
    second: str,
    /,
    *,
    game: str = "even_odd",
    against: str | None = None,
    margin: Annotated[float, Parameter(validator=Number(gt=0, lte=3))] = 0.1,
    matches: Matches = 20_000,
    seed: flags.Seed = None,
    option: flags.Option = (),
    json: flags.Json = False,
) -> None:
    """Say whether one strategy is really better than another, and play no longer than that takes.

    A sequential test (SPRT): it is wrong in at most 5 % of the cases. The exit code is 1 if the first
    is not better.

    Parameters
    ----------
    first
        A strategy by name or file, a model as llm:NAME, or the address of an agent that runs.
    second
        What to compare it with.
    game
        What to play.
    against
        Opponents with commas: both play against these, instead of against each other.
    margin
        The difference in points a match that matters.
    matches
        How many matches to play at most.
    """
    check_game(game)
    opponents = [name.strip() for name in against.split(",")] if against else []
    first, second = (complete_endpoint(one) if is_address(one) else one for one in (first, second))
    for name in (first, second, *opponents):
        if not is_address(name):
            load_brain(name)  # an unknown strategy is an error before anything starts
    chosen, options = seed or str(secrets.randbelow(10**6)), read_options(game, option)
    plan = ComparisonPlan(game, first, second, chosen, opponents, margin, matches, options)
    screen = ProgressDisplay("comparing", shown=not json)
    try:
        test = run_comparison(plan, play_anywhere, lambda now: _show_test(screen, now))
    finally:
        screen.close()
    _print_comparison(plan, test, json=json)
    if test.answer is not Answer.FIRST:
        sys.exit(Exit.NO)


def _choose_strategies(names: str, game: str) -> list[str]:
    if names == "all":
        return [name for name in STRATEGIES if suits(STRATEGIES[name], game)]
    chosen = [name.strip() for name in names.split(",")]
    if len(set(chosen)) != len(chosen) or len(chosen) < 2:  # noqa: PLR2004 - a match takes two
        raise UsageError("a lab takes two strategies or more, each once", "--strategies all")
    for name in chosen:
        load_brain(name)  # an unknown strategy is an error before anything starts
    return chosen


def _play(plan: LabPlan, cores: int | None) -> list[Met]:
    """Play all, and show how far it is and how long it will take."""
    total, started = plan.matches * len(plan.pairs), time.monotonic()
    screen, shown = ProgressDisplay(f"{total} matches"), 0

    def show_progress(played: int) -> None:
        nonlocal shown
        tenth = played * 10 // total
        if screen.is_live or tenth > shown:
            shown = tenth
            left = (time.monotonic() - started) * (total - played) / played
            screen.show(f"{played} of {total} matches played, {left:.0f} s left")

    try:
        return run_lab(plan, show_progress, cores)
    finally:
        screen.close()


def _show_test(screen: ProgressDisplay, test: SequentialTest) -> None:
    if screen.is_live or test.count % 1000 == 0:
        screen.show(f"{test.count} matches, {test.mean:+.3f} points a match")


def _print_comparison(plan: ComparisonPlan, test: SequentialTest, *, json: bool) -> None:
    found = test.interval
    if json:
        return print_document(
            game_type=plan.game_type,
            first=plan.first,
            second=plan.second,
            seed=plan.seed,
            matches=test.count,
            answer=test.answer.name.lower(),
            difference=round_rate(found),
            margin=plan.margin,
        )
    names: Mapping[Answer, Callable[[], str]] = {
        Answer.FIRST: lambda: f"Yes: {plan.first} is better than {plan.second}.",
        Answer.SECOND: lambda: f"No: {plan.second} is better than {plan.first}.",
        Answer.NEITHER: lambda: f"No: neither is better by {plan.margin:g} points a match.",
        Answer.UNDECIDED: lambda: f"Not decided in {test.count} matches: play more with -n.",
    }
    show(Text(names[test.answer](), style="bold"), soft_wrap=True)
    difference = f"{found.value:+.3f} points a match ({found.low:+.3f} to {found.high:+.3f})"
    return show(
        f"{format_count(test.count, 'match')} of {plan.game_type}, seed {plan.seed}: {difference}",
        soft_wrap=True,
    )
