"""The convergence of a lab as an SVG: points a match after so many matches, a line for each strategy."""

from collections.abc import Mapping, Sequence
from math import ceil, floor
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN, LEGEND = 760, 420, 50, 200
STEPS = 200
"""How many points a line has at most."""
STEP_SIZES, MOST_STEPS = (0.05, 0.1, 0.25, 0.5, 1.0, 10.0), 6
"""How far apart the lines of the scale may be, and how many of these distances it has."""
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")
DASHES = ("", "6 3", "2 3")


def draw_convergence(title: str, lines: Mapping[str, Sequence[float]]) -> str:
    """Return the plot of *lines*, each a value after every match."""
    matches = max((len(line) for line in lines.values()), default=1)
    settled = [value for line in lines.values() for value in line[len(line) // 20 :]]
    low, high = min(settled, default=0.0), max(settled, default=1.0)
    step = next(one for one in STEP_SIZES if (high - low) / one <= MOST_STEPS)
    low, high = floor(low / step) * step, ceil(high / step + 0.001) * step
    drawn = [
        _draw_line(number, name, _thin_out(line, matches, low, high))
        for number, (name, line) in enumerate(lines.items())
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {WIDTH + LEGEND} {HEIGHT}" font-family="sans-serif" font-size="12">'
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="white"/>'
        f'<text x="{MARGIN}" y="20" font-size="14">{escape(title)}</text>'
        f"{_draw_axes(matches, low, high, step)}{''.join(drawn)}</svg>"
    )


def _thin_out(
    line: Sequence[float], matches: int, low: float, high: float
) -> list[tuple[float, float]]:
    """Return at most `STEPS` points of *line*, as places in the plot."""
    step = max(1, len(line) // STEPS)
    shown = [*range(step - 1, len(line), step)]
    return [
        (
            _place_match(number + 1, matches),
            _place_value(min(max(line[number], low), high), low, high),
        )
        for number in shown
    ]


def _place_match(number: int, matches: int) -> float:
    return round(MARGIN + (WIDTH - 2 * MARGIN) * number / matches, 1)


def _place_value(value: float, low: float, high: float) -> float:
    return round(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (value - low) / (high - low), 1)


def _draw_axes(matches: int, low: float, high: float, step: float) -> str:
    bottom, right = HEIGHT - MARGIN, WIDTH - MARGIN
    values = [low + step * number for number in range(round((high - low) / step) + 1)]
    marks = [
        f'<text x="{MARGIN - 6}" y="{_place_value(value, low, high) + 4}" text-anchor="end">'
        f'{value:.2f}</text><line x1="{MARGIN}" x2="{right}" y1="{_place_value(value, low, high)}" '
        f'y2="{_place_value(value, low, high)}" stroke="#ddd"/>'
        for value in values
    ]
    numbers = [
        f'<text x="{_place_match(matches * part // 4, matches)}" y="{bottom + 18}" '
        f'text-anchor="middle">{matches * part // 4}</text>'
        for part in range(5)
    ]
    label = f'<text x="{WIDTH // 2}" y="{HEIGHT - 10}" text-anchor="middle">matches a pair</text>'
    return "".join([*marks, *numbers, label])


def _draw_line(number: int, name: str, places: Sequence[tuple[float, float]]) -> str:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
    style = f'stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}"'
    points = " ".join(f"{x},{y}" for x, y in places)
    y = MARGIN + 16 * number
    return (
        f'<polyline fill="none" {style} points="{points}"/>'
        f'<line x1="{WIDTH - 30}" x2="{WIDTH - 10}" y1="{y}" y2="{y}" {style}/>'
        f'<text x="{WIDTH - 4}" y="{y + 4}">{escape(name)}</text>'
    )
