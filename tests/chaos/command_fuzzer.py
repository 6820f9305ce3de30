"""Random commands of `league`, with random flags, whose streams are closed at random."""

import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, get_args
from uuid import uuid4

import psutil
from cyclopts import App

from agent_league.cli.app import make_app
from agent_league.cli.commands import COMMANDS
from cli.league_process import HEARING_CTRL_C, PLAIN

MARK = "COMMAND_FUZZER"
"""The environment variable by which the processes of a command are found."""
TIME_TO_END = 240.0
"""Seconds that a command has to end once it should, on a very busy machine."""
TIME_TO_IMPORT = 20.0
MEMORY = 6 << 30
ODD_TEXTS = (
    "",
    " ",
    "-",
    "nonsense",
    "P01",
    "a" * 300,
    "../..",
    "\x1b[31m",
    "ünï",
    "[/]",
    "%s",
    "{}",
)
ODD_NUMBERS = ("-1", "1000000000", "x", "1e3", "nan", "")


@dataclass(frozen=True)
class World:
    """What a command may find: a folder with leagues, and a league that is running."""

    shared: Path
    url: str
    port: int

    def list_values(self, name: str) -> tuple[str, ...]:
        """Return what a flag or a parameter of that name could sensibly be given."""
        ids = ("league_2025_even_odd", "league_2025_even_odd_2", "nonsense")
        addresses = (self.url, self.url.removesuffix("/mcp"), "http://127.0.0.1:9/mcp", "x://y")
        strategies = ("random", "markov,random", "missing.py", str(self.shared / "mine.py"))
        return {
            "--port": ("0", str(self.port)),
            "--port-base": ("0", str(self.port)),
            "--league-port": ("0", str(self.port)),
            "--host": ("127.0.0.1", "nonsense.invalid", "256.1.1.1", "::1"),
            "--endpoint": ("http://127.0.0.1:9/mcp", "nonsense"),
            "--store": ("memory", str(self.shared / "mine.py"), "postgresql://127.0.0.1:9/none"),
            "--strategy": strategies,
            "--vs": strategies,
            "--game": ("even_odd", "tic_tac_toe"),
            "--into": (str(self.shared / "new"), "/proc/none"),
            "--rubric": (str(self.shared / "mine.py"), "missing.toml"),
            "--mcp-command": ("true", "cat", "sleep 1000", "no-such-program"),
            "--mcp": addresses,
            "--league": (*addresses, *ids),
            "LEAGUE": (*addresses, *ids),
            "AGENT": addresses,
            "URL": addresses,
            "--stored": ids,
            "MATCH": ("R1M1", "R9M9"),
            "PLAYER": ("P01", "P99"),
            "MESSAGE": ("GAME_OVER", "NONSENSE"),
        }.get(name, ())


def draw_command(rng: Random, world: World) -> list[str]:
    """Return the words of a command: mostly sensible, sometimes not."""
    path, command = _draw_leaf(rng, make_app()[(name := rng.choice(list(COMMANDS)))], [name])
    words = list(path)
    for argument in command.assemble_argument_collection():
        name, hint = argument.names[0], argument.hint
        always = not name.startswith("-") or "port" in name
        if name == "--shared":
            places = (world.shared, world.shared, world.shared, Path("/proc/none"), Path("missing"))
            words += [name, str(rng.choice(places))]
        elif rng.random() < (0.9 if always else 0.25):
            value = [] if hint is bool else [_draw_value(rng, name, hint, world)]
            words += [*([name] if name.startswith("-") else []), *value]
    if rng.random() < 0.1:
        words.insert(
            rng.randrange(len(words) + 1), rng.choice(("--no-such-flag", "--help", "word"))
        )
    return words


def _draw_leaf(rng: Random, found: App, path: list[str]) -> tuple[list[str], App]:
    """Return a command that has no commands of its own."""
    names = [name for name in found if not name.startswith("-")]
    while names and found.default_command is None:
        path, found = [*path, (name := rng.choice(names))], found[name]
        names = [name for name in found if not name.startswith("-")]
    return path, found


def _draw_value(rng: Random, name: str, hint: Any, world: World) -> str:
    sensible = world.list_values(name)
    is_number = int in (hint, *get_args(hint)) or float in (hint, *get_args(hint))
    odd = ODD_NUMBERS if is_number else ODD_TEXTS
    if not sensible:
        literals = [choice for kind in (hint, *get_args(hint)) for choice in get_args(kind)]
        texts = [choice for choice in literals if isinstance(choice, str)]
        sensible = tuple(texts) or (("1", "2", "3") if is_number else ("some_name",))
    return rng.choice(sensible if rng.random() < 0.85 else odd)


def run_command(rng: Random, words: list[str], world: World) -> Iterator[str]:
    """Run a command whose streams are closed at a random moment; yield what is wrong with it."""
    mark = uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING_CTRL_C, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if (merged := rng.random() < 0.3) else subprocess.PIPE,
        env={**PLAIN, MARK: mark, "HOME": str(world.shared)},
        cwd=world.shared,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),  # noqa: PLW1509
    )
    pipes = [pipe for pipe in (process.stdout, None if merged else process.stderr) if pipe]
    closed = rng.sample(pipes, rng.choice((0, 0, 1, len(pipes))))
    output = _read(pipes, closed, seconds=rng.uniform(0, 6))
    if process.stdout not in closed:
        if not output:  # Python itself answers Ctrl-C with a traceback until we are imported
            output += _read(pipes, [], seconds=TIME_TO_IMPORT, enough=1)
        process.send_signal(signal.SIGINT)
    output += _read(pipes, [], seconds=TIME_TO_END)
    try:
        code = process.wait(TIME_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
        yield "it never ended"
    for pipe in pipes:
        pipe.close()
    text = output.decode(errors="replace")
    if code not in {0, 1, 2, 3, 4, 5, 130}:
        yield f"its exit code is {code}"
    if "Traceback" in text or "fault of ours" in text:
        yield f"it has a traceback: {text[-1500:]}"
    if left := _find_left(mark):
        yield f"it left {left}"


def _read(
    pipes: list[Any], closed: list[Any], *, seconds: float, enough: int = sys.maxsize
) -> bytes:
    """Return what comes within *seconds*, or until it is *enough*; then close some of the pipes."""
    output, deadline = b"", time.monotonic() + seconds
    open_pipes = [pipe for pipe in pipes if not pipe.closed]
    while open_pipes and len(output) < enough and (left := deadline - time.monotonic()) > 0:
        for pipe in select.select(open_pipes, [], [], left)[0]:
            if data := os.read(pipe.fileno(), 65536):
                output += data
            else:
                open_pipes.remove(pipe)
    for pipe in closed:
        pipe.close()
    return output


def _find_left(mark: str) -> list[str]:
    """Return the processes of a command that are still there when they had time to end."""
    left = [process for process in psutil.process_iter() if _has_mark(process, mark)]
    _, alive = psutil.wait_procs(left, timeout=TIME_TO_END)
    names = [" ".join(process.cmdline())[-150:] for process in alive]
    for process in alive:
        process.kill()
    return names


def _has_mark(process: psutil.Process, mark: str) -> bool:
    with suppress(psutil.Error):
        return process.environ().get(MARK) == mark
    return False
