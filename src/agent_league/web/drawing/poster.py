"""The final table as one picture that people want to share."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from agent_league.printable import format_count

WIDTH, ROW, TOP, SHOWN, SHORT = 1200, 58, 476, 16, 30
_MEDALS = ("#f0b429", "#b8c1cc", "#cd8b5b")
_FONT = "Georgia, 'Noto Serif', serif"
_SANS = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"


def draw_poster(league: Mapping[str, Any], standings: Sequence[Mapping[str, Any]]) -> str:
    """Return an SVG file with the podium and the best rows of the table."""
    rows = standings[3:SHOWN]
    height = TOP + ROW * len(rows) + 120
    more = len(standings) - len(rows) - min(3, len(standings))
    rest = f"and {more} more" if more > 0 else ""
    name = f"{league['league_id'][:40]} · {league['game_type']}"
    title = standings[0]["name"] if standings else league["league_id"]
    about = f"wins {name}" if league["is_over"] else f"leads {name}" if standings else name
    players = format_count(league["players"], "player")
    footer = f"{players} · {format_count(league['matches'], 'match')} · {league['date']}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="Final table of {escape(league["league_id"])}">'
        f'<rect width="{WIDTH}" height="{height}" fill="#0e2c2a"/>{_draw_net()}'
        f"{_write(80, 96, 'AGENT LEAGUE', 22, '#7fd8be', font=_SANS, spacing=6)}"
        f"{_write(80, 160, _shorten(title, 32), 54, '#f6f3ea', weight=600)}"
        f"{_write(80, 204, about, 24, '#9db8b1', font=_SANS)}"
        f"{''.join(_draw_step(place, row) for place, row in enumerate(standings[:3]))}"
        f"{_draw_heads() if rows else ''}"
        f"{''.join(_draw_row(number, row) for number, row in enumerate(rows))}"
        f"{_write(80, height - 50, footer, 20, '#9db8b1', font=_SANS)}"
        f"{_write(WIDTH - 80, height - 50, rest, 20, '#9db8b1', font=_SANS, anchor='end')}</svg>\n"
    )


def _draw_net() -> str:
    """Return the mark of the league, large and faint: everybody meets everybody."""
    points = ((1040, 40), (1120, 98), (1089, 192), (991, 192), (960, 98))
    lines = "".join(
        f'<path d="M{x} {y}L{u} {v}"/>'
        for n, (x, y) in enumerate(points)
        for u, v in points[n + 1 :]
    )
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="9"/>' for x, y in points)
    return f'<g stroke="#7fd8be" opacity=".16" stroke-width="2" fill="#7fd8be">{lines}{dots}</g>'


def _draw_step(place: int, row: Mapping[str, Any]) -> str:
    left, colour = 80 + place * 355, _MEDALS[place]
    points = format_count(row["points"], "point")
    record = f"{row['wins']} won · {row['draws']} drawn · {row['losses']} lost"
    return (
        f'<rect x="{left}" y="250" width="330" height="180" rx="16" fill="#143b38"/>'
        f'<rect x="{left}" y="250" width="330" height="6" rx="3" fill="{colour}"/>'
        f"{_write(left + 24, 296, f'{place + 1}. place', 20, colour)}"
        f"{_write(left + 24, 340, _shorten(row['name'], 20), 29, '#f6f3ea', weight=600)}"
        f"{_write(left + 24, 382, points, 24, '#f6f3ea', font=_SANS)}"
        f"{_write(left + 24, 412, record, 17, '#9db8b1', font=_SANS)}"
    )


def _draw_heads() -> str:
    """Return what the columns of the table mean."""
    record = _write(
        WIDTH - 260, TOP - 2, "won / drawn / lost", 16, "#9db8b1", font=_SANS, anchor="end"
    )
    return record + _write(WIDTH - 80, TOP - 2, "points", 16, "#9db8b1", font=_SANS, anchor="end")


def _draw_row(number: int, row: Mapping[str, Any]) -> str:
    y = TOP + ROW * number + 38
    record = f"{row['wins']} / {row['draws']} / {row['losses']}"
    return (
        f'<line x1="80" x2="{WIDTH - 80}" y1="{y + 20}" y2="{y + 20}" stroke="#1d4a46"/>'
        f"{_write(120, y, str(row['rank']), 24, '#7fd8be', font=_SANS, anchor='end')}"
        f"{_write(150, y, _shorten(row['name'], SHORT), 26, '#f6f3ea')}"
        f"{_write(WIDTH - 260, y, record, 22, '#9db8b1', font=_SANS, anchor='end')}"
        f"{_write(WIDTH - 80, y, str(row['points']), 28, '#f6f3ea', font=_SANS, anchor='end', weight=700)}"
    )


def _shorten(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _write(x: int, y: int, text: str, size: int, colour: str, **more: Any) -> str:
    """Return a line of text; its direction does not spill into what stands beside it."""
    options = {"font": _FONT, "anchor": "start", "weight": 400, "spacing": 0} | more
    return (
        f'<text x="{x}" y="{y}" font-family="{options["font"]}" font-size="{size}" fill="{colour}" '
        f'font-weight="{options["weight"]}" text-anchor="{options["anchor"]}" '
        f'letter-spacing="{options["spacing"]}" unicode-bidi="isolate">{escape(text)}</text>'
    )
