"""The files under `data/`, read whole and written whole.

A reader never sees half a file: a new one is made beside the old one, and then takes its place.
One process at a time writes a league.
"""

import os
import re
from collections.abc import Container, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from agent_league.sdk.layout import Layout
from agent_league.sdk.reading import read
from agent_league.sdk.records import (
    MatchRecord,
    PlayedMatch,
    PlayerHistory,
    RoundsFile,
    StandingsFile,
    history_of,
)
from agent_league.store import StoreError

Document = TypeVar("Document", bound=msgspec.Struct)


def _save(path: Path, document: msgspec.Struct) -> Path:
    """Put *document* where *path* says, whole or not at all; `StoreError` says why not at all."""
    body = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, body)
    except OSError as error:
        said = error.strerror or str(error)
        raise StoreError(f"{path}: cannot be written: {said}; the old file stands") from error
    return path


def _replace(path: Path, body: bytes) -> None:
    # In the same folder, since a rename between file systems is a copy; named after the process,
    # so that two leagues of one folder do not write into the same unfinished file. Not synced:
    # these are views, and what a loss of power takes of them `league export` makes again.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(body)
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be removed: {error.strerror}") from error


def _load(kind: type[Document], path: Path) -> Document | None:
    try:
        return read(kind, path)
    except FileNotFoundError:
        return None


class OneFile(Generic[Document]):
    """One document in one file."""

    def __init__(self, kind: type[Document], path: Path) -> None:
        self._kind = kind
        self.path = path

    def load(self) -> Document | None:
        """Return what was saved last, None if nothing was; raise `ConfigError` if it is damaged."""
        return _load(self._kind, self.path)

    def save(self, document: Document) -> Path:
        return _save(self.path, document)


class StandingsRepository(OneFile[StandingsFile]):
    """`data/leagues/<league_id>/standings.json`."""

    def __init__(self, root: Path, league_id: str) -> None:
        super().__init__(StandingsFile, Layout(root).standings(league_id))


class RoundsRepository(OneFile[RoundsFile]):
    """`data/leagues/<league_id>/rounds.json`."""

    def __init__(self, root: Path, league_id: str) -> None:
        super().__init__(RoundsFile, Layout(root).rounds(league_id))


class MatchRepository:
    """`data/matches/<league_id>/R1M1.json`, and so on."""

    _OURS = re.compile(r"R[0-9]+M[0-9]+")

    def __init__(self, root: Path, league_id: str) -> None:
        self._layout = Layout(root)
        self._league_id = league_id
        self._folder = self._layout.matches(league_id)

    def load(self, match_id: str) -> MatchRecord | None:
        return _load(MatchRecord, self._layout.match(self._league_id, match_id))

    def save(self, record: MatchRecord) -> Path:
        return _save(self._layout.match(self._league_id, record.match_id), record)

    def ids(self) -> list[str]:
        """Return which matches there are, in the order in which they were scheduled."""
        found = [
            path.stem for path in self._folder.glob("*.json") if self._OURS.fullmatch(path.stem)
        ]
        return sorted(found, key=lambda name: [int(n) for n in re.findall(r"[0-9]+", name)])

    def clear(self, but: Container[str] = ()) -> None:
        """Forget every match but these; a file that is not a match is left alone."""
        for match_id in self.ids():
            if match_id not in but:
                _remove(self._layout.match(self._league_id, match_id))


class PlayerHistoryRepository:
    """`data/players/P01/history.json`, and so on: one file for all leagues of the folder."""

    def __init__(self, root: Path) -> None:
        self._layout = Layout(root)

    def load(self, player_id: str) -> PlayerHistory | None:
        return _load(PlayerHistory, self._layout.history(player_id))

    def save(self, history: PlayerHistory) -> Path:
        return _save(self._layout.history(history.player_id), history)

    def keep(self, player_id: str, league_id: str, played: Sequence[PlayedMatch]) -> Path:
        """Make *played* what the player has played in this league; other leagues stay."""
        return self.save(history_of(player_id, [*self._elsewhere(player_id, league_id), *played]))

    def forget(self, league_id: str, but: Container[str] = ()) -> None:
        """Take a league out of every history but that of these players.

        A history that has nothing else in it is removed.
        """
        for path in sorted(self._layout.players.glob("*/history.json")):
            if path.parent.name not in but:
                self._forget(path.parent.name, league_id)

    def _forget(self, player_id: str, league_id: str) -> None:
        known, left = self.load(player_id), self._elsewhere(player_id, league_id)
        if not left:
            _remove(self._layout.history(player_id))
        elif known is not None and len(left) < len(known.history):
            self.save(history_of(player_id, left))

    def _elsewhere(self, player_id: str, league_id: str) -> list[PlayedMatch]:
        known = self.load(player_id)
        return [match for match in known.history if match.league_id != league_id] if known else []
