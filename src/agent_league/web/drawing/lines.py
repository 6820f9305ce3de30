"""Points by round, as lines."""

from collections.abc import Sequence
from html import escape

from markupsafe import Markup

WIDTH, HEIGHT, LEFT, BASE = 680, 240, 40, 205


def draw_lines(series: Sequence[tuple[str, Sequence[int]]]) -> Markup:
    """Return a chart with one line for each name and its values."""
    highest = max((value for _, values in series for value in values), default=0) or 1
    lines = "".join(_draw_line(number, *one, highest) for number, one in enumerate(series))
    rounds = max((len(values) for _, values in series), default=1) - 1
    marks = "".join(
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{y:.0f}" y2="{y:.0f}"/>'
        f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.0f}">{value}</text>'
        for value in (0, highest // 2, highest)
        for y in [_place(value, highest)]
    )
    label = escape(f"Points after each of {rounds} rounds")
    return Markup(  # noqa: S704 - every text in it is escaped
        f'<svg class="lines" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{marks}{lines}'
        f'<text class="tick end" x="{WIDTH}" y="{BASE + 22}">round {rounds}</text></svg>'
    )


def _place(value: int, highest: int) -> float:
    return BASE - 180 * value / highest


def _draw_line(number: int, name: str, values: Sequence[int], highest: int) -> str:
    step = (WIDTH - LEFT) / max(1, len(values) - 1)
    points = " ".join(
        f"{LEFT + step * place:.1f},{_place(value, highest):.1f}"
        for place, value in enumerate(values)
    )
    return (
        f'<g class="line-{number}"><title>{escape(name)}</title><polyline points="{points}"/></g>'
    )
