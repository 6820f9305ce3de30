"""Ends a command that would run on although nobody can read its output any more."""

import os
import select
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def interrupt_when_unread() -> Iterator[None]:
    """Interrupt this process, as Ctrl-C does, when the reader of stdout closes its pipe.

    An event loop could wait for that too, but uvloop would make the pipe non-blocking.
    """
    pipe = _find_pipe()
    if pipe is None:
        yield
        return
    context_end, end_context = os.pipe()
    watch = threading.Thread(target=_wait, args=(pipe, context_end), daemon=True)
    watch.start()
    try:
        yield
    finally:
        os.close(end_context)
        watch.join()
        os.close(context_end)


def _wait(pipe: int, context_end: int) -> None:
    ends = select.poll()
    for number in (pipe, context_end):
        ends.register(number, 0)  # a pipe whose other end is closed is always reported
    if pipe in dict(ends.poll()):
        signal.pthread_kill(int(threading.main_thread().ident or 0), signal.SIGINT)


def _find_pipe() -> int | None:
    """Return the number of stdout, if that is a pipe that can be watched."""
    with suppress(OSError, ValueError):  # it may be closed, or no file at all
        number = sys.stdout.fileno()
        if os.name == "posix" and stat.S_ISFIFO(os.fstat(number).st_mode):
            return number
    return None
