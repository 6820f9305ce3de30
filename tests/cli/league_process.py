"""The command `league` in real processes: for signals, children, and streams that are closed.

Everything else is quicker and surer with `cli.league_command`. Nothing here has a time-out of its
own: on a busy machine a process may take any time, and pytest ends what never ends.
"""

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


TIMEOUTS = (
    "register_referee_timeout_sec",
    "register_player_timeout_sec",
    "game_join_ack_timeout_sec",
    "move_timeout_sec",
    "generic_response_timeout_sec",
)


def be_patient(shared: Path) -> Path:
    """Let the agents of a folder wait for answers as long as a very busy machine may take."""
    file = shared / "config" / "system.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"timeouts": dict.fromkeys(TIMEOUTS, 300)}), encoding="utf-8")
    return shared


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(ignore_cleanup_errors=True) as empty:
        be_patient(Path(empty) / "SHARED")
        yield Path(empty)


def league(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, in *cwd* or in a folder of its own."""
    with _folder() as own:
        return subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            env=PLAIN,
            cwd=cwd or own,
            check=False,
        )


def document(*arguments: str) -> dict[str, Any]:
    """Run a command that succeeds, and return the JSON document that it prints."""
    done = league(*arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def running(*arguments: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """Run the command beside the test, in a folder of its own; kill it if the test ends first."""
    with _folder() as own:
        process = subprocess.Popen(
            [sys.executable, "-c", HEARING_CTRL_C, *arguments],
            stdout=subprocess.PIPE,
            stderr=stderr,
            stdin=subprocess.DEVNULL,
            text=True,
            env=PLAIN,
            cwd=own,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
