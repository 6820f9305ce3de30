"""What happened, line by line, as JSON: for people with a text tool, and for other programs."""

import atexit
import json
import logging
import os
import re
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

import msgspec

from agent_league.clock import Clock, system_clock, written
from agent_league.sdk.errors import ConfigError
from agent_league.sdk.layout import safe
from agent_league.vocabulary import Json

ORCHESTRATOR: Final = "orchestrator"
LOG_ROOT: Final = Path("SHARED/logs")
BUFFER = 64 * 1024
MAX_BYTES = 16 * 1024 * 1024
LATEST = 1.0
"""Seconds that an entry may stay in memory."""
URGENT = {"WARNING", "ERROR"}
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_SPELLINGS = {"WARN": "WARNING", "CRITICAL": "ERROR"}

REDACTED = "[redacted]"
_SECRET_KEY = re.compile(r"(^|[_-])(token|ticket)$", re.IGNORECASE)
_SECRET_TEXT = re.compile(r"\b(tok|tkt)_[\w-]{8,}")


def log_file(component: str, league_id: str | None = None, log_root: Path = LOG_ROOT) -> Path:
    """Return where *component* logs, or raise `UnsafeIdError`."""
    if league_id is not None:
        folder = log_root / "league" / safe(league_id)
    else:
        folder = log_root / ("system" if component == ORCHESTRATOR else "agents")
    return folder / f"{safe(component)}.log.jsonl"


class JsonLogger:
    """Writes the log of one component; an entry is on disk within a second, a warning at once.

    One that is not *timed* leaves it to its owner to flush it: fifty loggers, fifty threads.

    Whatever is under a key such as `auth_token`, at any depth, is left out. A log that has grown
    too large makes room: it is kept beside the new one, as `….jsonl.1`, until the next time.
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
        timed: bool = True,
    ) -> None:
        self.component = component
        self.log_file = log_file(component, league_id, log_root)
        self._clock = clock
        self._max_bytes = max_bytes
        self._timed = timed
        # Strategies think in threads of their own, and log from there.
        self._lock = threading.RLock()
        self._buffer = bytearray()
        self._lost = 0
        self._timer: threading.Timer | None = None
        try:
            self.log_file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"no log can be kept here: {error.strerror}"
            raise ConfigError(problem, file=self.log_file) from None
        atexit.register(self.flush)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def log(self, event_type: str, level: str = "INFO", **details: Json) -> None:
        """Add an entry; what cannot be written as JSON is written as its `repr`."""
        level = _SPELLINGS.get(level.upper(), level.upper())
        entry = self._entry(event_type, level, details)
        with self._lock:
            self._buffer += entry
            if level in URGENT or len(self._buffer) >= BUFFER:
                self.flush()
            elif self._timed and self._timer is None:
                self._timer = threading.Timer(LATEST, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def debug(self, event_type: str, **details: Json) -> None:
        self.log(event_type, level="DEBUG", **details)

    def info(self, event_type: str, **details: Json) -> None:
        self.log(event_type, level="INFO", **details)

    def warning(self, event_type: str, **details: Json) -> None:
        self.log(event_type, level="WARNING", **details)

    def error(self, event_type: str, **details: Json) -> None:
        self.log(event_type, level="ERROR", **details)

    def flush(self) -> None:
        """Write what is in memory. If the disk refuses, it is lost, and the log says so later."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            body, self._buffer = bytes(self._buffer), bytearray()
            if body:
                self._append(body)

    def close(self) -> None:
        """Write what is in memory, as is done in any case when the program ends."""
        self.flush()
        atexit.unregister(self.flush)

    def _append(self, body: bytes) -> None:
        lost = {"entries": self._lost}
        notice = self._entry("LOG_ENTRIES_LOST", "WARNING", lost) if self._lost else b""
        try:
            self._make_room(len(notice + body))
            with self.log_file.open("ab+") as file:
                file.write(_line_end(file) + notice + body)
            self._lost = 0
        except OSError:  # a full disk must not end a league
            self._lost += body.count(b"\n")

    def _make_room(self, size: int) -> None:
        there = self.log_file.stat().st_size if self.log_file.exists() else 0
        if there and there + size > self._max_bytes:
            self.log_file.replace(self.log_file.with_name(f"{self.log_file.name}.1"))

    def _entry(self, event_type: str, level: str, details: dict[str, Json]) -> bytes:
        ours = {
            "timestamp": written(self._clock()),
            "component": self.component,
            "event_type": event_type,
            "level": level,
        }
        # A detail must not pass for something that the logger itself vouches for.
        theirs = {f"_{key}" if key in ours else key: value for key, value in details.items()}
        plain = _harmless({**ours, **theirs})
        return (plain or _encoded({**ours, **_redacted(theirs)})) + b"\n"


def _line_end(file: BinaryIO) -> bytes:
    """Return what ends the last line, if whoever wrote it was cut short."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return b""
    file.seek(size - 1)
    return b"" if file.read(1) == b"\n" else b"\n"


def _harmless(entry: dict[str, Json]) -> bytes | None:
    """Return *entry* as it is written, if it can be, and if nothing in it looks like a secret."""
    try:
        written_down = msgspec.json.encode(entry, enc_hook=repr)
    except (RecursionError, TypeError, ValueError):
        return None
    return written_down if _unsuspicious(written_down) else None


def _unsuspicious(body: bytes) -> bool:
    """Whether *body* cannot hold a secret: to look for these is cheaper than to take it apart."""
    small = body.lower()
    return body.isascii() and b"tok" not in small and b"tic" not in small and b"tkt" not in small


def _encoded(entry: dict[str, Json]) -> bytes:
    try:
        return msgspec.json.encode(entry)
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot hold and ASCII can
        return json.dumps(entry).encode("ascii")


def _redacted(details: dict[str, Json]) -> Json:
    try:
        return _without_secrets(msgspec.to_builtins(details, str_keys=True, enc_hook=repr))
    except (RecursionError, TypeError, ValueError) as error:
        return {"unreadable": f"{type(error).__name__}: {error}"}


def _without_secrets(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            _scrubbed(key): REDACTED if _SECRET_KEY.search(key) else _without_secrets(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without_secrets(inner) for inner in value]
    return _scrubbed(value) if isinstance(value, str) else value


def _scrubbed(text: str) -> str:
    """Take tokens out of a sentence that quotes one."""
    return _SECRET_TEXT.sub(REDACTED, text)


class JsonLogHandler(logging.Handler):
    """Feeds what is said to Python's `logging` into a `JsonLogger`, which it closes with itself.

    A record names its event by `extra={"event_type": …}`; without one it is a `LOG`.
    """

    def __init__(self, logger: JsonLogger, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._logger.log(
                getattr(record, "event_type", "LOG"),
                level=_level(record.levelno),
                **self._details(record),
            )
        except (TypeError, ValueError):  # as when a sentence and its arguments do not fit
            self.handleError(record)

    def flush(self) -> None:
        self._logger.flush()

    def close(self) -> None:
        self._logger.close()
        super().close()

    def _details(self, record: logging.LogRecord) -> dict[str, Any]:
        details: dict[str, Any] = {"message": record.getMessage(), "logger": record.name}
        if record.exc_info:
            formatter = self.formatter or logging.Formatter()
            details["traceback"] = formatter.formatException(record.exc_info)
        return details


def _level(number: int) -> str:
    if number >= logging.ERROR:
        return "ERROR"
    if number >= logging.WARNING:
        return "WARNING"
    return "INFO" if number >= logging.INFO else "DEBUG"
