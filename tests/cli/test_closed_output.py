"""Somebody has closed what a command prints to, reads from, or complains to."""

import os
import subprocess
from pathlib import Path

import pytest

from cli.league_command import COMMAND, PLAIN, league


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "SHARED"
    arguments = ("play", "--players", "2", "--port-base", "0", "--json", "--shared", str(folder))
    assert league(*arguments).returncode == 0
    return folder


def closed(shared: Path, *arguments: str, streams: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose streams are as *streams* redirects them."""
    command = [*COMMAND, *arguments, "--shared", str(shared)]
    return subprocess.run(
        ["/bin/sh", "-c", f'"$@" {streams}', "sh", *command],
        capture_output=True,
        text=True,
        timeout=50,
        env=PLAIN,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [("leagues",), ("leagues", "--json"), ("log",), ("export", "--format", "csv")],
    ids=" ".join,
)
def test_a_pipe_that_nobody_reads_ends_a_command_quietly(
    shared: Path, arguments: tuple[str, ...]
) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [*COMMAND, *arguments, "--shared", str(shared)],
            stdout=writes,
            stderr=subprocess.PIPE,
            text=True,
            timeout=50,
            env=PLAIN,
            check=False,
        )
    finally:
        os.close(writes)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_stdout_is_said_in_a_sentence(shared: Path) -> None:
    done = closed(shared, "leagues", streams=">&-")
    assert done.returncode == 3
    assert done.stderr.startswith("error: nothing can be printed: stdout is closed\nhint: ")


def test_a_closed_stdin_and_stderr_disturb_nobody(shared: Path) -> None:
    done = closed(shared, "leagues", streams="<&- 2>&-")
    assert done.returncode == 0
    assert "league_2025_even_odd" in done.stdout
    assert closed(shared, "log", "no_such_league", streams="2>&-").stdout == ""
