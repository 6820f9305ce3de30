"""The files under `data/`, read and written as a whole.

A reader never sees half a file: a new file is written beside the old one, and then replaces it.
One process at a time writes a league.
"""

import os
import re
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from agent_league.files import records
from agent_league.files.layout import Layout
from agent_league.files.reading import read
from agent_league.files.records import MatchRecord, PlayedMatch, PlayerHistory, build_history
from agent_league.store import StoreError

Document = TypeVar("Document", bound=msgspec.Struct)


def _format(document: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2)


class JsonFile(Generic[Document]):
    """One document in one file."""

    def __init__(self, kind: type[Document], path: Path) -> None:
        self._kind = kind
        self.path = path

    def load(self) -> Document | None:
        """Return what was saved last, None if nothing was; raise `ConfigError` if it is damaged."""
        try:
            return read(self._kind, self.path)
        except FileNotFoundError:
            return None

    def save(self, document: Document) -> Path:
        """Write *document* completely, or not at all and raise `StoreError`."""
        # In the same folder, since a rename between file systems is a copy; named after the process,
        # so that two leagues of one folder do not write into the same unfinished file. Not synced:
        # after a loss of power, `league export` writes these files again.
        unfinished = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with unfinished.open("wb") as file:
                file.writelines(self._encode(document))
            unfinished.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            reason = f"cannot be written: {error.strerror or error}; the old file stands"
            raise StoreError(f"{self.path}: {reason}") from error
        return self.path

    def _encode(self, document: Document) -> Iterator[bytes]:
        """Yield the text of *document*, in parts if it may be long."""
        yield _format(document) + b"\n"

    def remove(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be removed: {error.strerror}") from error


class StandingsRepository(JsonFile[records.StandingsFile]):
    """`data/leagues/<league_id>/standings.json`."""

    def __init__(self, root: Path, league_id: str) -> None:
        super().__init__(records.StandingsFile, Layout(root).standings(league_id))


class RoundsRepository(JsonFile[records.RoundsFile]):
    """`data/leagues/<league_id>/rounds.json`."""

    def __init__(self, root: Path, league_id: str) -> None:
        super().__init__(records.RoundsFile, Layout(root).rounds(league_id))

    def _encode(self, document: records.RoundsFile) -> Iterator[bytes]:
        """Yield round by round: the text of a large league would take more memory than its manager."""
        frame = _format(msgspec.structs.replace(document, rounds=[]))
        before, _, after = frame.rpartition(b"]")
        yield before
        for number, record in enumerate(document.rounds):
            yield b",\n    " if number else b"\n    "
            yield _format(record).replace(b"\n", b"\n    ")
        yield (b"\n  ]" if document.rounds else b"]") + after + b"\n"


class MatchRepository:
    """`data/matches/<league_id>/R1M1.json`, and so on."""

    _MATCH_ID = re.compile(r"R[0-9]+M[0-9]+")

    def __init__(self, root: Path, league_id: str) -> None:
        self._layout = Layout(root)
        self._league_id = league_id
        self._folder = self._layout.matches(league_id)

    def load(self, match_id: str) -> MatchRecord | None:
        return self._file(match_id).load()

    def save(self, record: MatchRecord) -> Path:
        return self._file(record.match_id).save(record)

    def update(self, match_id: str, **changes: Any) -> None:
        """Change some fields of a match, if it is there."""
        known = self.load(match_id)
        if known is not None:
            self.save(msgspec.structs.replace(known, **changes))

    def _file(self, match_id: str) -> JsonFile[MatchRecord]:
        return JsonFile(MatchRecord, self._layout.match(self._league_id, match_id))

    def ids(self) -> list[str]:
        """Return the ids of the saved matches, in the order of the schedule."""
        found = [
            path.stem for path in self._folder.glob("*.json") if self._MATCH_ID.fullmatch(path.stem)
        ]
        return sorted(found, key=lambda name: [int(n) for n in re.findall(r"[0-9]+", name)])

    def clear(self, but: Container[str] = ()) -> None:
        """Remove every match except these; other files stay."""
        for match_id in self.ids():
            if match_id not in but:
                self._file(match_id).remove()


class PlayerHistoryRepository:
    """`data/players/P01/history.json`, and so on: one file per player, for all leagues."""

    def __init__(self, root: Path) -> None:
        self._layout = Layout(root)

    def load(self, player_id: str) -> PlayerHistory | None:
        return self._file(player_id).load()

    def save(self, history: PlayerHistory) -> Path:
        return self._file(history.player_id).save(history)

    def _file(self, player_id: str) -> JsonFile[PlayerHistory]:
        return JsonFile(PlayerHistory, self._layout.history(player_id))

    def add(self, player_id: str, played: Iterable[PlayedMatch]) -> Path:
        """Add *played* to the matches of a player; a match that is there already is replaced."""
        matches = {(one.league_id, one.match_id): one for one in self._matches(player_id)}
        matches |= {(one.league_id, one.match_id): one for one in played}
        return self.save(build_history(player_id, list(matches.values())))

    def void(self, player_id: str, league_id: str, match_id: str) -> Path:
        """Mark a match of a player as voided."""
        matches = [
            msgspec.structs.replace(
                one, voided=one.voided or (one.league_id, one.match_id) == (league_id, match_id)
            )
            for one in self._matches(player_id)
        ]
        return self.save(build_history(player_id, matches))

    def forget(self, league_id: str) -> None:
        """Remove a league from the histories of all players.

        A history with no other league in it is removed.
        """
        found = (path.parent.name for path in sorted(self._layout.players.glob("*/history.json")))
        for player_id in found:
            matches = self._matches(player_id)
            left = [match for match in matches if match.league_id != league_id]
            if not left:
                self._file(player_id).remove()
            elif len(left) < len(matches):
                self.save(build_history(player_id, left))

    def _matches(self, player_id: str) -> list[PlayedMatch]:
        known = self.load(player_id)
        return known.history if known else []
