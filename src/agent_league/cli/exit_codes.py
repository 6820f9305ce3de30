"""How a command ends when something went wrong: what, why, what to do now, and an exit code."""

import json
import re
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Self

from agent_league.cli.commands import COMMANDS
from agent_league.cli.program import localise
from agent_league.printable import make_printable


class Exit(IntEnum):
    """The exit codes of every command, and what each means."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    OK = 0, "done"
    NO = 1, "the answer is no"
    USAGE = 2, "wrong usage"
    ENVIRONMENT = 3, "something on this machine is missing, or a port is taken"
    UNREACHABLE = 4, "nobody answers there"
    PROTOCOL = 5, "a peer broke the protocol"
    BUG = 70, "a fault of ours"
    INTERRUPTED = 130, "interrupted, or nobody reads the output any more"


_STORE_HINTS = (
    ("is damaged", "put a copy of it in its place, or begin anew elsewhere with --shared"),
    ("was deleted", "put a copy of it in its place, then go on with: league resume"),
    ("was cut off", "put a copy of it in its place, or begin anew elsewhere with --shared"),
    ("is a store of version", "pip install --upgrade agent-league, or another --shared"),
    ("refuses the user", "the password may be in --store, in PGPASSWORD or in ~/.pgpass"),
    ("there is no such database", "createdb makes it"),
    ("holds no league", "league leagues shows which there are"),
    ("already: nothing was restored", "choose another place with --shared or --store"),
    ("is being run by", "end that one first, or look at it with: league status"),
    ("was taken over", "nothing is lost: that manager goes on; --standby lets this one follow it"),
    ("only a store in PostgreSQL", "give --store postgresql://user@host/database"),
)
_STORE_HINT = "what was acknowledged is kept; when that is repaired, go on with: league resume"
_EXITS: Mapping[str, tuple[Exit, str]] = {
    "AddressError": (Exit.ENVIRONMENT, "choose other ports with {ports}, or stop that process"),
    "UsageError": (Exit.USAGE, ""),
    "MissingExtraError": (Exit.ENVIRONMENT, ""),
    "EndpointError": (Exit.ENVIRONMENT, "league doctor --model NAME tries the endpoint of a model"),
    "CycloptsError": (Exit.USAGE, "{help}"),
    "NoSuchStrategyError": (Exit.USAGE, "league new strategy NAME writes one"),
    "OrderRefusedError": (Exit.NO, "league status shows where the league stands"),
    "NotAdmittedError": (Exit.NO, "the league decides who may join, and when"),
    "AgentAbsentError": (
        Exit.UNREACHABLE,
        "start the agent first; league new player NAME writes one",
    ),
    "AgentNotFoundError": (
        Exit.UNREACHABLE,
        "start the agent first, or give the address that it listens at",
    ),
    "NotAPlayerError": (
        Exit.USAGE,
        "give the address of a player; league check judges the others",
    ),
    "UnknownRoleError": (
        Exit.PROTOCOL,
        "say what it is with --role player, --role referee or --role manager",
    ),
    "NoAnswerError": (Exit.UNREACHABLE, "is a league running there? start one with: league start"),
    "CollectorError": (
        Exit.UNREACHABLE,
        "give the address of an OTLP collector over HTTP, as http://127.0.0.1:4318",
    ),
    "AgentKilledError": (Exit.ENVIRONMENT, "is there enough memory? go on with: league resume"),
    "AgentDiedError": (Exit.BUG, "its own error message is above"),
    "ConfigError": (Exit.USAGE, "league init --shared EXAMPLE writes valid files to compare with"),
    "CostsError": (Exit.USAGE, "league simulate --help shows what can be given"),
    "UnsafeIdError": (Exit.USAGE, "choose a plain name, such as autumn_cup"),
    "StoreError": (Exit.ENVIRONMENT, _STORE_HINT),
    "OSError": (Exit.ENVIRONMENT, "choose another folder with --shared, or repair this one"),
    "LeagueError": (Exit.PROTOCOL, ""),
}
"""By the name of an error or of its base: to import all their classes takes a quarter second."""
_PORT_FLAGS = {
    "check": "--league-port",
    **dict.fromkeys(("manager", "referee", "player"), "--port"),
}


def report_error(error: BaseException, tokens: Sequence[str] = ()) -> Exit:
    """Tell the person what happened, and return the exit code; *tokens* are the command."""
    if isinstance(error, KeyboardInterrupt):
        print("\nInterrupted. Everything is stopped.", file=sys.stderr)
        return Exit.INTERRUPTED
    cause = _find_known_error(error)
    if cause is None:
        return _report_bug(error)
    code, message, hint = _describe(cause, tokens)
    if "--json" in tokens:
        problem = {"code": int(code), "message": message, "hint": hint}
        print(json.dumps({"schema_version": 1, "error": problem}))
        return code
    print("error:", make_printable(message, keep="\n"), file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
    return code


def _describe(error: Exception, tokens: Sequence[str]) -> tuple[Exit, str, str]:
    """Return the exit code for *error*, what happened, and what the person can do now."""
    kind, message = _name_kind(error), str(error)
    if isinstance(error, OSError):
        message = f"{error.filename}: {error.strerror}"
    code, hint = _EXITS[str(kind)]
    if kind == "StoreError":
        hint = next((better for fragment, better in _STORE_HINTS if fragment in message), hint)
    if kind == "CycloptsError":
        message, hint = _split_usage_error(message, hint, tokens)
    command = next((token for token in tokens if token in COMMANDS), "")
    ports = f"{_PORT_FLAGS.get(command, '--port-base')} 9000"
    usage = " ".join(filter(None, ("league", command, "--help")))
    hint = getattr(error, "hint", hint).replace("{ports}", ports).replace("{help}", usage)
    return code, message, localise(hint)


def _split_usage_error(message: str, hint: str, tokens: Sequence[str]) -> tuple[str, str]:
    """Return what is wrong with the command, in our style, and what was probably meant."""
    missing = re.search(r"parameter (?:--)?(\S+) requires an argument", message)
    if missing and f"--{missing[1]}" not in tokens:
        return f"{missing[1].upper().replace('-', '_')} is missing", hint
    if unused := re.fullmatch(r"Unused Tokens: \[(.*)\]\.", message.strip()):
        return f"there are too many arguments: {unused[1]}", hint
    what, _, meant = message.strip().partition(" Did you mean ")
    what = what.rstrip(".")
    if meant:
        hint = f"did you mean {meant.partition('?')[0]}? {hint} shows what there is"
    return what[:1].lower() + what[1:], hint


def _name_kind(error: BaseException) -> str | None:
    return next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _EXITS), None)


def _find_known_error(error: BaseException) -> Exception | None:
    """Return the error that a person can act on, from inside a group if need be."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_find_known_error, error.exceptions)), None)
    if isinstance(error, OSError) and error.filename is None:
        return None  # not about a file of the person's, but a fault of ours
    return error if isinstance(error, Exception) and _name_kind(error) else None


def _report_bug(error: BaseException) -> Exit:
    with tempfile.NamedTemporaryFile(
        "w", prefix="league-crash-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.writelines(traceback.format_exception(error))
    print(f"error: this is a fault of ours: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"hint: please report it with {Path(file.name)}", file=sys.stderr)
    return Exit.BUG
