"""The messages of a match: which answers which, how long each took, and of what time."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from agent_league.protocol import MESSAGES, Patience, Request, name
from agent_league.web.records import Entry

ANY = ""
_QUESTIONS = {
    name(kind.reply): name(kind) for kind in MESSAGES.values() if issubclass(kind, Request)
}
"""What each kind of reply answers."""
_BRIEF_KEYS = ("parity_choice", "move", "choice", "accept", "error_code", "status")
"""The field of a message that says most, in this order."""


class Exchange(NamedTuple):
    """One message of a match, or a reply that did not come."""

    at: str
    offset_ms: float
    """Since the first message."""
    sender: str
    receiver: str
    kind: str
    """`message`, `error` (there was no usable answer) or `cut` (too long to be kept)."""
    type: str
    brief: str
    content: Any
    took_ms: float | None = None
    """Of a reply: the time since the message that it answers."""
    limit_ms: float | None = None
    """The time that the reply may take."""
    attempt: int = 1
    """How often the same question had been asked by then."""


def read_exchanges(
    entries: Sequence[Entry], patience: Patience, started_at: str | None = None
) -> list[Exchange]:
    """Return the messages of a transcript in order, with what can be computed about them."""
    return list(_walk(entries, patience, started_at))


def _walk(
    entries: Sequence[Entry], patience: Patience, started_at: str | None = None
) -> Iterator[Exchange]:
    start = _parse(started_at or entries[0]["at"]) if entries else 0.0
    asked: dict[tuple[str, str], tuple[float, str]] = {}
    counts: dict[tuple[str, str], int] = {}
    for entry in entries:
        now = _parse(entry["at"])
        kind = next((one for one in ("error", "cut") if one in entry), "message")
        content = entry.get(kind)
        fields = content if isinstance(content, dict) else {}
        sender, receiver = entry["from"], entry["to"]
        common = (entry["at"], (now - start) * 1000, sender, receiver, kind)
        if sender.startswith("referee:"):
            type_ = str(fields.get("message_type", "message"))
            counts[receiver, type_] = attempt = counts.get((receiver, type_), 0) + 1
            asked[receiver, type_] = asked[receiver, ANY] = now, type_
            yield Exchange(*common, type_, "", content, None, None, attempt)
        else:
            # Two questions may have come in one call: the type of a reply says which it answers.
            answered = _QUESTIONS.get(str(fields.get("message_type")), ANY)
            since, question = asked.get((sender, answered), asked.get((sender, ANY), (None, "")))
            took = None if since is None else (now - since) * 1000
            limit = _find_limit(question, patience)
            yield Exchange(
                *common, _name_reply(kind, fields), _brief(kind, content), content, took, limit
            )


def _parse(at: str) -> float:
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0


def _name_reply(kind: str, fields: Mapping[str, Any]) -> str:
    if kind == "error":
        return "no answer"
    return str(fields.get("message_type", "acknowledged" if kind == "message" else "long message"))


def _brief(kind: str, content: Any) -> str:
    if isinstance(content, str):
        return content[:80]
    found = (content.get(key) for key in _BRIEF_KEYS) if isinstance(content, dict) else ()
    value = next((one for one in found if one is not None), "")
    known = {True: "accepts", False: "declines", "ok": ""}
    return known[value] if isinstance(value, (bool, str)) and value in known else str(value)[:40]


@lru_cache(maxsize=256)
def _find_limit(question: str, patience: Patience) -> float | None:
    message = MESSAGES.get(question)
    return getattr(patience, message.route.wait) * 1000 if message else None


def format_raw(content: Any) -> str:
    """Return a message as JSON that a person can read."""
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode()


def make_curl(exchange: Exchange, endpoint: str) -> str | None:
    """Return the command that sends the same message again, if it is one that a player is sent."""
    message = MESSAGES.get(exchange.type)
    if message is None or not message.route.tool or exchange.kind != "message":
        return None
    frame = {"jsonrpc": "2.0", "method": message.route.tool, "params": exchange.content, "id": 1}
    body = msgspec.json.encode(frame).decode()
    return f"curl -s {shlex.quote(endpoint)} -H 'content-type: application/json' -d {shlex.quote(body)}"


def list_latencies(
    transcripts: Iterable[Sequence[Entry]], who: str, patience: Patience
) -> list[float]:
    """Return how many milliseconds each answer of *who* took."""
    return [
        exchange.took_ms
        for entries in transcripts
        for exchange in _walk(entries, patience)
        if exchange.sender == who and exchange.took_ms is not None and exchange.kind == "message"
    ]


def find_percentile(sorted_values: Sequence[float], share: float) -> float | None:
    """Return the value that this share of the values does not exceed."""
    if not sorted_values:
        return None
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]
