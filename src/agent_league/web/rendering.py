"""Makes HTML of the data of a page. Every text is escaped, wherever it comes from."""

from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from agent_league.printable import make_printable
from agent_league.web.drawing.game_picture import draw_record
from agent_league.web.drawing.histogram import draw_latencies
from agent_league.web.drawing.lines import draw_lines
from agent_league.web.drawing.sequence import draw_sequence

HERE = Path(__file__).parent
STATIC = HERE / "static"
Link = Callable[[str], str]
"""Returns the address of a page or a file, given its path in a league."""


@cache
def make_environment() -> Environment:
    """Return the environment of all templates; they are read and compiled once."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    environment.filters |= {
        "name": show_name,
        "ms": show_milliseconds,
        "clock": show_clock,
        "size": show_size,
    }
    environment.globals |= {
        "draw_lines": draw_lines,
        "draw_record": draw_record,
        "draw_sequence": draw_sequence,
        "draw_latencies": draw_latencies,
        "MARKS": MARKS,
        "EVENT_MARKS": EVENT_MARKS,
        "abs": abs,
    }
    return environment


def render(template: str, link: Link, context: Mapping[str, Any]) -> str:
    """Return the HTML of a template; *link* makes its addresses."""
    return make_environment().get_template(template).render(context, link=link)


MARKS: Mapping[str, tuple[str, str]] = {
    "W": ("win", "won"),
    "D": ("draw", "drew"),
    "L": ("loss", "lost"),
    "T": ("technical", "technical loss"),
    "V": ("void", "void"),
    "": ("open", "not played yet"),
}
"""For each mark its class and its meaning: colour never says something alone."""
EVENT_MARKS: Mapping[str, str] = {
    "win": "●",
    "draw": "◐",
    "round": "▸",
    "order": "⚑",
    "agent": "+",
    "trouble": "!",
}
UNKNOWN = "\N{EN DASH}"


def show_name(name: object) -> Markup:
    """Return a name of somebody else: cut off from the text around it, whatever its script."""
    return Markup("<bdi>{}</bdi>").format(make_printable(str(name)))


def show_milliseconds(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if value < 1:
        return "<1 ms" if value > 0 else "0 ms"
    if value < 10:  # noqa: PLR2004 - here a tenth still matters
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.3g} s"  # noqa: PLR2004 - a second


def show_size(bytes_: float) -> str:
    """Return how much room that is, in the unit that suits it."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if bytes_ < 1000:  # noqa: PLR2004 - of each unit
            return f"{bytes_:.3g} {unit}"
        bytes_ /= 1000
    return f"{bytes_:.3g} TB"


def show_clock(at: str | None) -> Markup:
    """Return a moment as a time of day; the page has the whole of it."""
    if not at:
        return Markup(UNKNOWN)  # noqa: S704 - our own
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at, at, at[11:19])


@cache
def read_asset(name: str) -> bytes | None:
    """Return a file that all pages share, or None if there is none of that name."""
    known = {path.name: path for path in STATIC.iterdir()}
    return known[name].read_bytes() if name in known else None


@cache
def hash_asset(name: str) -> str:
    """Return what changes with the content of a file, so that browsers may keep it for ever."""
    return sha256(read_asset(name) or b"").hexdigest()[:12]
