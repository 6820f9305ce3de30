"""A back-up: one SQLite store with every league of a folder, and the files that go with them."""

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.running.folder import ADDRESS_FILE, STORE_FILE, Folder
from agent_league.store import StoreError
from agent_league.store.copying import copy_leagues

KEPT = ("config", "state")
"""The parts of a folder that no store has: its settings, and who its agents and organiser are."""
LEFT_OUT = (ADDRESS_FILE, "files.json")
"""Where a manager listens, and how far the files are written: both are others elsewhere."""
_MAKE_TABLE = "CREATE TABLE folder_files (path TEXT PRIMARY KEY, body BLOB NOT NULL)"


@dataclass(frozen=True)
class Copied:
    """What was copied."""

    leagues: dict[str, int]
    """How many events of each."""
    files: int


def write_backup(folder: Folder, path: Path) -> Copied:
    """Write all that a folder holds into a new file, which appears when it is complete."""
    if path.exists():
        raise UsageError(f"{path} is there already", "a back-up is a new file: give another name")
    if folder.address is None and not (folder.shared / STORE_FILE).exists():
        raise UsageError(f"{folder.name} holds no league", "league leagues shows what a folder has")
    # Beside its place, so that it can be moved there at once.
    with TemporaryDirectory(dir=path.absolute().parent, prefix=".backup-") as beside:
        made = Path(beside) / "backup.db"
        # First the files: what agents remember must not be ahead of the league.
        kept_files = _read_folder(folder.shared)
        leagues = run(_copy(folder, Folder(address=str(made))))
        _keep_files(made, kept_files)
        made.replace(path)
    return Copied(leagues, len(kept_files))


def restore_backup(path: Path, folder: Folder) -> Copied:
    """Put the leagues of a back-up into a folder or a store that has none of the same id."""
    if not path.is_file():
        raise UsageError(f"there is no back-up {path}", "league backup FILE makes one")
    leagues = run(_copy(Folder(address=str(path)), folder))
    files = _put_back_files(path, folder.shared)
    for league_id in leagues:
        if spec := folder.load_spec(league_id):  # it names the store that the league was in
            replace(folder, durability=spec.durability).save_spec(spec)
    return Copied(leagues, files)


async def _copy(source: Folder, target: Folder) -> dict[str, int]:
    async with source.read_store() as one, target.read_store() as other:
        return await copy_leagues(one, other)


def _read_folder(shared: Path) -> list[tuple[str, bytes]]:
    """Return the files to keep, each after its path in the folder."""
    found = (path for part in KEPT for path in sorted((shared / part).rglob("*")))
    kept = (path for path in found if path.is_file() and path.name not in LEFT_OUT)
    return [(path.relative_to(shared).as_posix(), path.read_bytes()) for path in kept]


def _keep_files(backup: Path, files: list[tuple[str, bytes]]) -> None:
    with closing(sqlite3.connect(backup)) as database, database:
        database.execute(_MAKE_TABLE)
        database.executemany("INSERT INTO folder_files (path, body) VALUES (?, ?)", files)


def _put_back_files(backup: Path, shared: Path) -> int:
    """Write the files of a back-up into a folder; what is there already stays as it is."""
    written = 0
    for name, body in _read_files(backup):
        path = shared / name
        if Path(name).parts[0] not in KEPT or ".." in Path(name).parts:
            raise StoreError(f"{backup} is damaged, or no back-up of ours: it has a file {name!r}")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Some hold tokens: only their owner may read them.
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:  # noqa: PTH123 - it has no mode
                file.write(body)
            written += 1
    return written


def _read_files(backup: Path) -> list[tuple[str, bytes]]:
    with closing(sqlite3.connect(backup)) as database:
        if not database.execute(
            "SELECT 1 FROM sqlite_master WHERE name = 'folder_files'"
        ).fetchone():
            return []  # the store of a folder, copied by other means
        return database.execute("SELECT path, body FROM folder_files").fetchall()
