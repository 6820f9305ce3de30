"""Small environments for libraries that cannot live together, made once and kept."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "foreign"
LIBRARIES = {"sdk_2": "mcp==2.3.0", "sdk_1": "mcp==1.30.0", "fast": "fastmcp==4.1.2"}
"""By the name of the server that needs it."""


def python_with(requirement: str) -> Path:
    """Return a Python that has *requirement*; the first time, that takes a minute."""
    home = CACHE / requirement.replace("==", "-")
    python = home / "bin" / "python"
    if not python.exists():
        _make(home, requirement)
    return python


def _make(home: Path, requirement: str) -> None:
    """Make an environment beside, and move it to its place when it is whole."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        made = Path(folder) / home.name
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--relocatable", str(made)], check=True)
        python = made / "bin" / "python"
        install = [*uv, "pip", "install", "--quiet", "--python", str(python), requirement]
        subprocess.run(install, check=True)
        shutil.move(made, home)
