"""How this program can be called again: the commands that it prints must work where they are read."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from agent_league.cli.commands import COMMANDS

_COMMAND = re.compile(rf"\bleague(?= (?:{'|'.join(map(re.escape, COMMANDS))}|--help)\b)")


def name_program() -> str:
    """Return `league` if that works here, or else how this program was called."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" and called.parent.name == "agent_league":
        return f"{_shorten(Path(sys.executable))} -m agent_league"
    if called.name != "league" or _is_on_path(called):
        return "league"
    return _shorten(called)


def _is_on_path(program: Path) -> bool:
    found = shutil.which("league")
    return found is not None and program.exists() and program.samefile(found)


def _shorten(path: Path) -> str:
    """Return *path* as it is typed in the current folder: short if it is inside that, and quoted."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    here = Path.cwd()
    shortest = absolute.relative_to(here) if absolute.is_relative_to(here) else absolute
    return shlex.quote(str(shortest))


def localise(text: str) -> str:
    """Return *text* with its commands as they can be typed here."""
    return _COMMAND.sub(lambda _: name_program(), text)
