"""Text of third parties, as it may reach a terminal, a log or a spreadsheet."""

import json
import re
from typing import Any

CONTROL_CHARACTERS = "\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
"""Ranges for a pattern: what controls a terminal, changes the direction of writing, or hides."""
_HIDDEN = re.compile(f"[{CONTROL_CHARACTERS}\ud800-\udfff]")


def make_printable(text: str, *, keep: str = "") -> str:
    r"""Return *text* with `\u001b` in place of an escape code, and so on; JSON stays the same JSON.

    That is every character that controls a terminal, changes the direction of writing, or cannot
    be seen, except those to *keep*.
    """

    def escape(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}"

    return _HIDDEN.sub(escape, text)


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 match` or `2 matches`."""
    ending = "" if number == 1 else "es" if noun.endswith(("ch", "s")) else "s"
    return f"{number} {noun}{ending}"


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""The first characters of a cell that a spreadsheet would compute."""


def format_cell(value: Any) -> str:
    """Return *value* as a cell; text that a spreadsheet would take for a formula is quoted."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return json.dumps(value)
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value
