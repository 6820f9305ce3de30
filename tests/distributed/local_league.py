"""The programs of a distributed league, all on this machine."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from distributed.look import look
from free_ports import free_port
from store.books import ENVIRONMENT
from store.cluster import Cluster

LEAGUE = "cup"


class LocalLeague:
    """A PostgreSQL, and programs that are ended with it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cluster = folder, Cluster()
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.cluster.start()
        return self

    def __exit__(self, *details: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self.cluster.remove()

    def start(self, name: str, module: str, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.out").open("ab") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *words],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=ENVIRONMENT,
            )
        self._processes.append(process)
        return process

    def start_manager(
        self, name: str, players: int, **flags: object
    ) -> tuple[str, subprocess.Popen[bytes]]:
        """Start a manager that stands by; return its address, too."""
        port = free_port()
        given = {"store": self.cluster.address, "port": port, "players": players, **flags}
        given["shared"] = self.folder / name
        words = [word for flag, value in given.items() for word in (f"--{flag}", str(value))]
        started = self.start(name, "agent_league", "manager", LEAGUE, "--standby", *words)
        return f"http://127.0.0.1:{port}", started

    def start_worker(self, name: str, seats: int) -> subprocess.Popen[bytes]:
        flags = ("--seats", str(seats), "--shared", str(self.folder / name))
        words = ("referee", "--pool", self.cluster.address, *flags)
        return self.start(name, "agent_league", *words)

    def start_players(self, count: int, leagues: str, strategy: str = "random") -> None:
        words = ("127.0.0.1", "1", str(count), leagues, str(self.folder / "players"), strategy)
        self.start("players", "distributed.players", *words)

    def read(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text(errors="replace")

    def look(self) -> dict[str, object]:
        return asyncio.run(look(self.cluster.address, LEAGUE))

    def wait_until(self, is_true: Callable[[], bool], seconds: float = 240.0) -> None:
        ends = time.monotonic() + seconds
        while not is_true():
            outputs = {path.name: path.read_text()[-800:] for path in self.folder.glob("*.out")}
            assert time.monotonic() < ends, outputs
            time.sleep(0.1)  # noqa: TID251 - nobody tells another program when it is so far
