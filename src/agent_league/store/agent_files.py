"""What an agent keeps in files that outlive its process: who it is, and the matches it has seen."""

import os
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from agent_league.vocabulary import Json

T = TypeVar("T")


class Identity(Struct, frozen=True):
    """Who an agent is in a league."""

    agent_id: str
    token: str
    league_id: str | None = None
    signing_key: str | None = None
    """The key with which the league signs for it; older leagues tell none."""


def load_identity(path: Path) -> Identity | None:
    """Return the identity saved at *path*, or None if there is none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Identity)
    except (OSError, msgspec.DecodeError):
        return None


def load_json(path: Path) -> Json:
    """Return what was saved at *path*, or None if there is nothing that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None


def save_identity(path: Path, identity: Identity) -> None:
    """Save *identity* at *path*; only its owner may read the token."""
    save_json(path, identity)


def save_json(path: Path, value: object) -> None:
    """Save *value* at *path*, completely or not at all; only its owner may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(value))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


class MatchHistory:
    """A file with one line for each entry, which a restarted player reads again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None

    def open(self) -> FileIO:
        """Open the file, and make it if there is none, which takes longer than many entries do."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = FileIO(self._path, "ab")
        return self._file

    def write(self, entry: object) -> None:
        # The first newline ends a line that was cut off, so that it does not spoil this one.
        self.open().write(b"\n" + msgspec.json.encode(entry) + b"\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def read(self, kind: Callable[..., T]) -> list[T]:
        """Return every line as a *kind*, without lines that were cut off or are something else."""
        entries = []
        for line in self._path.read_bytes().splitlines() if self._path.exists() else ():
            with suppress(msgspec.DecodeError, TypeError):
                entries.append(kind(*msgspec.json.decode(line, type=list[object])))
        return entries
