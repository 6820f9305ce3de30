"""The command `league` as a person runs it, in threads of the test: its output, its exit code.

`cli.league_process` runs it in real processes, for what only a process can show.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from unittest import mock

from agent_league.cli import main
from cli.in_threads import Program, programs_in_threads

TERMINAL = {"NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}


@contextmanager
def folder(path: Path | None) -> Iterator[None]:
    """Be in *path*, or in an empty folder, unless a program runs that is in one already."""
    with ExitStack() as stack:
        if _running or path is not None:
            found = str(path or Path.cwd())
        else:
            found = stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
        before = Path.cwd()
        os.chdir(found)
        try:
            yield
        finally:
            os.chdir(before)


_running: list[Program] = []


@contextmanager
def running(*arguments: str, cwd: Path | None = None, encoding: str = "utf-8") -> Iterator[Program]:
    """Run the command beside the test; interrupt it if the test ends first.

    It runs in *cwd* or in an empty folder, which it shares with the commands run meanwhile.
    """
    program = Program(lambda: main(arguments), encoding=encoding)
    with folder(cwd), ExitStack() as stack:
        if not _running:
            stack.enter_context(programs_in_threads())
            stack.enter_context(mock.patch.dict(os.environ, TERMINAL))
        _running.append(program)
        program.thread.start()
        try:
            yield program
        except Exception as error:
            error.add_note(f"league {' '.join(arguments)} printed: {program.stderr.text}")
            raise
        finally:
            program.interrupt()
            program.thread.join()
            _running.remove(program)


def league(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, in *cwd* or in an empty folder."""
    with running(*arguments, cwd=cwd) as program:
        stdout, stderr = program.communicate()
    return subprocess.CompletedProcess(arguments, program.returncode or 0, stdout, stderr)


def document(*arguments: str) -> dict[str, Any]:
    """Run a command that succeeds, and return the JSON document that it prints."""
    done = league(*arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class Printing(Protocol):
    """A command that runs, in a thread or in a process."""

    @property
    def stderr(self) -> Any: ...


def line_with(program: Printing, text: str) -> str:
    """Return the next line on stderr that has *text* in it."""
    for line in program.stderr:
        if text in line:
            return str(line)
    raise AssertionError(f"it ended without printing {text!r}")
