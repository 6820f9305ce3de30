"""What agents send, as it may be printed: without secrets, on one line, and not too long."""

import re
from contextlib import suppress

import msgspec

from agent_league.protocol.explain import mask_secrets

MAX_LENGTH = 600
_TOKEN = re.compile(r"\b(tok|tkt)[_-][\w.~-]+")
_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"


def format_body(raw: bytes) -> str:
    """Return a body as it may be printed."""
    with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raw = msgspec.json.encode(mask_secrets(msgspec.json.decode(raw)))
    # Cut more than is shown, so that no half of a token stays at the end.
    text = sanitize(raw[: 4 * MAX_LENGTH].decode("utf-8", "replace"))
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}... ({len(raw)} bytes)"


def sanitize(text: str) -> str:
    """Return *text* without what looks like a token, and without control characters."""
    printable = "".join(char if char.isprintable() else _UNPRINTABLE for char in text)
    return _TOKEN.sub(r"\1_...", printable)
