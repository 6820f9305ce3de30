"""What happened, event by event: searched, followed, and read by other programs."""

import re
from typing import Any

import msgspec

from agent_league.store.codec import KINDS
from agent_league.web.league_view import Data, LeagueView
from agent_league.web.page import Arguments, Page

SEARCHED = 5000
"""How many of the latest events are searched; `league log --grep` searches all."""
SHOWN = 200
BATCH = 1000
MOST = 6
"""How many parts of a list are shown."""
_HASH = re.compile(r"[0-9a-f]{24,}")
_NOTHING: tuple[Any, ...] = (None, "", [], {})


async def load(view: LeagueView, arguments: Arguments) -> Data:
    words, kind = arguments.get("q", "")[:100], arguments.get("kind", "")
    lines = [
        line
        for line in await _read_latest(view)
        if _fits(line, words.casefold(), kind, arguments.get("agent", ""))
    ]
    return {
        "q": words,
        "kind": kind if kind in KINDS else "",
        "agent": arguments.get("agent", "")[:20],
        "kinds": sorted(KINDS),
        "found": len(lines),
        "searched": min(view.seq, SEARCHED),
        "lines": lines[: -SHOWN - 1 : -1],
    }


async def _read_latest(view: LeagueView) -> list[Data]:
    found: list[Data] = []
    first = max(0, view.seq - SEARCHED)
    while stored := await view.records.read_log(first, BATCH):
        found += [_describe(view, one.seq, one.event) for one in stored]
        first = stored[-1].seq
    if found:
        return found
    return [_describe(view, seq, event) for seq, event in view.latest]  # nothing is kept


def _describe(view: LeagueView, seq: int, event: object) -> Data:
    fields = view.publish(event)  # type: ignore[arg-type]  # an event of any kind
    at, kind = fields.pop("at"), fields.pop("event")
    text = msgspec.json.encode(fields).decode()
    return {"seq": seq, "at": at, "kind": kind, "text": text, "parts": _list_parts(fields)}


def _list_parts(fields: Data) -> list[tuple[str, str]]:
    """Return what people read of an event: its fields that say something, with plain values."""
    return [(key, _shorten(value)) for key, value in fields.items() if value not in _NOTHING]


def _shorten(value: Any) -> str:
    """Return a value in few characters; the page as JSON has the whole of it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        pairs = (f"{key} {_shorten(one)}" for key, one in value.items() if one not in _NOTHING)
        return ", ".join(pairs)
    if isinstance(value, list):
        some = ", ".join(map(_shorten, value[:MOST]))
        return f"{some} and {len(value) - MOST} more" if len(value) > MOST else some
    text = str(value)
    return f"{text[:12]}…" if _HASH.fullmatch(text) else text


def _fits(line: Data, words: str, kind: str, agent: str) -> bool:
    if kind in KINDS and line["kind"] != kind:
        return False
    text = f"{line['kind']} {line['text']}"
    return words in text.casefold() and (not agent or f'"{agent}"' in text)


page = Page("/log", "log.html", "Log", load, menu=(5, "Log"))
