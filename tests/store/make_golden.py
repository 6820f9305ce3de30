"""Writes golden/v1.db, a league as version 1 of the store keeps it. Never write it again.

It stands for the files that people have: when the store changes, it must still open, and the
next version gets a golden file of its own.
"""

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from store.books import fill
from store.samples import SEASON

GOLDEN = Path(__file__).parent / "golden" / "v1.db"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "league.db"
        asyncio.run(fill(str(path), SEASON))
        with closing(sqlite3.connect(path)) as database:
            database.execute("VACUUM INTO ?", (str(GOLDEN),))


if __name__ == "__main__":
    main()
