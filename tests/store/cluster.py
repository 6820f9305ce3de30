"""A private PostgreSQL that a test may stop and start, in a folder that goes away with it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from free_ports import free_port

OWNER = "postgres"
"""PostgreSQL refuses to run as root; then this user of the system runs it."""
PASSWORD = "not-to-be-written-down"

END_SESSIONS = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def binaries() -> Path | None:
    """Return the folder of the newest PostgreSQL here, if there is one."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def hindrance() -> str | None:
    """Return why there can be no cluster here, or None if there can be."""
    if binaries() is None:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    if os.geteuid() == 0 and (shutil.which("runuser") is None or not _is_user(OWNER)):
        return f"PostgreSQL does not run as root, and this system has no user {OWNER}"
    return None


def _is_user(name: str) -> bool:
    return any(entry.pw_name == name for entry in pwd.getpwall())


class Cluster:
    """Listens on 127.0.0.1, trusts everybody, and syncs to the disk as a real one does."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="league-pg-"))
        self.port = free_port()
        if os.geteuid() == 0:
            shutil.chown(self.folder, OWNER)
        data = str(self.folder / "data")
        self._run("initdb", "-D", data, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c shared_buffers=16MB "
            f"-c unix_socket_directories={self.folder}"
        )
        self._control("start", "-w", "-o", options, "-l", str(self.folder / "log"))

    def stop(self) -> None:
        """Stop it as a crash would: no session is ended in peace, and no data is written out."""
        self._control("stop", "-m", "immediate", "-w")

    def remove(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)

    @property
    def address(self) -> str:
        return f"postgresql://{OWNER}:{PASSWORD}@127.0.0.1:{self.port}/{OWNER}"

    async def clear(self) -> None:
        """End every session, and forget every league: ten times faster than a new database."""
        async with self.connected() as connection:
            await connection.execute(END_SESSIONS)
            await connection.execute(
                "DROP SCHEMA IF EXISTS agent_league, agent_league_pool CASCADE"
            )

    @asynccontextmanager
    async def connected(self) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
        connection = await asyncpg.connect(self.address)
        try:
            yield connection
        finally:
            await connection.close()

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        command: Sequence[str] = [str((binaries() or Path()) / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", OWNER, "--", *command]
        # To files, not to pipes: the server would inherit the pipe, and keep it open.
        with (self.folder / "control.log").open("a+") as output:
            ran = subprocess.run(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            )
            output.seek(0)
            assert ran.returncode == 0, output.read()[-2000:]
