"""Logs with one JSON object a line, for people and for programs."""

import atexit
import json
import logging
import os
import re
import threading
from dataclasses import dataclass
from functools import lru_cache, partialmethod
from pathlib import Path
from typing import BinaryIO, Final, Self

import msgspec

from agent_league.agent_log import AgentLog
from agent_league.clock import Clock, format_exact_time, system_clock
from agent_league.files.layout import is_safe_id, validate_id
from agent_league.files.reading import ConfigError
from agent_league.printable import make_printable
from agent_league.protocol import LeagueError
from agent_league.vocabulary import Json, Level

log = logging.getLogger("agent_league")
ORCHESTRATOR: Final = "orchestrator"
LOG_ROOT: Final = Path("SHARED/logs")
BUFFER_SIZE = 64 * 1024
MAX_BYTES = 16 * 1024 * 1024
AGENT_MAX_BYTES = 4 * 1024 * 1024
"""The size at which a log is renamed and begins again: there may be a thousand agents."""
URGENT = {"WARNING", "ERROR"}
LEVELS: tuple[Level, ...] = ("DEBUG", "INFO", "WARNING", "ERROR")
_SPELLINGS = {"WARN": "WARNING", "CRITICAL": "ERROR"}

REDACTED = "[redacted]"
_SECRET_KEY = re.compile(r"(^|[_-])(token|ticket)$", re.IGNORECASE)
_SECRET_TEXT = re.compile(r"\b(tok|tkt)_[\w-]{8,}")
_SUSPECTS = (b'token"', b'ticket"', b"tok_", b"tkt_")
"""What an entry with a secret has in it, in small letters, and hardly any other. All have a k."""
_HEADER = frozenset({"timestamp", "component", "event_type", "level"})
"""The keys that every entry begins with."""


def log_file(component: str, league_id: str | None = None, log_root: Path = LOG_ROOT) -> Path:
    """Return where *component* logs, or raise `UnsafeIdError`."""
    if league_id is not None:
        folder = log_root / "league" / validate_id(league_id)
    else:
        folder = log_root / ("system" if component == ORCHESTRATOR else "agents")
    return folder / f"{validate_id(component)}.log.jsonl"


class JsonLogger:
    """Writes the log of one component; an entry is on disk at once.

    If it is *buffered*, its owner must flush it; a warning is on disk at once all the same.

    Whatever is under a key such as `auth_token`, at any depth, is left out. A log that has grown
    too large is renamed to `….jsonl.1`, and a new one begins.
    """

    LEVELS = LEVELS

    def __init__(
        self,
        component: str,
        league_id: str | None = None,
        log_root: Path = LOG_ROOT,
        *,
        clock: Clock = system_clock,
        max_bytes: int = MAX_BYTES,
        buffered: bool = False,
    ) -> None:
        self.component = component
        self._name = msgspec.json.encode(component)
        self.log_file = log_file(component, league_id, log_root)
        self._clock = clock
        self._max_bytes = max_bytes
        self._buffered = buffered
        # Strategies run in threads of their own, and log from there.
        self._lock = threading.RLock()
        self._buffer = bytearray()
        self._lost = 0
        try:
            self.log_file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"no log can be kept here: {error.strerror}"
            raise ConfigError(problem, file=self.log_file) from None
        atexit.register(self.flush)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def log(self, event_type: str, level: str = "INFO", **details: Json) -> None:
        """Add an entry; what cannot be written as JSON is written as its `repr`."""
        self.add(event_type, level, details)

    def add(
        self, event_type: str, level: str, details: dict[str, Json], at: str | None = None
    ) -> None:
        """Add an entry with these *details*, as `log` does: about now, or about what happened *at*."""
        if level not in LEVELS:
            level = _SPELLINGS.get(level.upper(), level.upper())
        entry = self._encode_entry(event_type, level, details, at)
        with self._lock:
            self._buffer += entry
            if not self._buffered or level in URGENT or len(self._buffer) >= BUFFER_SIZE:
                self.flush()

    debug = partialmethod(log, level="DEBUG")
    info = partialmethod(log, level="INFO")
    warning = partialmethod(log, level="WARNING")
    error = partialmethod(log, level="ERROR")

    def flush(self) -> None:
        """Write what is in memory; what cannot be written is lost, and the log says so later."""
        with self._lock:
            body, self._buffer = bytes(self._buffer), bytearray()
            if body:
                self._append(body)

    def close(self) -> None:
        """Write what is in memory; the end of the program does the same."""
        self.flush()
        atexit.unregister(self.flush)

    def _append(self, body: bytes) -> None:
        text, lost = body, {"entries": self._lost}
        if self._lost:
            text = self._encode_entry("LOG_ENTRIES_LOST", "WARNING", lost) + body
        try:
            size = self.log_file.stat().st_size if self.log_file.exists() else 0
            if size and size + len(text) > self._max_bytes:
                self.log_file.replace(self.log_file.with_name(f"{self.log_file.name}.1"))
            with self.log_file.open("ab+") as file:
                file.write(_line_end(file) + text)
            self._lost = 0
        except OSError:  # a full disk must not end a league
            self._lost += body.count(b"\n")

    def _encode_entry(
        self, event_type: str, level: str, details: dict[str, Json], at: str | None = None
    ) -> bytes:
        time = (at or format_exact_time(self._clock())).encode()
        if not _HEADER.isdisjoint(details):  # a detail must not replace what is ours
            details = {f"_{key}" if key in _HEADER else key: it for key, it in details.items()}
        rest = _encode_if_harmless(details) or _encode(_redact(details))
        comma = b"," if len(rest) > len(b"{}") else b""
        header = self._name, _encode_kind(event_type, level)
        return b'{"timestamp":"%b","component":%b,%b%b%b\n' % (time, *header, comma, rest[1:])


def _line_end(file: BinaryIO) -> bytes:
    """Return a line end if the last line of *file* has none, because its writer was stopped."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    return b"\n" if file.read(1) not in (b"", b"\n") else b""


@lru_cache(maxsize=64)  # an agent has few kinds of entries
def _encode_kind(event_type: str, level: str) -> bytes:
    return _encode({"event_type": event_type, "level": level})[1:-1]


def _encode_if_harmless(details: dict[str, Json]) -> bytes | None:
    """Return *details* as they are written, if they can be, and if no part looks like a secret."""
    try:
        body = msgspec.json.encode(details, enc_hook=repr)
    except (RecursionError, TypeError, ValueError):
        return None
    return body if body.isascii() and not _is_suspect(body) else None


def _is_suspect(body: bytes) -> bool:
    """Whether *body* may hold a secret, or the one character of ASCII that only `_encode` escapes."""
    if body.find(b"\x7f") >= 0:
        return True
    if body.find(b"k") < 0 and body.find(b"K") < 0:  # so for most entries one look is enough
        return False
    small = body.lower()  # to search the line is cheaper than to search every value
    return any(part in small for part in _SUSPECTS)


def _encode(entry: Json) -> bytes:
    try:
        return make_printable(msgspec.json.encode(entry).decode()).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot hold and ASCII can
        return json.dumps(entry).encode("ascii")


def _redact(details: dict[str, Json]) -> Json:
    try:
        return _remove_secrets(msgspec.to_builtins(details, str_keys=True, enc_hook=repr))
    except (RecursionError, TypeError, ValueError) as error:
        return {"unreadable": f"{type(error).__name__}: {error}"}


def _remove_secrets(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            _scrub(key): REDACTED if _SECRET_KEY.search(key) else _remove_secrets(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_remove_secrets(inner) for inner in value]
    return _scrub(value) if isinstance(value, str) else value


def _scrub(text: str) -> str:
    """Return *text* without the tokens in it."""
    return _SECRET_TEXT.sub(REDACTED, text)


class JsonLogHandler(logging.Handler):
    """Writes records of Python's `logging` into a `JsonLogger`, which it closes with itself.

    A record names its event by `extra={"event_type": …}`; without one it is a `LOG`.
    """

    def __init__(self, logger: JsonLogger, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        event_type = getattr(record, "event_type", "LOG")
        reached = [name for name in LEVELS if record.levelno >= getattr(logging, name)]
        try:
            details = {"message": record.getMessage(), "logger": record.name}
            if record.exc_info:
                formatter = self.formatter or logging.Formatter()
                details["traceback"] = formatter.formatException(record.exc_info)
            self._logger.log(event_type, reached[-1] if reached else "DEBUG", **details)
        except (TypeError, ValueError):  # as when a text and its arguments do not fit
            self.handleError(record)

    def flush(self) -> None:
        self._logger.flush()

    def close(self) -> None:
        self._logger.close()
        super().close()


class FileAgentLog(AgentLog):
    """Writes what is noted into the log of *component*, from *level* upwards.

    An agent whose log cannot be written plays on without one.
    """

    def __init__(
        self, component: str, log_root: Path, level: Level = "INFO", *, buffered: bool = True
    ) -> None:
        self._root = log_root
        self._buffered = buffered
        self._levels = frozenset(LEVELS[LEVELS.index(level) :])
        self.detailed = level == "DEBUG"
        self._logger = self._open(component)

    def set_owner(self, agent_id: str) -> None:
        """Go on in the log of *agent_id*, or here if a league gives an id that cannot name a file."""
        is_new = self._logger is not None and self._logger.component != agent_id
        if self._logger is not None and is_new and is_safe_id(agent_id):
            self._logger.close()
            self._logger = self._open(agent_id)

    def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
        if self._logger is not None and level in self._levels:
            self._logger.add(event_type, level, details)

    def flush(self) -> None:
        if self._logger is not None:
            self._logger.flush()

    def close(self) -> None:
        if self._logger is not None:
            self._logger.close()

    def _open(self, component: str) -> JsonLogger | None:
        try:
            return JsonLogger(
                component, log_root=self._root, max_bytes=AGENT_MAX_BYTES, buffered=self._buffered
            )
        except LeagueError as error:
            log.warning("%s keeps no log: %s", component, error)
            return None


@dataclass(frozen=True)
class AgentLogs:
    """Where agents log, and how much; nowhere without a *log_root*."""

    log_root: Path | None = None
    level: Level = "INFO"

    def for_agent(self, agent_id: str) -> AgentLog:
        return FileAgentLog(agent_id, self.log_root, self.level) if self.log_root else AgentLog()

    def for_orchestrator(self) -> AgentLog:
        root = self.log_root
        return FileAgentLog(ORCHESTRATOR, root, self.level, buffered=False) if root else AgentLog()
