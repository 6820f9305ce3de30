"""Finds the move in an answer that a model may have written in its own words."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from agent_league.vocabulary import Json

MOVE_KEYS = ("parity_choice", "choice", "move")
"""The names that a tool may give to its move."""
MAX_TEXT = 10_000
"""How much of a text is looked at."""

_FENCED = re.compile(r"```\w*\s(.*?)```", re.DOTALL)
_WORD = re.compile(r"[\w-]+")
_AROUND = " \t\r\n.,;:!?'\"`*()[]"
_encode = msgspec.json.Encoder(order="deterministic").encode


def find_legal_move(answer: Json, legal: Sequence[Json]) -> Json | UnsetType:
    """Return the one legal move that *answer* can mean; UNSET if it means none, or several."""
    by_text = {_normalize(move): move for move in legal}
    for texts in (map(_normalize, _iter_values(answer)), _iter_words(answer)):
        found = {text for text in texts if text in by_text}
        if found:
            return by_text[found.pop()] if len(found) == 1 else UNSET
    return UNSET


def _normalize(value: Json) -> str:
    """Return *value* as text; what stands around a word, and its capitals, do not count."""
    if isinstance(value, str):
        return value.strip(_AROUND).casefold()
    return _encode(value).decode()


def _iter_values(answer: Json) -> Iterator[Json]:
    """Yield what may be the move itself: the answer, a part of it, or JSON in its text."""
    if isinstance(answer, str):
        text = answer[:MAX_TEXT]
        for piece in (text, *_FENCED.findall(text), *text.splitlines()):
            yield from _iter_fields(_parse_json(piece))
    else:
        yield from _iter_fields(answer)


def _iter_fields(value: Json) -> Iterator[Json]:
    if isinstance(value, Mapping):
        yield from (value[key] for key in MOVE_KEYS if key in value)
    else:
        yield value


def _iter_words(answer: Json) -> Iterator[str]:
    for text in _iter_fields(answer):
        if isinstance(text, str):
            yield from _WORD.findall(text[:MAX_TEXT].casefold())


def _parse_json(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return text
