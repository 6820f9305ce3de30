"""`league practice`: an agent against our strategies, with the criteria of a private league."""

import json as json_module
import statistics
import sys
from dataclasses import asdict
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent_league.cli.agents import endpoint_of
from agent_league.cli.endings import Exit
from agent_league.cli.report import SCHEMA_VERSION
from agent_league.cli.terms import Switch, known_game
from agent_league.hosting import run
from agent_league.player import load_brain
from agent_league.practice import Course, Exercise, Tally, criteria, practise, tallies

Matches = Annotated[int, Parameter(name=("--matches", "-n"), validator=Number(gte=1, lte=10_000))]
MARKS = {True: "✓", False: "✗", None: "-"}


def practice(
    agent: str,
    /,
    *,
    vs: str = "random",
    matches: Matches = 100,
    game: str = "even_odd",
    seed: str | None = None,
    json: Switch = False,
) -> None:
    """Let an agent that is running play against our strategies, and judge it.

    It needs to be told nothing: an envoy plays in its place and asks it. The exit code is 1 if
    a criterion of a private league is not met.

    Parameters
    ----------
    agent
        Its address, such as http://127.0.0.1:8101/mcp.
    vs
        Its opponents, with commas: strategies by name or file.
    matches
        How many matches against each.
    game
        What to play; skill counts in tic_tac_toe, and next to nothing in even_odd.
    seed
        The same seed gives the same draws and the same opponents.
    json
        Print one JSON document.
    """
    opponents = [name.strip() for name in vs.split(",")]
    for name in opponents:
        load_brain(name)  # a strategy that is not there is said so before anything starts
    exercise = Exercise(endpoint_of(agent), opponents, matches, known_game(game), seed)
    course = run(practise(exercise))
    if json:
        print(json_module.dumps(_document(course), indent=2))
    else:
        _show(course)
    if any(one.met is False for one in criteria(course)):
        sys.exit(Exit.NO)


def _document(course: Course) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "agent": course.exercise.agent,
        "game_type": course.exercise.game_type,
        "opponents": [_row(tally) for tally in tallies(course)],
        "criteria": [asdict(one) for one in criteria(course)],
        "milliseconds": _latency(course),
    }


def _row(tally: Tally) -> dict[str, Any]:
    ceiling = tally.ceiling._asdict() if tally.ceiling else None
    measured = {"win_rate": tally.win_rate._asdict(), "points_per_match": round(tally.points, 4)}
    return {**asdict(tally), **measured, "ceiling": ceiling}


def _latency(course: Course) -> dict[str, float]:
    """Return how long half, and all but one in a hundred, of the answers took at most."""
    times = [one.seconds * 1000 for one in course.exchanges]
    cuts = statistics.quantiles(times, n=100) if len(times) > 1 else [*times, 0.0] * 50
    return {"p50": round(cuts[49], 1), "p99": round(cuts[98], 1)}


def _show(course: Course) -> None:
    console = Console(highlight=False)
    console.print(_table(course))
    latency = _latency(course)
    console.print(f"\nanswers: {latency['p50']:g} ms (half), {latency['p99']:g} ms (99 %)\n")
    for one in criteria(course):
        console.print(Text(f"{MARKS[one.met]} {one.demand}: {one.measured}"), soft_wrap=True)


def _table(course: Course) -> Table:
    shown = Table(box=None, pad_edge=False, header_style="bold")
    shown.add_column("against")
    heads = ("P", "W", "D", "L", "technical", "wins, 95 %", "ceiling", "points a match", "ceiling")
    for head in heads:
        shown.add_column(head, justify="right")
    for tally in tallies(course):
        counts = (tally.played, tally.wins, tally.draws, tally.losses, tally.technical_losses)
        wins = tally.win_rate
        best = tally.ceiling
        shown.add_row(
            Text(tally.opponent),
            *map(str, counts),
            f"{wins.value:.1%} ({wins.low:.0%} to {wins.high:.0%})",
            f"{best.win_rate:.0%}" if best else "none",
            f"{tally.points:.2f}",
            f"{best.points:.2f}" if best else "none",
        )
    return shown
