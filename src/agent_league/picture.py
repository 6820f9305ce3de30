"""Pictures of a game: a table of cells, drawn as text for terminals and models, and as SVG for pages."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from agent_league.vocabulary import Json

CELL = 40
"""The side of a cell in an SVG, in pixels; a cell with a longer text is wider."""
LETTER = 9
EMPTY = "."
"""What stands for an empty cell in a text."""


class Picture(NamedTuple):
    """A board, cards or a history: rows of cells, each with a short text, and a line below."""

    rows: Sequence[Sequence[str]]
    caption: str = ""


def draw_fields(shown: Json) -> Picture:
    """Return the picture of a game that has none of its own: the names and values of its fields."""
    fields = shown.items() if isinstance(shown, Mapping) else [("shown", shown)]
    return Picture([[str(name), _shorten(value)] for name, value in fields])


def draw_text(picture: Picture) -> str:
    """Return *picture* as lines of text."""
    width = max((len(cell) for row in picture.rows for cell in row), default=1)
    lines = [
        " ".join((cell or EMPTY).ljust(width) for cell in row).rstrip() for row in picture.rows
    ]
    return "\n".join([*lines, picture.caption] if picture.caption else lines)


def draw_svg(picture: Picture) -> str:
    """Return *picture* as an SVG, in the colour of the text around it."""
    longest = max((len(cell) for row in picture.rows for cell in row), default=1)
    wide = max(CELL, LETTER * (longest + 2))
    columns, rows = max(map(len, picture.rows), default=0), len(picture.rows)
    width, height = columns * wide, rows * CELL + (CELL if picture.caption else 0)
    width = max(width, LETTER * (len(picture.caption) + 2))
    cells = [
        _draw_cell(cell, column * wide, row * CELL, wide)
        for row, cells in enumerate(picture.rows)
        for column, cell in enumerate(cells)
    ]
    caption = escape(picture.caption)
    below = f'<text x="4" y="{rows * CELL + 26}">{caption}</text>' if caption else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" fill="currentColor" font-family="sans-serif" '
        f'font-size="16"><title>{caption or "the game"}</title>{"".join(cells)}{below}</svg>'
    )


def _draw_cell(text: str, x: int, y: int, wide: int) -> str:
    frame = (
        f'<rect x="{x + 1}" y="{y + 1}" width="{wide - 2}" height="{CELL - 2}" rx="4" '
        'fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
    )
    faint = ' fill-opacity="0.35"' if text.isdigit() else ""  # the number of a free cell
    middle = f'x="{x + wide // 2}" y="{y + 26}" text-anchor="middle"'
    return f"{frame}<text {middle}{faint}>{escape(text)}</text>" if text else frame


def _shorten(value: Json) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line of a terminal
