"""No command, however wrong, ends in a traceback, hangs, or leaves a process behind."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from chaos.command_fuzzer import World, draw_command, run_command
from cli.league_command import line_with
from cli.league_process import league, running

COMMANDS = int(os.environ.get("CHAOS_COMMANDS", "20"))
FIRST = int(os.environ.get("CHAOS_FIRST", "0"))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a league that has ended and one that has not."""
    folder = tmp_path_factory.mktemp("played")
    shared = ("--shared", str(folder), "--port-base", "0")
    assert league("play", "--players", "2", *shared).returncode == 0
    with running("start", *shared, stderr=subprocess.PIPE) as process:
        line_with(process, "organiser")
    (folder / "mine.py").write_text("def strategy(situation):\n    return 'even'\n")
    return folder


@pytest.fixture(scope="module")
def running_league() -> Iterator[str]:
    """Return the address of a league that waits for more players than will ever come."""
    with running("manager", "--port", "0", "--players", "90") as process:
        yield line_with(process, "Waiting").split()[-1]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COMMANDS))
def test_a_random_command_ends_as_documented_and_leaves_nothing(
    seed: int, played: Path, running_league: str, tmp_path: Path
) -> None:
    rng = Random(seed)
    shared = shutil.copytree(played, tmp_path / "SHARED")
    port = int(running_league.split(":")[2].split("/", maxsplit=1)[0])
    world = World(shared, running_league, port)
    words = draw_command(rng, world)
    assert (words, list(run_command(rng, words, world))) == (words, [])
