"""Starters: small programs to copy and change (`league new`), in a folder per language."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

PLAYER_URL = "http://127.0.0.1:8101/mcp"
PYTHON = "{python}"
"""Placeholder for the Python interpreter that has this package."""


@dataclass(frozen=True)
class Starter:
    """The files to write and the commands to type next; `{slug}` stands for the file name."""

    files: Mapping[str, str]
    """Where each file is written, by its place in this package."""
    next: Mapping[str, str]
    """The next commands, and what each does."""


_START = "start it; it joins the league at 127.0.0.1:8000 as soon as there is one"
_TRY = {f"league practice {PLAYER_URL} --vs random,mirror": "play against it, in another terminal"}

STARTERS: Mapping[tuple[str, str], Starter] = {
    ("player", "python"): Starter(
        {"player/python/player.py": "{slug}/player.py"},
        {f"{PYTHON} {{slug}}/player.py": _START, **_TRY},
    ),
    ("player", "python-plain"): Starter(
        {"player/python_plain/player.py": "{slug}/player.py"},
        {f"{PYTHON} {{slug}}/player.py": _START, **_TRY},
    ),
    ("player", "js"): Starter(
        {"player/js/player.mjs": "{slug}/player.mjs"},
        {"node {slug}/player.mjs": _START, **_TRY},
    ),
    ("player", "curl"): Starter(
        {"player/curl/messages.sh": "{slug}/messages.sh"},
        {
            "league player --patient": "start a player to talk to, in another terminal",
            f"sh {{slug}}/messages.sh match {PLAYER_URL}": "send it the messages of a referee",
        },
    ),
    ("referee", "python-plain"): Starter(
        {"referee/python_plain/referee.py": "{slug}/referee.py"},
        {
            "league manager --players 2": "open a league, in another terminal",
            f"{PYTHON} {{slug}}/referee.py": "start it; it waits for matches",
        },
    ),
    ("game", "python"): Starter(
        {
            "game/python/game.py": "{slug}/{slug}.py",
            "game/python/pyproject.toml": "{slug}/pyproject.toml",
        },
        {
            f"{PYTHON} {{slug}}/{{slug}}.py": "play a game at random",
            f"{PYTHON} -m pip install -e {{slug}} && league play --game {{slug}}": "a league of it",
        },
    ),
    ("strategy", "python"): Starter(
        {"strategy/python/strategy.py": "{slug}.py"},
        {
            "league play --strategy {slug}.py,random,markov": "let it play on this machine",
            "league player --strategy {slug}.py": "join a league that is running",
        },
    ),
}


def languages(kind: str) -> list[str]:
    """Return the languages that have a starter of that *kind*, the usual one first."""
    return [language for found, language in STARTERS if found == kind]


def slugify(name: str) -> str:
    """Return *name* as the name of a file or module."""
    return re.sub(r"\W+", "_", name.strip().lower()).strip("_")


def render(starter: Starter, name: str) -> dict[str, str]:
    """Return the text of each file of *starter*, made for *name*, by where it is written."""
    package = files(__package__)
    return {
        place.format(slug=slugify(name)): _insert_name(
            (package / source).read_text(encoding="utf-8"), name
        )
        for source, place in starter.files.items()
    }


def _insert_name(text: str, name: str) -> str:
    """Replace the names that the starters are tested with by *name*."""
    quoted, module_name = json.dumps(name, ensure_ascii=False), slugify(name)
    names = {
        'NAME = "Ada"': f"NAME = {quoted}",
        "NAME='Ada'": f"NAME={shlex.quote(quoted[1:-1])}",
        '"agent-league-game"': f'"agent-league-{module_name.replace("_", "-")}"',
        'game = "game:game"': f'{module_name} = "{module_name}:game"',
        '"game.py"': f'"{module_name}.py"',
        "--strategy FILE": f"--strategy {module_name}.py",
    }
    for old, new in names.items():
        text = text.replace(old, new)
    return text
