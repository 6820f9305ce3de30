"""What agents say, as it may be printed: without secrets, in one line, and not too long."""

import re
from contextlib import suppress

import msgspec

from agent_league.protocol.reading import SECRETS
from agent_league.vocabulary import Json

LONGEST = 600
_TOKEN = re.compile(r"\b(tok|tkt)[_-][\w.~-]+")
_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"


def shown(raw: bytes) -> str:
    """Return a body as it may be printed."""
    with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raw = msgspec.json.encode(_without_secrets(msgspec.json.decode(raw)))
    # Cut behind what is shown, so that no half of a token stays at the edge.
    text = plain(raw[: 4 * LONGEST].decode("utf-8", "replace"))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(raw)} bytes)"


def plain(text: str) -> str:
    """Return *text* without what looks like a token, and without control characters."""
    printable = "".join(each if each.isprintable() else _UNPRINTABLE for each in text)
    return _TOKEN.sub(r"\1_...", printable)


def _without_secrets(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: "..." if key in SECRETS and inner else _without_secrets(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_without_secrets(inner) for inner in value]
    return value
