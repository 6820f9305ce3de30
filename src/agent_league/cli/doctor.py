"""`league doctor`: what this machine needs to run a league, checked one by one."""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.text import Text

from agent_league.cli import league_options as flags
from agent_league.cli.console import choose_symbols, print_document, show
from agent_league.cli.exit_codes import Exit
from agent_league.llm import EndpointError, LlmMind, read_endpoint
from agent_league.running.event_loop import run
from agent_league.running.folder import SHARED
from agent_league.running.serve import LOOPBACK, AddressError, bind
from agent_league.running.specs import MANAGER_PORT, PORT_OFFSETS

OLDEST_PYTHON = (3, 11)
ROOM = 100 * 2**20
"""Bytes that a league with transcripts may well need."""
FILES = 512
"""Open files and connections: a league of 100 players has about four for each."""
PATIENCE = 60.0
MARKS, PLAIN_MARKS = {True: "✓", False: "✗"}, {True: "ok", False: "NO"}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, and what to do if it is not as it should be."""

    what: str
    ok: bool
    found: str
    fix: str = ""


def doctor(
    *,
    model: str | None = None,
    shared: flags.Shared = SHARED,
    json: flags.Json = False,
) -> None:
    """Check whether this machine can run a league, and say what to do where it cannot.

    The exit code is 1 if something is not as it should be.

    Parameters
    ----------
    model
        Also ask this model for a word; docs/comparing-agents.md says how it is reached.
    """
    findings = [*_check_machine(shared)]
    if model or os.environ.get("LEAGUE_LLM_MODEL"):
        findings += run(_check_model(model or ""))
    if json:
        print_document(findings=[asdict(one) for one in findings])
    else:
        marks = choose_symbols(MARKS, PLAIN_MARKS)
        for one in findings:
            fix = "" if one.ok else f"\n    hint: {one.fix}"
            show(Text(f"{marks[one.ok]} {one.what}: {one.found}{fix}"), soft_wrap=True)
    if not all(one.ok for one in findings):
        sys.exit(Exit.NO)


def _check_machine(shared: Path) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(
        "Python", sys.version_info >= OLDEST_PYTHON, version, "install Python 3.11 or newer"
    )
    for name, port in {
        "the manager's port": MANAGER_PORT,
        **{f"the first port of {role}s": MANAGER_PORT + n for role, n in PORT_OFFSETS.items()},
    }.items():
        yield _try_port(name, port)
    folder = _find_existing(shared)
    writable = os.access(folder, os.W_OK)
    where = "can" if writable else "cannot"
    yield Finding(
        "the folder", writable, f"{where} write to {folder}", "choose another with --shared"
    )
    room = shutil.disk_usage(folder).free
    yield Finding("room on the disk", room > ROOM, f"{room // 2**20} MB", "make room, or --shared")
    limit = _count_files()
    yield Finding("open files", limit >= FILES, f"at most {limit}", f"ulimit -n {8 * FILES}")


async def _check_model(model: str) -> list[Finding]:
    """Ask the model for a word, and whether the endpoint has it."""
    try:
        mind = LlmMind(read_endpoint(model))
    except EndpointError as error:
        return [Finding("the model", False, str(error), "league doctor --model NAME")]
    endpoint, took = mind.endpoint, list[dict[str, object]]()
    mind.note = lambda **record: took.append(record)
    try:
        await asyncio.wait_for(mind.warm_up(), PATIENCE)
    except (EndpointError, TimeoutError) as error:
        why = str(error) or f"no answer in {PATIENCE:.0f} s"
        fix = f"start it (ollama serve; ollama pull {endpoint.model}), or set LEAGUE_LLM_BASE_URL"
        return [Finding("the model", False, why, fix)]
    return [Finding("the model", True, f"{endpoint.model} answers in {took[0]['milliseconds']} ms")]


def _try_port(name: str, port: int) -> Finding:
    try:
        bind(LOOPBACK, port).close()
    except AddressError as error:
        return Finding(name, False, str(error), "end that, or choose other ports with --port-base")
    return Finding(name, True, f"{port} is free")


def _find_existing(folder: Path) -> Path:
    """Return *folder*, or the first above it that exists."""
    return next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())


def _count_files() -> int:
    """Return how many files a process may open."""
    limits: Callable[[], int] = _read_limit if os.name == "posix" else lambda: sys.maxsize
    return limits()


def _read_limit() -> int:
    import resource  # noqa: PLC0415 - not on every system

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else sys.maxsize
