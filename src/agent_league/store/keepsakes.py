"""What an agent remembers of itself between two lives: who it is, and what it has seen."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

T = TypeVar("T")


class Keepsake(Struct, frozen=True):
    """Who an agent is in a league."""

    agent_id: str
    token: str
    league_id: str | None = None


def kept(path: Path) -> Keepsake | None:
    """Return what was kept at *path*, or None if nothing usable is there."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Keepsake)
    except (OSError, msgspec.DecodeError):
        return None


def keep(path: Path, keepsake: Keepsake) -> None:
    """Keep *keepsake* at *path*, whole or not at all; it holds a token, so for nobody else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(keepsake))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


class Diary:
    """A file that grows by a line for each thing seen, and is read again in the next life."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, seen: object) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            # A line that was cut off ends here, and does not take this one with it.
            file.write(b"\n" + msgspec.json.encode(seen) + b"\n")

    def read(self, kind: Callable[..., T]) -> list[T]:
        """Return every line as a *kind*; one that is none, or was cut off, is left out."""
        if not self._path.exists():
            return []
        lines = self._path.read_bytes().splitlines()
        seen = [_read(kind, line) for line in lines if line]
        return [one for one in seen if one is not None]


def _read(kind: Callable[..., T], line: bytes) -> T | None:
    try:
        return kind(*msgspec.json.decode(line, type=list[object]))
    except (msgspec.DecodeError, TypeError):
        return None
