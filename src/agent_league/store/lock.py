"""One writer per league: a lock that the system lets go of when its holder dies."""

import os
from pathlib import Path
from typing import IO

from agent_league.store.log import StoreError

if os.name == "posix":
    import fcntl


class WriterLock:
    """A lock on a file beside the store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def take(self) -> None:
        """Hold the lock, or raise `StoreError` saying who does."""
        try:
            file = self._path.open("a+", encoding="utf-8")
        except OSError as error:
            raise StoreError(f"the lock of this league cannot be used: {error}") from error
        try:
            if os.name == "posix":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            pid = file.read().strip()
            file.close()
            holder = f"pid {pid}" if pid else "another process"
            raise StoreError(f"this league is being run by {holder} ({self._path.name})") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
