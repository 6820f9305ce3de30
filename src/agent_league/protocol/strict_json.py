"""What makes JSON ambiguous or dangerous although a parser takes it: such a body is refused as a whole.

Parsers disagree about repeated keys, `NaN` and half characters, so two readers of one body could
see two messages. To look for all of that takes longer than to read a message; calls about a match,
which are right in nearly all cases, are only searched for a second token.
"""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec

DEEPEST = 100
"""How many levels of lists and objects a body may have."""
HIDDEN = b'"***"'
"""What stands in a transcript in place of a token."""
_TOKEN_KEY = b'"auth_token"'
_HIDDEN_TOKEN = b'"auth_token":' + HIDDEN


class _FaultError(ValueError):
    """The text says what is wrong."""


def has_more_tokens(body: bytes, most: int) -> bool:
    """Whether *body* may have more than *most* tokens, so that it has to be looked at closely."""
    found = body.count(_TOKEN_KEY)
    return found > most and found - body.count(_HIDDEN_TOKEN) > most


def find_json_fault(body: bytes) -> str | None:
    """Return why *body* is refused, whatever it means; None if it is JSON with one meaning."""
    try:
        msgspec.json.decode(body)  # refuses NaN, halves of characters, and what is not UTF-8
        if body.count(b"[") + body.count(b"{") > DEEPEST and _is_too_deep(body):
            return f"more than {DEEPEST} levels of lists and objects"
        json.loads(body, object_pairs_hook=_check_keys, parse_constant=_refuse_constant)
    except _FaultError as error:
        return str(error)
    except RecursionError:
        return f"more than {DEEPEST} levels of lists and objects"
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        return str(error)
    return None


def _check_keys(pairs: Sequence[tuple[str, Any]]) -> None:
    keys = [key for key, _ in pairs]
    if len({*keys}) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _FaultError(f"the key {twice[:60]!r} is there twice")


def _refuse_constant(text: str) -> NoReturn:
    raise _FaultError(f"{text} is not a number")


def _is_too_deep(body: bytes) -> bool:
    """Whether lists and objects, outside of texts, are nested too deeply."""
    depth = 0
    for number, part in enumerate(body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')):
        if number % 2:
            continue  # a text
        for byte in part:
            depth += (byte in b"[{") - (byte in b"]}")
            if depth > DEEPEST:
                return True
    return False
