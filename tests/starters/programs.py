"""Starters as programs: written into an empty folder, started, and stopped."""

import json
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.league_process import PLAIN, league

RUNNERS = {".py": sys.executable, ".mjs": "node", ".sh": "sh"}
NOWHERE = "http://127.0.0.1:9/mcp"
PLAYERS = ("python", "python-plain", "js")
PLAIN_PLAYERS = ("python-plain", "js")
"""Those that use no package of ours."""


def written(folder: Path, kind: str, name: str, *options: str) -> Path:
    """Let `league new` write a starter into *folder*, and return its program."""
    done = league("new", kind, name, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[0]


@contextmanager
def started(program: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run *program* beside the test; kill it at the end."""
    runner = shutil.which(RUNNERS[program.suffix])
    if runner is None:
        pytest.skip(f"{RUNNERS[program.suffix]} is not installed")
    process = subprocess.Popen(
        [runner, str(program), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**PLAIN, "PYTHONUNBUFFERED": "1"},
        cwd=program.parent,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def line_with(process: subprocess.Popen[str], text: str) -> str:
    """Return the next line that the program prints with *text* in it."""
    assert process.stdout is not None
    received = []
    for line in process.stdout:
        received.append(line)
        if text in line:
            return line
    raise AssertionError(f"it ended without saying {text!r}: {received}")


@contextmanager
def listening(program: Path) -> Iterator[str]:
    """Run an agent that has no league, and give its endpoint."""
    with started(program, "--league", NOWHERE, "--port", "0") as process:
        yield line_with(process, "listens at").split()[-1]


def posted(url: str, body: bytes) -> tuple[int, Any]:
    """Return the status and the JSON, if any, that *url* answers."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - our own endpoint
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=20) as answer:
        reply = answer.read()
        return answer.status, json.loads(reply) if reply else None
