"""`league new`: a starter of one's own, that works at once."""

import shlex
import shutil
import sys
from keyword import iskeyword
from pathlib import Path
from typing import Literal

import msgspec

from agent_league.cli.console import print_next_steps
from agent_league.protocol.fields import DisplayName
from agent_league.running.errors import UsageError
from agent_league.starters import STARTERS, Starter, languages, render, slugify

Kind = Literal["player", "referee", "game", "strategy"]
Language = Literal["python", "python-plain", "js", "curl"]
CURRENT_FOLDER = Path()


def new(
    kind: Kind, name: str, /, *, lang: Language | None = None, into: Path = CURRENT_FOLDER
) -> None:
    """Write a starter of your own, and say what to type next. Nothing is ever overwritten.

    Parameters
    ----------
    kind
        What to write: a player, a referee, a game or a strategy.
    name
        What it is called; its folder or file is called so too.
    lang
        python: on top of this package; python-plain and js: on top of nothing; curl: by hand.
    into
        The folder to write it into.
    """
    starter = _find_starter(kind, lang)
    _check_name(kind, name)
    texts = {into / place: text for place, text in render(starter, name).items()}
    for path in texts:
        target = path.parent if path.parent != into else path
        if target.exists():
            raise UsageError(
                f"{target} is there already", "choose another name, or --into a folder"
            )
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    found = shutil.which("python")
    is_ours = found is not None and Path(found) == Path(sys.executable)
    names = {"slug": slugify(name), "python": "python" if is_ours else sys.executable}
    where = "" if into == CURRENT_FOLDER else f"cd {shlex.quote(str(into))} && "
    steps = {where + command.format(**names): why for command, why in starter.next.items()}
    print_next_steps(steps)


def _find_starter(kind: Kind, lang: Language | None) -> Starter:
    available = languages(kind)
    if lang is not None and lang not in available:
        hint = f"league new {kind} NAME --lang {available[0]}"
        raise UsageError(f"there is no {kind} in {lang}; there is {', '.join(available)}", hint)
    return STARTERS[kind, lang or available[0]]


def _check_name(kind: Kind, name: str) -> None:
    try:
        msgspec.convert(name, DisplayName)
    except msgspec.ValidationError as error:
        wanted = "1 to 50 visible characters"
        raise UsageError(f"nobody can be called {name!r}: expected {wanted}") from error
    file_name = slugify(name)
    if not file_name:
        raise UsageError(f"no file can be called {name!r}", "give it a letter or a digit")
    if kind in {"game", "strategy"} and (not file_name.isidentifier() or iskeyword(file_name)):
        raise UsageError(f"no Python module can be called {file_name!r}", "begin with a letter")
    if kind in {"game", "strategy"} and file_name in sys.stdlib_module_names:
        problem = f"{file_name}.py would hide the module {file_name!r} of Python from your programs"
        raise UsageError(problem, f"league new {kind} my_{file_name}")
