"""The messages of a match as a sequence diagram."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markupsafe import Markup

LEFT, GAP, ROW, TOP = 88, 262, 40, 64
_SHORT, _SHORT_NAME = 40, 24
LEAGUE = "league_manager"
LAST_STEP = 10_000
"""The number of the report, which comes after all messages."""


def draw_sequence(
    messages: Sequence[Mapping[str, Any]], lanes: Mapping[str, str], took_ms: float | None
) -> Markup:
    """Return the diagram of *messages* between *lanes*: for each sender the heading of its line.

    The order of the league comes first, and after *took_ms* the report of the referee.
    """
    order, report = _frame(lanes, took_ms)
    messages = [*order, *messages, *report]
    places = {sender: LEFT + 110 + GAP * number for number, sender in enumerate(lanes)}
    width = LEFT + 110 + GAP * (len(lanes) - 1) + 110
    height = TOP + ROW * len(messages) + 16
    heads = "".join(_draw_lane(places[who], lanes[who], height) for who in lanes)
    arrows = "".join(
        _draw_message(one, places, TOP + ROW * row + 14)
        for row, one in enumerate(messages)
        if one["sender"] in places and one["receiver"] in places
    )
    label = f"{len(messages)} messages in the order in which they were sent; a table follows below."
    return Markup(  # noqa: S704 - every text in it is escaped where it is drawn
        f'<svg class="sequence" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{label}">{heads}{arrows}</svg>'
    )


def _frame(
    lanes: Mapping[str, str], took_ms: float | None
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return the message with which a match begins, and the one with which it ends, if known."""
    referee = next((one for one in lanes if one.startswith("referee:")), None)
    if referee is None or took_ms is None or LEAGUE not in lanes:
        return [], []
    same = {"kind": "message", "brief": "", "took_ms": None, "limit_ms": None, "attempt": 1}
    order = {"sender": LEAGUE, "receiver": referee, "type": "START_MATCH", "offset_ms": 0.0}
    report = {"sender": referee, "receiver": LEAGUE, "type": "MATCH_RESULT_REPORT"}
    return [same | order | {"number": 0}], [
        same | report | {"offset_ms": took_ms, "number": LAST_STEP}
    ]


def _draw_lane(x: int, name: str, height: int) -> str:
    short = name if len(name) <= _SHORT_NAME else f"{name[: _SHORT_NAME - 1]}…"
    return (
        f'<g><title>{escape(name)}</title><line class="lane" x1="{x}" x2="{x}" y1="44" y2="{height}"/>'
        f'<rect class="head" x="{x - 106}" y="12" width="212" height="32" rx="8"/>'
        f'<text class="lane-name" x="{x}" y="33">{escape(short)}</text></g>'
    )


def _draw_message(one: Mapping[str, Any], places: Mapping[str, int], y: int) -> str:
    start, end = places[one["sender"]], places[one["receiver"]]
    way = 1 if end > start else -1
    tip = f"{end - 7 * way},{y - 4} {end},{y} {end - 7 * way},{y + 4}"
    kind = "failed" if one["kind"] == "error" else "reply" if one["took_ms"] is not None else "call"
    again = f" (attempt {one['attempt']})" if one["attempt"] > 1 else ""
    brief = f": {one['brief']}" if one["brief"] else ""
    text = f"{one['type']}{again}{brief}"
    text = text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"
    timing = _draw_timing(one, (start + end) // 2, y)
    return (
        f'<g class="{kind}" data-step="{one["number"]}">'
        f'<text class="time" x="{LEFT - 14}" y="{y + 4}">{_format_ms(one["offset_ms"])}</text>'
        f'<line x1="{start}" x2="{end}" y1="{y}" y2="{y}"/><polyline points="{tip}"/>'
        f'<text class="label" x="{(start + end) // 2}" y="{y - 6}">{escape(text)}</text>{timing}</g>'
    )


def _draw_timing(one: Mapping[str, Any], middle: int, y: int) -> str:
    """Return the time that a reply took, and how much of its limit that is."""
    took, limit = one["took_ms"], one["limit_ms"]
    if took is None:
        return ""
    of_limit = f" of {_format_ms(limit)}" if limit else ""
    share = min(1.0, took / limit) if limit else 0.0
    return (
        f'<text class="timing" x="{middle}" y="{y + 13}">{_format_ms(took)}{of_limit}</text>'
        f'<rect class="limit" x="{middle - 40}" y="{y + 17}" width="80" height="3" rx="1.5"/>'
        f'<rect class="used" x="{middle - 40}" y="{y + 17}" width="{max(1.5, 80 * share):.1f}" height="3" rx="1.5"/>'
    )


def _format_ms(milliseconds: float) -> str:
    if 0 < milliseconds < 1:
        return "&lt;1 ms"
    if milliseconds < 1000:  # noqa: PLR2004 - a second
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.3g} s"
