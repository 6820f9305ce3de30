"""From an error of msgspec to the field, what was expected there, and what was found."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import inspect

from agent_league.printable import make_printable
from agent_league.vocabulary import Json

SECRETS = frozenset({"auth_token", "ticket"})
"""The fields whose values are never shown."""
_PREVIEW_LENGTH = 60
_LOCATION = re.compile(r" - at `\$\.?(.*)`$")
_STEP = re.compile(r"[^.\[\]]+|\[\d+\]")
_MISSING = re.compile(r"^Object missing required field `([^`]*)`")
_UNKNOWN = re.compile(r"^Object contains unknown field `(.*)`$")
_BROKEN_RULE = re.compile(r"^(\w+) breaks its rule$")
_OWN_ERROR = re.compile(r"^(\w+): expected (.*), got (.*)$", re.DOTALL)
_TYPE_WORDS = {
    "`object`": "an object",
    "`array`": "a list",
    "`str`": "text",
    "`int`": "a whole number",
    "`float`": "a number",
    "`bool`": "true or false",
}


class Explanation(NamedTuple):
    """What is wrong in a document, and where."""

    path: tuple[str, ...]
    """The keys that lead to the field; an item of a list is its number in brackets."""
    expected: str
    got: str
    """What was found there, short and without secrets."""
    rule: Mapping[str, Any]
    """What the type of the field says about itself, beside what is expected."""
    missing: bool = False
    """Whether the field is not there, or is null."""
    known_keys: tuple[str, ...] = ()
    """If the field is one that nobody knows: those that are known beside it."""


def explain(kind: type[Any], body: Json, error: str) -> Explanation:
    """Return what msgspec's *error* says about *body*, which was to be a *kind*."""
    location = _LOCATION.search(error)
    path = tuple(_STEP.findall(location[1] if location else ""))
    error = _LOCATION.sub("", error)
    if unknown := _UNKNOWN.match(error):
        known = tuple(field.encode_name for field in _list_fields(_find_type(kind, path)[0]))
        expected = ", ".join(known)
        return Explanation((*path, unknown[1]), expected, "", {}, known_keys=known)
    if missing := _MISSING.match(error):
        path = (*path, missing[1])
        rule = _find_type(kind, path)[1]
        return Explanation(path, rule.get("expected", "a value"), "", rule, missing=True)
    if broken := _BROKEN_RULE.match(error):
        path = (*path, broken[1])
    if own_error := _OWN_ERROR.match(error):
        return Explanation((*path, own_error[1]), own_error[2], own_error[3], {})
    here, rule = _find_type(kind, path)
    expected = rule.get("expected") or _simplify(error, here)
    got = "another value" if SECRETS & {*path} else preview(find_value(body, path))
    return Explanation(path, expected, got, rule, missing="got `null`" in error)


def make_rule_error(key: str) -> ValueError:
    """Return what the `__post_init__` of a type raises if a field breaks the rule of its own type."""
    return ValueError(f"{key} breaks its rule")


_described: dict[type[Any], inspect.Type] = {}


def describe_type(kind: type[Any]) -> inspect.Type:
    """Return what msgspec knows about *kind*; to find out takes a millisecond, once."""
    if kind not in _described:
        _described[kind] = inspect.type_info(kind)
    return _described[kind]


def make_field_error(key: str, expected: str, got: Json) -> ValueError:
    """Return what the `__post_init__` of a type raises; `explain` understands it."""
    return ValueError(f"{key}: expected {expected}, got {preview(got)}")


def preview(value: Json) -> str:
    """Return *value* on one short line; what may hide a secret is only described."""
    if isinstance(value, dict) and value:
        return "an object"
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return f"a list of {len(value)}"
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    text = make_printable(text)
    return text if len(text) <= _PREVIEW_LENGTH else f"{text[: _PREVIEW_LENGTH - 3]}..."


def abridge(value: Json) -> Json:
    """Return *value* as it is if it is a short text or no text, or else a preview of it."""
    if isinstance(value, str):
        return value[:_PREVIEW_LENGTH]
    return preview(value) if isinstance(value, (dict, list)) else value


def mask_secrets(value: Json) -> Json:
    """Return *value* with stars in place of every secret inside it."""
    if isinstance(value, dict):
        return {
            key: "***" if key in SECRETS and inner else mask_secrets(inner)
            for key, inner in value.items()
        }
    return [mask_secrets(inner) for inner in value] if isinstance(value, list) else value


def _simplify(error: str, here: inspect.Type) -> str:
    """Return what msgspec expected at the type *here*, in words that a reader of JSON knows."""
    if isinstance(here, inspect.LiteralType):
        return " or ".join(json.dumps(value) for value in here.values)
    if not error.startswith("Expected "):
        return "another value"
    wanted = error.removeprefix("Expected ").split(", got")[0]
    for word, plain in _TYPE_WORDS.items():
        wanted = wanted.replace(word, plain)
    return wanted


def find_value(body: Json, path: tuple[str, ...]) -> Json:
    """Return what is at *path* in *body*, or the last thing on the way to it."""
    for step in path:
        if isinstance(body, dict) and step in body:
            body = body[step]
        elif isinstance(body, list) and step.startswith("["):
            body = body[int(step[1:-1])]
    return body


def _find_type(kind: type[Any], path: tuple[str, ...]) -> tuple[inspect.Type, dict[str, Any]]:
    """Return the type that belongs at *path*, and what its annotations say."""
    here, rule = _unwrap(describe_type(kind))
    for step in path:
        here, rule = _unwrap(_step_into(here, step))
    return here, rule


def _unwrap(here: inspect.Type) -> tuple[inspect.Type, dict[str, Any]]:
    """Look through annotations and through `X | None` to the type underneath."""
    rule: dict[str, Any] = {}
    while True:
        if isinstance(here, inspect.Metadata):
            rule, here = {**rule, **(here.extra or {})}, here.type
        elif isinstance(here, inspect.UnionType):
            here = next(t for t in here.types if not isinstance(t, inspect.NoneType))
        else:
            return here, rule


def _step_into(here: inspect.Type, step: str) -> inspect.Type:
    if isinstance(here, inspect.VarTupleType | inspect.ListType):
        return here.item_type
    if isinstance(here, inspect.TupleType):
        return here.item_types[int(step[1:-1])]
    if isinstance(here, inspect.DictType):
        return here.value_type
    found = [field.type for field in _list_fields(here) if field.encode_name == step]
    return found[0] if found else inspect.AnyType()


def _list_fields(here: inspect.Type) -> tuple[inspect.Field, ...]:
    return here.fields if isinstance(here, inspect.StructType) else ()
