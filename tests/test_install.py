"""The wheel that the README installs has everything that a league needs."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from terminals import BIN

ROOT = Path(__file__).parent.parent


@pytest.mark.processes
def test_the_wheel_of_the_readme_plays_a_league(tmp_path: Path) -> None:
    build = ["build", "--quiet", "--wheel", "--no-build-isolation", "--python", sys.executable]
    uv = [str(BIN / "uv"), *build, "--out-dir", str(tmp_path), str(ROOT)]
    subprocess.run(uv, check=True, capture_output=True)
    (named,) = set(
        re.findall(r"\bagent_league-\S+?\.whl\b", (ROOT / "README.md").read_text("utf-8"))
    )
    installed = tmp_path / "installed"
    with zipfile.ZipFile(tmp_path / named) as wheel:
        wheel.extractall(installed)
    script = (
        "import agent_league, sys; from agent_league.cli import main; "
        f"assert agent_league.__file__.startswith({str(installed)!r}), agent_league.__file__; "
        "main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "play", "--display", "none", "--port-base", "0"],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Champion" in done.stdout
