"""A game and a strategy in a package of their own play by entry point: nothing here knows them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_league.game import AnyGame
from games.laws import LAWS

EXAMPLE = Path(__file__).parents[2] / "examples" / "nim"
sys.path.append(str(EXAMPLE))

from nim_example.game import game  # noqa: E402 - the package is not installed here


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_game_of_the_example_keeps_the_law(law: Callable[[AnyGame], None]) -> None:
    law(game)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which the package is installed, beside ours."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--offline"]
    where = ["--no-build-isolation", "--python", sys.executable, "--target", str(target)]
    subprocess.run([*pip, *where, str(EXAMPLE)], check=True)
    return {**os.environ, "PYTHONPATH": str(target)}


def league(environment: dict[str, str], folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "agent_league", *words]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.processes
def test_both_play_a_league(installed: dict[str, str], tmp_path: Path) -> None:
    flags = ("--game", "nim", "--strategy", "nim_expert,random", "--players", "2", "--legs", "6")
    played = json.loads(league(installed, tmp_path, "play", *flags, "--port-base", "0", "--json"))
    assert {match["termination"] for match in played["matches"]} == {"completed"}
    assert played["champion"]["display_name"] == "Alpha (nim_expert)"


@pytest.mark.processes
def test_both_play_in_the_lab(installed: dict[str, str], tmp_path: Path) -> None:
    flags = ("--strategies", "nim_expert,random,minimax", "-n", "40", "--seed", "1", "--json")
    found = json.loads(league(installed, tmp_path, "lab", "nim", *flags))
    best = {row["strategy"]: row["win_rate"]["value"] for row in found["strategies"]}
    assert best["nim_expert"] > 0.7
    assert best["minimax"] > 0.6
    assert best["random"] < 0.2
