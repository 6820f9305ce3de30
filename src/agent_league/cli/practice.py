"""`league practice`: an agent against our strategies, with the criteria of a private league."""

import statistics
import sys
from dataclasses import asdict
from typing import Annotated, Any

from rich.text import Text

from agent_league.cli import league_options as flags
from agent_league.cli.console import (
    ProgressDisplay,
    choose_symbols,
    make_table,
    print_document,
    show,
)
from agent_league.cli.exit_codes import Exit
from agent_league.cli.which_league import complete_endpoint
from agent_league.player import load_brain
from agent_league.practice.course import PracticePlan, PracticeReport, run_practice
from agent_league.practice.criteria import Tally, judge_criteria, tallies
from agent_league.printable import make_printable
from agent_league.running.event_loop import run
from agent_league.running.lineup import check_game

Matches = Annotated[int, flags.between(1, 10_000, name=("--matches", "-n"))]
MARKS = {True: "✓", False: "✗", None: "-"}
PLAIN_MARKS = {True: "ok", False: "NO", None: "--"}


def practice(
    url: str,
    /,
    *,
    vs: str = "random",
    matches: Matches = 100,
    game: str = "even_odd",
    seed: flags.Seed = None,
    json: flags.Json = False,
) -> None:
    """Let an agent that is running play against our strategies, and judge it.

    The agent needs no preparation. The exit code is 1 if a criterion of a private league is not
    met.

    Parameters
    ----------
    url
        The address of the agent, such as http://127.0.0.1:8101/mcp.
    vs
        Its opponents, with commas: strategies by name or file.
    matches
        How many matches against each.
    game
        What to play; skill counts in tic_tac_toe, and next to nothing in even_odd.
    """
    opponents = [name.strip() for name in vs.split(",")]
    for name in opponents:
        load_brain(name)  # an unknown strategy is an error before anything starts
    exercise = PracticePlan(complete_endpoint(url), opponents, matches, check_game(game), seed)
    course = _practise(exercise)
    (_print_json if json else _print)(course)
    if any(one.met is False for one in judge_criteria(course)):
        sys.exit(Exit.NO)


def _practise(plan: PracticePlan) -> PracticeReport:
    """Let the agent play, and show how far it has come."""
    total, screen = plan.matches * len(plan.opponents), ProgressDisplay("looking who is there")

    def show_progress(played: int) -> None:
        if screen.is_live or played * 10 // total > (played - 1) * 10 // total:
            screen.show(f"{played} of {total} matches played")

    try:
        return run(run_practice(plan, show_progress))
    finally:
        screen.close()


def _print_json(course: PracticeReport) -> None:
    print_document(
        agent=course.plan.agent,
        game_type=course.plan.game_type,
        opponents=[
            {
                **asdict(tally),
                "win_rate": tally.win_rate._asdict(),
                "points_per_match": round(tally.points, 4),
                "ceiling": tally.ceiling._asdict() if tally.ceiling else None,
            }
            for tally in tallies(course)
        ],
        criteria=[asdict(one) for one in judge_criteria(course)],
        milliseconds=_measure_latency(course),
    )


def _measure_latency(course: PracticeReport) -> dict[str, float]:
    """Return how long half, and all but one in a hundred, of the answers took at most."""
    times = [one.seconds * 1000 for one in course.calls]
    cuts = statistics.quantiles(times, n=100) if len(times) > 1 else [*times, 0.0] * 50
    return {"p50": round(cuts[49], 1), "p99": round(cuts[98], 1)}


def _print(course: PracticeReport) -> None:
    heads = ("P", "W", "D", "L", "technical", "wins, 95 %", "ceiling", "points a match", "ceiling")
    show(make_table(("against", *heads), map(_make_row, tallies(course)), heads))
    latency = _measure_latency(course)
    show(f"\nanswers: {latency['p50']:g} ms (half), {latency['p99']:g} ms (99 %)\n")
    marks = choose_symbols(MARKS, PLAIN_MARKS)
    for one in judge_criteria(course):
        line = f"{marks[one.met]} {one.demand}: {make_printable(one.measured)}"
        show(Text(line), soft_wrap=True)


def _make_row(tally: Tally) -> list[Any]:
    counts = (tally.played, tally.wins, tally.draws, tally.losses, tally.technical_losses)
    wins, best = tally.win_rate, tally.ceiling
    return [
        tally.opponent,
        *counts,
        f"{wins.value:.1%} ({wins.low:.0%} to {wins.high:.0%})",
        f"{best.win_rate:.0%}" if best else "none",
        f"{tally.points:.2f}",
        f"{best.points:.2f}" if best else "none",
    ]
