"""`league new`: what it writes, what it says, and what it will not do."""

import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from agent_league.cli.commands import COMMANDS
from agent_league.starters import STARTERS
from cli.league_command import league
from starters.programs import written

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("kind", "lang"), STARTERS)
def test_a_starter_is_written_and_the_next_two_commands_are_said(
    kind: str, lang: str, tmp_path: Path
) -> None:
    done = league("new", kind, "Ada", "--lang", lang, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = done.stdout.splitlines()
    assert files
    assert all((tmp_path / file).is_file() for file in files)
    commands = re.findall(r"^  (\S.*?)  +\S", done.stderr, re.MULTILINE)
    assert len(commands) == 2
    assert {word for line in commands for word in re.findall(r"league (\w+)", line)} <= set(
        COMMANDS
    )
    named = [word for line in commands for word in line.split() if word.startswith("ada")]
    assert all((tmp_path / word.partition(",")[0]).exists() or word == "ada" for word in named)


@pytest.mark.parametrize(("kind", "lang"), STARTERS)
def test_nothing_is_ever_overwritten(kind: str, lang: str, tmp_path: Path) -> None:
    program = written(tmp_path, kind, "Ada", "--lang", lang)
    program.write_text("mine", encoding="utf-8")
    again = league("new", kind, "Ada", "--lang", lang, cwd=tmp_path)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert program.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "name",
    [
        "Ada Lovelace",
        'Ada "the \\ first"',
        "Zo\u00eb",
        "'; rm -rf ~ #",
        "\u05d0\u05d3\u05d4",
        "{slug}",
    ],
)
def test_any_name_that_a_player_may_have_is_written_as_it_is(name: str, tmp_path: Path) -> None:
    for lang in ("python", "python-plain"):
        program = written(tmp_path, "player", name, "--lang", lang, "--into", lang)
        assert runpy.run_path(str(program))["NAME"] == name


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        (("player", "   "), "nobody can be called"),
        (("player", "a" * 51), "nobody can be called"),
        (("player", "a\nb"), "nobody can be called"),
        (("player", "!!!"), "no file can be called"),
        (("game", "7 wonders"), "no Python module can be called '7_wonders'"),
        (("strategy", "class"), "no Python module can be called 'class'"),
        (("strategy", "Random"), "random.py would hide the module 'random' of Python"),
        (("referee", "Ada", "--lang", "js"), "there is no referee in js; there is python-plain"),
    ],
)
def test_what_cannot_be_is_said_and_leaves_nothing(
    words: tuple[str, ...], reply: str, tmp_path: Path
) -> None:
    done = league("new", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert reply in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_every_file_of_a_starter_is_handed_out_and_every_one_handed_out_is_there() -> None:
    import agent_league.starters  # noqa: PLC0415 - its folder is what matters here

    folder = Path(agent_league.starters.__file__).parent
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.*")
        if path.parent != folder and "__pycache__" not in path.parts
    }
    assert there == {source for starter in STARTERS.values() for source in starter.files}


def test_the_wheel_holds_every_starter(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent.parent
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    assert uv, "uv comes with the requirements"
    build = ["build", "--wheel", "--quiet", "--offline", "--no-build-isolation"]
    where = ["--python", sys.executable, "--out-dir", str(tmp_path), str(root)]
    subprocess.run([uv, *build, *where], capture_output=True, timeout=50, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    sources = {source for starter in STARTERS.values() for source in starter.files}
    assert {f"agent_league/starters/{source}" for source in sources} <= packed
