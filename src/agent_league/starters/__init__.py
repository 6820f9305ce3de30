"""Starters: small programs that are handed out, to be changed. Real files, a folder per language."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

AT_PLAYER = "http://127.0.0.1:8101/mcp"
WITH = "{python}"
"""Stands for the Python that has this package."""


@dataclass(frozen=True)
class Starter:
    """What is written, and what to type next; `{slug}` stands for the name as files have it."""

    files: Mapping[str, str]
    """Where each file goes, by where it lies in this package."""
    next: Mapping[str, str]
    """The next commands, each with what it does."""


_START = "start it; it joins the league at 127.0.0.1:8000 as soon as there is one"
_TRY = {f"league practice {AT_PLAYER} --vs random,mirror": "play against it, in another terminal"}

STARTERS: Mapping[tuple[str, str], Starter] = MappingProxyType(
    {
        ("player", "python"): Starter(
            {"player/python/player.py": "{slug}/player.py"},
            {f"{WITH} {{slug}}/player.py": _START, **_TRY},
        ),
        ("player", "python-plain"): Starter(
            {"player/python_plain/player.py": "{slug}/player.py"},
            {f"{WITH} {{slug}}/player.py": _START, **_TRY},
        ),
        ("player", "js"): Starter(
            {"player/js/player.mjs": "{slug}/player.mjs"},
            {"node {slug}/player.mjs": _START, **_TRY},
        ),
        ("player", "curl"): Starter(
            {"player/curl/messages.sh": "{slug}/messages.sh"},
            {
                "league player --patient": "start a player to talk to, in another terminal",
                f"sh {{slug}}/messages.sh match {AT_PLAYER}": "say to it what a referee says",
            },
        ),
        ("referee", "python-plain"): Starter(
            {"referee/python_plain/referee.py": "{slug}/referee.py"},
            {
                "league manager --players 2": "open a league, in another terminal",
                f"{WITH} {{slug}}/referee.py": "start it; it waits for matches",
            },
        ),
        ("game", "python"): Starter(
            {
                "game/python/game.py": "{slug}/{slug}.py",
                "game/python/pyproject.toml": "{slug}/pyproject.toml",
            },
            {
                f"{WITH} {{slug}}/{{slug}}.py": "play a game at random",
                f"{WITH} -m pip install -e {{slug}} && league play --game {{slug}}": "a league of it",
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
)


def languages(kind: str) -> list[str]:
    """Return the languages in which there is a starter of that *kind*, the usual one first."""
    return [language for found, language in STARTERS if found == kind]


def slug(name: str) -> str:
    """Return *name* as a file or a module can be called."""
    return re.sub(r"\W+", "_", name.strip().lower()).strip("_")


def written(starter: Starter, name: str) -> dict[str, str]:
    """Return the text of every file of a starter for *name*, by where it goes."""
    here = files(__package__)
    return {
        place.format(slug=slug(name)): _named((here / source).read_text(encoding="utf-8"), name)
        for source, place in starter.files.items()
    }


def _named(text: str, name: str) -> str:
    """Put *name* where the starters have the names that they are tested with."""
    quoted, called = json.dumps(name, ensure_ascii=False), slug(name)
    names = {
        'NAME = "Ada"': f"NAME = {quoted}",
        "NAME='Ada'": f"NAME={shlex.quote(quoted[1:-1])}",
        '"agent-league-game"': f'"agent-league-{called.replace("_", "-")}"',
        'game = "game:game"': f'{called} = "{called}:game"',
        '"game.py"': f'"{called}.py"',
        "--strategy FILE": f"--strategy {called}.py",
    }
    for old, new in names.items():
        text = text.replace(old, new)
    return text
