"""How a command ends when something went wrong: what, why, what to do now, and an exit code."""

import json
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from enum import IntEnum
from pathlib import Path
from types import MappingProxyType

from agent_league.agent import NotAdmittedError
from agent_league.check import NobodyThereError, UnknownRoleError
from agent_league.hosting import AddressError
from agent_league.local import AgentDiedError
from agent_league.player import NoSuchStrategyError
from agent_league.practice import AgentAbsentError
from agent_league.protocol import LeagueError
from agent_league.sdk import ConfigError
from agent_league.store import StoreError
from agent_league.transport import NoAnswerError


class Exit(IntEnum):
    """The exit codes of every command."""

    OK = 0
    NO = 1
    USAGE = 2
    ENVIRONMENT = 3
    UNREACHABLE = 4
    PROTOCOL = 5
    BUG = 70
    INTERRUPTED = 130


class UsageError(LeagueError):
    """The command was not called as it can be."""

    def __init__(self, detail: str, hint: str = "league --help") -> None:
        super().__init__(detail)
        self.hint = hint


def _port_hint(error: Exception) -> str:
    return "choose other ports with --port-base 9000 (or --port), or stop that process"


_STORE_HINTS = (
    ("is damaged", "put a copy of it in its place, or begin anew elsewhere with --shared"),
    ("was cut off", "put a copy of it in its place, or begin anew elsewhere with --shared"),
    ("is a store of version", "pip install --upgrade agent-league, or another --shared"),
    ("refuses the user", "the password may be in --store, in PGPASSWORD or in ~/.pgpass"),
    ("there is no such database", "createdb makes it"),
    ("holds no league", "league leagues shows which there are"),
    ("is being run by", "end that one first, or look at it with: league status"),
)
_KEPT = "what was acknowledged is kept; when that is mended, go on with: league resume"


def _store_hint(error: Exception) -> str:
    return next((hint for said, hint in _STORE_HINTS if said in str(error)), _KEPT)


_ENDINGS: Mapping[type[Exception], tuple[Exit, Callable[[Exception], str]]] = MappingProxyType(
    {
        AddressError: (Exit.ENVIRONMENT, _port_hint),
        UsageError: (Exit.USAGE, lambda error: str(getattr(error, "hint", ""))),
        NoSuchStrategyError: (Exit.USAGE, lambda error: "see docs/writing-a-strategy.md"),
        NotAdmittedError: (Exit.NO, lambda error: "the league decides who may join, and when"),
        AgentAbsentError: (
            Exit.UNREACHABLE,
            lambda error: "start the agent first; league new player NAME writes one",
        ),
        NobodyThereError: (
            Exit.UNREACHABLE,
            lambda error: "start the agent first, or give the address that it listens at",
        ),
        UnknownRoleError: (
            Exit.PROTOCOL,
            lambda error: "say what it is with --role player, --role referee or --role manager",
        ),
        NoAnswerError: (
            Exit.UNREACHABLE,
            lambda error: "is a league running there? start one with: league start",
        ),
        AgentDiedError: (Exit.BUG, lambda error: "its own words are above"),
        ConfigError: (Exit.USAGE, lambda error: "see docs/files.md"),
        StoreError: (Exit.ENVIRONMENT, _store_hint),
        LeagueError: (Exit.PROTOCOL, lambda error: ""),
    }
)


def ended_by(error: BaseException, *, as_json: bool = False) -> Exit:
    """Tell the person what happened, and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print("\nInterrupted. Everything is stopped.", file=sys.stderr)
        return Exit.INTERRUPTED
    cause = _league_error(error)
    if cause is None:
        return _bug(error)
    found = next(ending for kind, ending in _ENDINGS.items() if isinstance(cause, kind))
    code, hint = found[0], found[1](cause)
    if as_json:
        problem = {"code": int(code), "message": str(cause), "hint": hint}
        print(json.dumps({"schema_version": 1, "error": problem}))
        return code
    print(f"error: {cause}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
    return code


def _league_error(error: BaseException) -> LeagueError | None:
    """Return the error that a person can act on, from inside a group if need be."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_league_error, error.exceptions)), None)
    return error if isinstance(error, LeagueError) else None


def _bug(error: BaseException) -> Exit:
    with tempfile.NamedTemporaryFile(
        "w", prefix="league-crash-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.writelines(traceback.format_exception(error))
    print(f"error: this is a fault of ours: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"hint: please report it with {Path(file.name)}", file=sys.stderr)
    return Exit.BUG
