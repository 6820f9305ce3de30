"""The promises about the shape of the code, kept by measuring it."""

import ast
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(path for top in ("src", "bench") for path in (ROOT / top).rglob("*.py"))

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def nodes() -> list[tuple[str, Function | ast.Global]]:
    """Return the functions and the `global` statements of all sources, and where each stands."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    return [
        (f"{name_of(path)}:{node.lineno}", node)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, Function | ast.Global)
    ]


def lengths() -> dict[str, int]:
    """Return how long each function is, by its place and name."""
    return {
        f"{place} {node.name}": length(node)
        for place, node in nodes()
        if isinstance(node, Function)
    }


def length(function: Function) -> int:
    """Count the lines from `def` to the end, without the docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def lines_of(*paths: Path) -> Iterator[tuple[str, str]]:
    """Yield every line with the place where it stands."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{name_of(path)}:{number}", line


def committed() -> list[Path]:
    """Return the text files that git keeps, or would keep."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(f"git cannot list the files: {found.stderr.strip()}")
    paths = [ROOT / name for name in found.stdout.split("\0") if name]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8000]]


def test_no_file_is_long() -> None:
    counts = {name_of(path): path.read_text(encoding="utf-8").count("\n") for path in SOURCES}
    assert {name: count for name, count in counts.items() if count > 350} == {}


def test_no_function_is_long() -> None:
    assert {place: lines for place, lines in lengths().items() if lines > 40} == {}


def test_most_functions_are_short() -> None:
    found = sorted(lengths().values())
    assert statistics.median(found) <= 6
    assert found[int(len(found) * 0.9)] <= 15


def test_nothing_is_global() -> None:
    assert [place for place, node in nodes() if isinstance(node, ast.Global)] == []


EDGES = {
    "http/site.py": "a bug in one answer must not end the agent",
    "referee/player_line.py": "somebody's game judges a move, and a match must end",
    "player/brain.py": "somebody's file is loaded",
    "player/decision.py": "somebody's strategy runs",
    "starters/player/python_plain/player.py": "the same, in a program of its own",
    "cli/__init__.py": "a command ends with a sentence",
}


def test_only_the_edges_catch_everything() -> None:
    broad = re.compile(r"^\s*except\s*(\(?\s*(Base)?Exception\b.*)?:")
    found = [place for place, line in lines_of(*SOURCES) if broad.match(line)]
    assert [place for place in found if not any(edge in place for edge in EDGES)] == []


def test_every_exception_to_a_rule_has_a_reason() -> None:
    noqa = re.compile(r"#\s*(ruff:\s*)?noqa\b(?!: [A-Z]+[0-9]+(, ?[A-Z]+[0-9]+)* - \S)")
    ignore = re.compile(r"#\s*type:\s*ignore(?!\[[a-z, -]+\]\s*# \S)")
    found = [
        f"{place}: {line.strip()}"
        for place, line in lines_of(*SOURCES)
        if noqa.search(line) or ignore.search(line)
    ]
    assert found == []


def test_no_committed_file_names_a_machine_or_a_registry() -> None:
    # Spelled in halves, so that this file may be searched too.
    hosts = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com")
    folders = ("/ho" + "me/", "/Us" + "ers/", "/ro" + "ot/", "/wo" + "rk/", "C:" + "\\Users")
    names = re.compile("|".join(map(re.escape, (*hosts, *folders))))
    found = [
        f"{place}: {line.strip()[:80]}"
        for place, line in lines_of(*committed())
        if names.search(line)
    ]
    assert found == []
