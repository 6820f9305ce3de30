"""Leagues in real processes, for a browser to look at."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from agent_league.running.event_loop import run
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import load_season
from agent_league.store.sqlite import SqliteStore

T = TypeVar("T")
LEAGUE = "seen"
SLOW_UNTIL_HURRIED = """\
import time
from pathlib import Path
def strategy(situation):
    if not Path("hurry").exists():
        time.sleep(5.0)
    return situation.rng.choice(situation.legal)
"""
"""A strategy with which an organiser has time, also on a busy machine, until there is a file `hurry`."""


@contextmanager
def league_process(*arguments: str, cwd: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """Run a command of `league` in *cwd*; it is stopped at the end."""
    log = (cwd / f"{arguments[0]}.{time.monotonic_ns()}.log").open("wb")
    command = [sys.executable, "-m", "agent_league", *arguments]
    with (
        log,
        subprocess.Popen(
            command, cwd=cwd, stdout=log, stderr=log, stdin=subprocess.DEVNULL
        ) as process,
    ):
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait()


def kill(process: "subprocess.Popen[bytes]") -> None:
    """End a process without a chance to say goodbye."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def apart(work: Callable[[], T]) -> T:
    """Return what *work* returns in a thread of its own: the browser has an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def wait_until_served(url: str) -> None:
    """Return when somebody answers at *url*."""
    host, port = url.removeprefix("http://").split(":")
    while True:
        try:
            socket.create_connection((host, int(port))).close()
        except OSError:
            threading.Event().wait(0.05)
        else:
            return


def read_token(folder: Path) -> str:
    """Return the organiser's token of the league in *folder*."""
    (file,) = (folder / "SHARED" / "state").glob("*/organiser.json")
    return str(json.loads(file.read_text())["token"])


def load_kept_season(folder: Path) -> Season:
    async def load() -> Season:
        store = SqliteStore(folder / "SHARED" / "league.db")
        try:
            (row,) = await store.leagues()
            return await load_season(store, LeagueSettings.read(row.settings), whole=True)
        finally:
            await store.close()

    return apart(lambda: run(load()))


def find_violations(page: Page) -> list[tuple[str, list[str]]]:
    """Return what keeps people from using *page*, by axe: the rule and where it is broken."""
    found = Axe().run(page).response["violations"]
    return [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found]
