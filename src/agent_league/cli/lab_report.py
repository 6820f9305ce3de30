"""What a lab found: as tables for people, and as a document."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from agent_league.cli.console import make_table, print_document, show
from agent_league.lab.crosstable import Row, find_uncertain
from agent_league.lab.series import Met
from agent_league.lab.tournament import LabPlan
from agent_league.practice.criteria import Rate
from agent_league.printable import format_count

CELL = 5
LONGEST_NAME = 16


def print_lab(plan: LabPlan, rows: Sequence[Row], results: Sequence[Met], seconds: float) -> None:
    columns = dict(_list_columns(rows, results))
    names = [row.strategy for row in rows]
    lines = zip(range(1, len(rows) + 1), names, *columns.values(), strict=True)
    show(make_table(("#", "strategy", *columns), [list(line) for line in lines], ("#", *columns)))
    show("", *draw_crosstable(rows, shutil.get_terminal_size().columns), soft_wrap=True)
    how = f"{format_count(plan.matches, 'match')} a pair, seed {plan.seed}, {seconds:.1f} s"
    show(f"\n{plan.game_type}: {how}, {_describe_speed(results, seconds)}", soft_wrap=True)
    show(f"A win is 3 points, a draw 1. {_explain_ceiling(rows)}", soft_wrap=True)
    for sentence in (*_explain_order(rows), *_explain_fallbacks(results)):
        show(Text(sentence), soft_wrap=True)


def _list_columns(
    rows: Sequence[Row], results: Sequence[Met]
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the columns that have something to tell in this game."""
    yield "points a match, 95 %", [_format_points(row.points) for row in rows]
    if any(row.ceiling for row in rows):
        yield "ceiling", [f"{row.ceiling.points:.3f}" if row.ceiling else "-" for row in rows]
    yield "wins", [f"{row.win_rate.value:.1%}" for row in rows]
    if any(met.scores != (0.0, 0.0) for met in results):
        yield "score a turn", [f"{row.score:.3f}" for row in rows]


def _format_points(points: Rate) -> str:
    return f"{points.value:.3f} ± {(points.high - points.low) / 2:.3f}"


def _describe_speed(results: Sequence[Met], seconds: float) -> str:
    matches, turns = sum(len(met.endings) for met in results), sum(met.turns for met in results)
    per_second = [count / max(seconds, 0.001) for count in (matches, turns)]
    one, other = (f"{rate:.0f}" if rate >= CELL else f"{rate:.2f}" for rate in per_second)
    return f"{one} matches and {other} turns a second"


def draw_crosstable(rows: Sequence[Row], width: int) -> Iterator[Text]:
    """Yield the points of each against each, in as many blocks of columns as the screen needs."""
    places = {row.strategy: number for number, row in enumerate(rows)}
    cells = [_list_cells(row, places) for row in rows]
    longest = min(LONGEST_NAME, max(len(row.strategy) for row in rows))
    labels = [f"{n:>2}  {row.strategy[:longest]:{longest}}" for n, row in enumerate(rows, 1)]
    fitting = max(1, (width - len(labels[0])) // CELL)
    blocks = -(-len(rows) // fitting)
    size = -(-len(rows) // blocks)
    for begin in range(0, len(rows), size):
        if begin:
            yield Text()
        numbers = range(begin + 1, min(begin + size, len(rows)) + 1)
        yield Text(f"{'':{len(labels[0])}}{''.join(f'{n:>{CELL}}' for n in numbers)}", style="bold")
        for label, line in zip(labels, cells, strict=True):
            yield Text(f"{label}{''.join(f'{cell:>{CELL}}' for cell in line[begin:][:size])}")


def _list_cells(row: Row, places: Mapping[str, int]) -> list[str]:
    """Return the points against each, in the order of the table."""
    cells = ["-"] * len(places)
    for duel in row.duels:
        cells[places[duel.opponent]] = f"{duel.points.value:.2f}"
    return cells


def _explain_ceiling(rows: Sequence[Row]) -> str:
    if not any(row.ceiling for row in rows):
        return "No ceiling is known for this game."
    return "The ceiling is the most that any strategy can expect against the same opponents."


def _explain_order(rows: Sequence[Row]) -> Iterator[str]:
    """Yield which neighbours may be neighbours by chance."""
    pairs = find_uncertain(rows)
    if not pairs:
        yield "The order is significant (95 %)."
    elif len(pairs) == len(rows) - 1:
        yield "The order of no neighbours is significant (95 %): play more matches with -n."
    else:
        listed = ", ".join(f"{one + 1} and {one + 2}" for one in pairs)
        yield f"The order of these neighbours is not significant (95 %): {listed}."


def _explain_fallbacks(results: Sequence[Met]) -> Iterator[str]:
    """Yield whose moves were replaced, because it had no legal one to give."""
    for name, count in count_fallbacks(results).items():
        yield f"{name} gave no legal move {count} times; a random one was played instead."


def count_fallbacks(results: Sequence[Met]) -> dict[str, int]:
    """Return how many moves of each strategy were replaced by random ones."""
    counts: dict[str, int] = {}
    for met in results:
        for name, count in zip((met.meeting.first, met.meeting.second), met.fallbacks, strict=True):
            if count:
                counts[name] = counts.get(name, 0) + count
    return counts


def print_lab_json(
    plan: LabPlan, rows: Sequence[Row], results: Sequence[Met], seconds: float
) -> None:
    print_document(
        game_type=plan.game_type,
        options=dict(plan.options),
        seed=plan.seed,
        matches_a_pair=plan.matches,
        seconds=round(seconds, 3),
        turns=sum(met.turns for met in results),
        strategies=[_describe_row(row) for row in rows],
        not_significant=[
            [rows[one].strategy, rows[one + 1].strategy] for one in find_uncertain(rows)
        ],
        replaced_moves=count_fallbacks(results),
    )


def _describe_row(row: Row) -> dict[str, Any]:
    return {
        "strategy": row.strategy,
        "played": row.played,
        "points_per_match": round_rate(row.points),
        "win_rate": round_rate(row.win_rate),
        "score_per_turn": round(row.score, 4),
        "ceiling": row.ceiling._asdict() if row.ceiling else None,
        "against": {duel.opponent: round_rate(duel.points) for duel in row.duels},
    }


def round_rate(measured: Rate) -> dict[str, float]:
    return {name: round(value, 4) for name, value in measured._asdict().items()}
