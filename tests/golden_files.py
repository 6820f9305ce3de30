"""Where the golden files are, and what compares a value with one."""

from collections.abc import Callable
from pathlib import Path

from agent_league.vocabulary import Json

GOLDEN = Path(__file__).parent / "golden"

Golden = Callable[[str, Json], None]
"""Called with the name of a file and the value that should be in it."""
