"""Runs every `league simulate` of docs/capacity.md again, and writes down what it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs/capacity.md"
SHOWN = re.compile(r"(```sh\n(league simulate [^\n]+)\n```\n\n```text\n).*?(```)", re.DOTALL)


def run(line: str) -> str:
    """Return what a command prints."""
    words = [sys.executable, "-m", "agent_league", *shlex.split(line)[1:]]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - our page
    return re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)


def main() -> None:
    """Write the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(SHOWN.sub(lambda m: f"{m[1]}{run(m[2])}{m[3]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
