"""The command `league` as a person runs it: a process, its output, its exit code."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

COMMAND = [sys.executable, "-m", "agent_league"]
# A test runner's workers ignore Ctrl-C, and their children would ignore it too.
HEARING_CTRL_C = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.executable, [sys.executable, '-m', 'agent_league', *sys.argv[1:]])"
)
PLAIN = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}


def league(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, in *cwd* or in a folder of its own."""
    with TemporaryDirectory() as empty:
        return subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            timeout=50,
            env=PLAIN,
            cwd=cwd or empty,
            check=False,
        )


def document(*arguments: str) -> dict[str, Any]:
    """Run a command that succeeds, and return the JSON document that it prints."""
    done = league(*arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command beside the test, in a folder of its own; kill it if the test ends first."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as empty:
        process = subprocess.Popen(
            [sys.executable, "-c", HEARING_CTRL_C, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=PLAIN,
            cwd=empty,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def line_with(process: subprocess.Popen[str], text: str) -> str:
    """Return the next line on stderr that has *text* in it."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return line
    raise AssertionError(f"it ended without saying {text!r}")
