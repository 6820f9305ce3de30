"""The standard streams of a command, one of which may be closed, or lose its reader."""

import io
import os
import sys
from typing import Any, TextIO


class _QuietFile(io.FileIO):
    """A file that drops what nobody can read: a league must not end because its progress does."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def prepare_streams() -> None:
    """Make every stream usable; only stdout may still be missing, or raise `BrokenPipeError`."""
    _reopen_streams()
    is_own = sys.stderr is sys.__stderr__
    if sys.stderr is None:  # print would use stdout instead
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - till the end
    elif is_own:
        sys.stderr = _make_quiet(sys.stderr)
    _buffer_stdout()


def _make_quiet(stream: TextIO) -> TextIO:
    file = io.BufferedWriter(_QuietFile(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(file, stream.encoding, stream.errors, line_buffering=True)


def abandon_stdout() -> None:
    """Print no more: what is still in memory would meet the closed pipe again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reopen_streams() -> None:
    """Open closed standard streams, so that no socket gets their file numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - the third of three
        os.set_inheritable(number, True)
    os.close(number)


def _buffer_stdout() -> None:
    """Let long output be written whole: an unbuffered stream may write only its beginning."""
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        buffered = io.BufferedWriter(raw)
        sys.stdout = io.TextIOWrapper(buffered, encoding, errors, line_buffering=True)
