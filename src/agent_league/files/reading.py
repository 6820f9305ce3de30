"""From a JSON file to a model, or to a sentence about what is wrong with the file."""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn, TypeVar

import msgspec

from agent_league.protocol import LeagueError
from agent_league.protocol.explain import explain
from agent_league.vocabulary import Json

Model = TypeVar("Model", bound=msgspec.Struct)


class ConfigError(LeagueError):
    """A file does not say what it must; the message names the file, the key and the fix."""

    def __init__(
        self, problem: str, *, file: object, key: str = "", expected: str | None = None
    ) -> None:
        super().__init__(": ".join(str(part) for part in (file, key, problem) if part))
        self.file = str(file)
        self.key = key
        self.expected = expected


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that ends in the known names, and begins with the one that was meant."""
    names = list(known)
    close = get_close_matches(name, names, n=1)
    suggestion = f"did you mean {close[0]!r}? " if close else ""
    return f"{suggestion}known: {', '.join(names) or 'none'}"


def read(kind: type[Model], path: Path) -> Model:
    """Return what the file at *path* says, or raise `ConfigError`.

    A file that is not there raises FileNotFoundError, since it often need not be.
    """
    body = _parse_file(path)
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        found = explain(kind, body, str(error))
    if found.known_keys:
        problem = f"unknown key; {did_you_mean(found.path[-1], found.known_keys)}"
    elif found.missing and not found.got:
        problem = f"missing; expected {found.expected}"
    else:
        problem = f"expected {found.expected}, got {found.got}"
    key = ".".join(found.path).replace(".[", "[")
    raise ConfigError(problem, file=path, key=key, expected=found.expected)


def _parse_file(path: Path) -> Json:
    try:
        # Editors on Windows begin a file with a mark that JSON does not allow.
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(
            text, object_pairs_hook=_reject_duplicates, parse_constant=_reject_constant
        )
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=path) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ConfigError(f"not JSON: {error.msg} at {where}", file=path) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON: {error}", file=path) from None


def _reject_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Refuse a key that is given twice: one of them would be ignored, and nobody knows which."""
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is given twice")
        found[key] = value
    return found


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")
