"""`league new`: a starter of one's own, that works at once."""

import shlex
import shutil
import sys
from keyword import iskeyword
from pathlib import Path
from typing import Literal

import msgspec

from agent_league.cli.endings import UsageError
from agent_league.protocol.fields import DisplayName
from agent_league.starters import STARTERS, Starter, languages, slug, written

Kind = Literal["player", "referee", "game", "strategy"]
Language = Literal["python", "python-plain", "js", "curl"]
HERE = Path()


def new(kind: Kind, name: str, /, *, lang: Language | None = None, into: Path = HERE) -> None:
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
    starter = _starter(kind, lang)
    _check(kind, name)
    texts = {into / place: text for place, text in written(starter, name).items()}
    for path in texts:
        taken = path.parent if path.parent != into else path
        if taken.exists():
            raise UsageError(f"{taken} is there already", "choose another name, or --into a folder")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    _say_next(starter, name, into)


def _starter(kind: Kind, lang: Language | None) -> Starter:
    known = languages(kind)
    if lang is not None and lang not in known:
        hint = f"league new {kind} NAME --lang {known[0]}"
        raise UsageError(f"there is no {kind} in {lang}; there is {', '.join(known)}", hint)
    return STARTERS[kind, lang or known[0]]


def _check(kind: Kind, name: str) -> None:
    try:
        msgspec.convert(name, DisplayName)
    except msgspec.ValidationError as error:
        wanted = "1 to 50 visible characters"
        raise UsageError(f"nobody can be called {name!r}: expected {wanted}") from error
    called = slug(name)
    if not called:
        raise UsageError(f"no file can be called {name!r}", "give it a letter or a digit")
    if kind in {"game", "strategy"} and (not called.isidentifier() or iskeyword(called)):
        raise UsageError(f"no Python module can be called {called!r}", "begin with a letter")


def _say_next(starter: Starter, name: str, into: Path) -> None:
    where = "" if into == HERE else f"cd {shlex.quote(str(into))} && "
    commands = {
        f"{where}{command.format(slug=slug(name), python=_python())}": why
        for command, why in starter.next.items()
    }
    width = max(map(len, commands))
    print("", "Next:", sep="\n", file=sys.stderr)
    for command, why in commands.items():
        print(f"  {command:<{width}}  {why}", file=sys.stderr)


def _python() -> str:
    """Return what to type for this Python: by its name, if that is the one which is found."""
    found = shutil.which("python")
    return "python" if found and Path(found) == Path(sys.executable) else sys.executable
