"""From a JSON file to a model, or to a sentence about what is wrong with the file."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

import msgspec
from msgspec import inspect

from agent_league.sdk.errors import ConfigError, did_you_mean
from agent_league.vocabulary import Json

Model = TypeVar("Model", bound=msgspec.Struct)


def read(kind: type[Model], path: Path) -> Model:
    """Return what the file at *path* says, or raise `ConfigError`.

    A file that is not there raises FileNotFoundError, since it often need not be.
    """
    body = _parsed(path)
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        raise _explained(kind, body, str(error), path) from None


def broken(key: str, expected: str, got: Json) -> ValueError:
    """Return what a model's `__post_init__` raises where two of its fields disagree."""
    return ValueError(f"{key}: expected {expected}, got {_shown(got)}")


def _parsed(path: Path) -> Json:
    try:
        # Editors on Windows begin a file with a mark that JSON does not allow.
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text, object_pairs_hook=_once, parse_constant=_not_a_number)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=path) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ConfigError(f"not JSON: {error.msg} at {where}", file=path) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON: {error}", file=path) from None


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Refuse a key that is given twice: one of them would be ignored, and nobody knows which."""
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is given twice")
        found[key] = value
    return found


def _not_a_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


_AT = re.compile(r" - at `\$\.?(.*)`$")
_UNKNOWN = re.compile(r"^Object contains unknown field `(.*)`$")
_MISSING = re.compile(r"^Object missing required field `(.*)`$")
_BROKEN = re.compile(r"^(\w+): expected (.*), got (.*)$", re.DOTALL)
_STEP = re.compile(r"[^.\[\]]+|\[\d+\]")
_WORDS = {
    "`object`": "an object",
    "`array`": "a list",
    "`str`": "text",
    "`int`": "a whole number",
    "`float`": "a number",
    "`bool`": "true or false",
}


class _Place(NamedTuple):
    """A place in a file: the key's path, the type that belongs there, what stands there."""

    key: str
    type: inspect.Type
    expected: str | None
    value: Json


def _explained(kind: type[Any], body: Json, said: str, file: Path) -> ConfigError:
    """Turn msgspec's sentence into one that names the file, the key and what belongs there."""
    at = _AT.search(said)
    place = _place(kind, body, at[1] if at else "")
    said = _AT.sub("", said)
    if unknown := _UNKNOWN.match(said):
        return _unknown_key(place, unknown[1], file)
    if missing := _MISSING.match(said):
        return _missing_key(place, missing[1], file)
    if ours := _BROKEN.match(said):
        key, expected, got = _joined(place.key, ours[1]), ours[2], ours[3]
    else:
        key, expected, got = place.key, place.expected or _plain(said), _shown(place.value)
    return ConfigError(f"expected {expected}, got {got}", file=file, key=key, expected=expected)


def _unknown_key(place: _Place, name: str, file: Path) -> ConfigError:
    known = [field.encode_name for field in _fields(place.type)]
    hint = did_you_mean(name, known)
    key = _joined(place.key, name)
    return ConfigError(f"unknown key; {hint}", file=file, key=key, expected=", ".join(known))


def _missing_key(place: _Place, name: str, file: Path) -> ConfigError:
    (field,) = [field for field in _fields(place.type) if field.encode_name == name]
    expected = _opened(field.type)[1] or "a value"
    key = _joined(place.key, name)
    return ConfigError(f"missing; expected {expected}", file=file, key=key, expected=expected)


def _place(kind: type[Any], body: Json, path: str) -> _Place:
    here, expected = _opened(inspect.type_info(kind))
    for step in _STEP.findall(path):
        number = step.strip("[]")
        body = body[int(number)] if step.startswith("[") else body[step]
        here, expected = _opened(_step_into(here, step))
    return _Place(path, here, expected, body)


def _opened(here: inspect.Type) -> tuple[inspect.Type, str | None]:
    """Return the type underneath the annotations, and what they say is expected."""
    expected: str | None = None
    while isinstance(here, inspect.Metadata):
        expected, here = (here.extra or {}).get("expected", expected), here.type
    return here, expected


def _step_into(here: inspect.Type, step: str) -> inspect.Type:
    if isinstance(here, inspect.VarTupleType | inspect.ListType):
        return here.item_type
    if isinstance(here, inspect.TupleType):
        return here.item_types[int(step.strip("[]"))]
    found = [field.type for field in _fields(here) if field.encode_name == step]
    return found[0] if found else inspect.AnyType()


def _fields(here: inspect.Type) -> tuple[inspect.Field, ...]:
    return here.fields if isinstance(here, inspect.StructType) else ()


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _plain(said: str) -> str:
    """Return what msgspec expected, in words that a reader of JSON knows."""
    wanted = said.removeprefix("Expected ").split(", got")[0]
    for word, plain in _WORDS.items():
        wanted = wanted.replace(word, plain)
    return wanted


def _shown(value: Json) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004 - a line's worth
