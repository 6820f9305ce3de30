"""How long answers took, as bars on a scale of tens, with the limit beside them."""

from collections.abc import Sequence
from html import escape

from markupsafe import Markup

EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""The upper ends of the bars, in milliseconds."""
WIDTH, HEIGHT, BASE = 640, 190, 150


def count_bars(times: Sequence[float]) -> list[int]:
    """Return how many *times* fall below each edge and not below the one before."""
    counts = [0] * (len(EDGES) + 1)
    for time in times:
        counts[sum(time >= edge for edge in EDGES)] += 1
    return counts


def draw_latencies(times: Sequence[float], limit_ms: float) -> Markup:
    """Return the histogram of *times* in milliseconds; a line shows the limit."""
    counts = count_bars(times)
    highest, step = max(counts) or 1, WIDTH / len(counts)
    bars = "".join(
        _draw_bar(number, count, highest, step) for number, count in enumerate(counts) if count
    )
    ticks = "".join(
        f'<text class="tick" x="{(number + 1) * step:.0f}" y="{BASE + 18}">{_format_edge(edge)}</text>'
        for number, edge in enumerate(EDGES)
        if number % 3 == 0
    )
    place = (sum(limit_ms > edge for edge in EDGES) + 1) * step
    limit = (
        f'<line class="limit-line" x1="{place:.0f}" x2="{place:.0f}" y1="14" y2="{BASE}"/>'
        f'<text class="limit-text" x="{place - 6:.0f}" y="24">limit {limit_ms / 1000:g} s</text>'
    )
    label = escape(
        f"{len(times)} answers by the time that they took; the limit is {limit_ms / 1000:g} seconds."
    )
    return Markup(  # noqa: S704 - only numbers and our own words
        f'<svg class="histogram" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f'{bars}<line class="axis" x1="0" x2="{WIDTH}" y1="{BASE}" y2="{BASE}"/>{ticks}{limit}</svg>'
    )


def _draw_bar(number: int, count: int, highest: int, step: float) -> str:
    height = max(2.0, 110 * count / highest)
    x, top = number * step + 3, BASE - height
    return (
        f'<g><title>{count}</title><rect class="bar" x="{x:.1f}" y="{top:.1f}" width="{step - 6:.1f}" '
        f'height="{height:.1f}" rx="3"/>'
        f'<text class="count" x="{x + step / 2 - 3:.1f}" y="{top - 5:.1f}">{count}</text></g>'
    )


def _format_edge(edge: int) -> str:
    return f"{edge} ms" if edge < 1000 else f"{edge // 1000} s"  # noqa: PLR2004 - a second
