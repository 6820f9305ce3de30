"""Programs that run in threads of the test, as if each were a process of its own.

Each has its own stdout, stderr and exit code, can be interrupted as by Ctrl-C, and starts its
child processes as threads too. Nothing is imported anew and nothing is forked, so a command
costs what it does and no more.
"""

import asyncio
import gc
import io
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from enum import Enum, auto
from typing import Any
from unittest import mock

import uvloop

_current: ContextVar["Program | None"] = ContextVar("program", default=None)
LOOPS: tuple[type[asyncio.AbstractEventLoop], ...] = (uvloop.Loop, asyncio.SelectorEventLoop)


class Output(io.TextIOBase):
    """Text that one thread writes, and another waits for."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding
        self._text, self._position, self._ended = "", 0, False
        self._changed = threading.Condition()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute in the stubs
        return self._encoding

    @property
    def text(self) -> str:
        """All that was written so far."""
        return self._text

    def write(self, text: str) -> int:
        with self._changed:
            self._text += text
            self._changed.notify_all()
        return len(text)

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def readline(self, size: int = -1) -> str:  # type: ignore[override]  # bytes or text in the stubs
        """Return the next line, as soon as there is one; nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or "\n" in self._text[self._position :])
            end = self._text.find("\n", self._position) + 1 or len(self._text)
            line, self._position = self._text[self._position : end], end
            return line

    def read(self, size: int | None = -1) -> str:
        """Return all that is left, at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended)
            rest, self._position = self._text[self._position :], len(self._text)
            return rest


class Interrupt(Enum):
    """How far a program has come with its Ctrl-C."""

    NONE = auto()
    WANTED = auto()
    UNDER_WAY = auto()
    DONE = auto()


class Program:
    """A function in a thread; it is handled like a `subprocess.Popen` whose output is piped."""

    def __init__(
        self,
        function: Callable[[], object],
        parent: "Program | None" = None,
        encoding: str = "utf-8",
    ) -> None:
        self._function = function
        self.stdout: Output = parent.stdout if parent else Output(encoding)
        self.stderr: Output = parent.stderr if parent else Output(encoding)
        self.returncode: int | None = None
        self.log_format: str | None = None
        self.signal_handlers: dict[int, Callable[[], object]] = {}
        self.on_end: Callable[[], object] = (lambda: None) if parent else self._end_output
        self.thread = threading.Thread(target=self._run, daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Future[Any] | None = None
        self._interrupt = Interrupt.NONE
        self._lock = threading.Lock()

    def _run(self) -> None:
        _current.set(self)
        try:
            self._function()
            self.returncode = 0
        except SystemExit as error:
            self.returncode = error.code if isinstance(error.code, int) else bool(error.code)
        except BaseException:  # noqa: BLE001 - a process would end with a traceback as well
            self.stderr.write(traceback.format_exc())
            self.returncode = 1
        self.on_end()

    def _end_output(self) -> None:
        self.stdout.end()
        self.stderr.end()

    def run_loop(
        self, loop: asyncio.AbstractEventLoop, run: Callable[[Any], Any], main: Any
    ) -> Any:
        """Run *main* as an event loop does, but let `interrupt` end it from another thread."""
        with self._lock:
            self._loop, self._task = loop, asyncio.ensure_future(main, loop=loop)
            if self._interrupt is Interrupt.WANTED:
                self._cancel()
        try:
            return run(self._task)
        except asyncio.CancelledError:
            if self._interrupt is not Interrupt.UNDER_WAY:
                raise
            self._interrupt = Interrupt.DONE
            raise KeyboardInterrupt from None
        finally:
            with self._lock:
                self._loop = self._task = None

    def interrupt(self) -> None:
        """End it as Ctrl-C does; once is enough."""
        with self._lock:
            if self._interrupt is Interrupt.NONE:
                self._interrupt = Interrupt.WANTED
                self._cancel()

    def _cancel(self) -> None:
        if self._loop is not None and self._task is not None:
            self._interrupt = Interrupt.UNDER_WAY
            self._loop.call_soon_threadsafe(self._task.cancel)

    def terminate(self) -> None:
        """End it as SIGTERM does."""
        with self._lock:
            handler, loop = self.signal_handlers.get(signal.SIGTERM), self._loop
            if handler is not None and loop is not None:
                loop.call_soon_threadsafe(handler)
                return
        self.interrupt()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self) -> int | None:
        self.thread.join()
        return self.returncode

    def communicate(self) -> tuple[str, str]:
        """Wait until it ends; return what it printed to stdout and stderr that was not yet read."""
        self.thread.join()
        return self.stdout.read(), self.stderr.read()


class _Copier(pickle.Pickler):
    """Copies what a process hands to its child; the child's sockets are its own."""

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, socket.socket):
            return _adopt_socket, (os.dup(value.fileno()),)
        return NotImplemented


def _adopt_socket(number: int) -> socket.socket:
    return socket.socket(fileno=number)


def _copy(value: object) -> Any:
    buffer = io.BytesIO()
    _Copier(buffer).dump(value)
    return pickle.loads(buffer.getvalue())  # noqa: S301 - written two lines above


class ChildProcess:
    """What `multiprocessing` gives for a child process, but the child is a thread."""

    def __init__(
        self,
        target: Callable[..., object],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        name: str = "",
        daemon: bool = False,
    ) -> None:
        self.name = name
        self._work = target, args, kwargs or {}
        self.sentinel, self._end = os.pipe()
        weakref.finalize(self, os.close, self.sentinel)

    def start(self) -> None:
        target, args, kwargs = _copy(self._work)
        self._program = Program(lambda: target(*args, **kwargs), _current.get())
        self._program.on_end = lambda: os.close(self._end)  # which makes the sentinel readable
        self.pid = os.getpid()
        self._program.thread.start()

    @property
    def exitcode(self) -> int | None:
        return self._program.returncode

    def is_alive(self) -> bool:
        return self._program.thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        self._program.thread.join(timeout)

    def terminate(self) -> None:
        self._program.terminate()

    def kill(self) -> None:
        self._program.interrupt()


class _Context:
    """What `multiprocessing.get_context` gives, with threads for processes."""

    Process = ChildProcess

    def set_forkserver_preload(self, names: list[str]) -> None:
        """Nothing is imported anew."""


class _Routed:
    """Stands for `sys.stdout` or `sys.stderr`, and is that of the program that uses it."""

    def __init__(self, name: str) -> None:
        self._name, self._otherwise = name, getattr(sys, name)

    def __getattr__(self, attribute: str) -> Any:
        program = _current.get()
        return getattr(getattr(program, self._name) if program else self._otherwise, attribute)


class _LogHandler(logging.Handler):
    """Prints warnings on the stderr of the program that logs them."""

    def emit(self, record: logging.LogRecord) -> None:
        if (program := _current.get()) is not None:
            formatter = logging.Formatter(program.log_format or "%(message)s")
            program.stderr.write(f"{formatter.format(record)}\n")


def _configure_log(format: str = logging.BASIC_FORMAT, **_: Any) -> None:  # noqa: A002 - its name in logging
    if (program := _current.get()) is not None:
        program.log_format = program.log_format or format


def _for_programs(original: Callable[..., Any], instead: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does *instead* inside a program, and the *original* elsewhere."""

    def call(*arguments: Any, **named: Any) -> Any:
        program = _current.get()
        if program is None:
            return original(*arguments, **named)
        return instead(program, *arguments, **named)

    return call


def _patched_loop(stack: ExitStack, kind: type[asyncio.AbstractEventLoop]) -> None:
    run = kind.run_until_complete

    def patch(name: str, instead: Callable[..., Any]) -> None:
        replacement = _for_programs(getattr(kind, name), instead)
        stack.enter_context(mock.patch.object(kind, name, replacement))

    def run_until_complete(program: Program, loop: Any, main: Any) -> Any:
        return program.run_loop(loop, lambda task: run(loop, task), main)

    def add_signal_handler(program: Program, _: Any, number: int, call: Any, *args: Any) -> None:
        program.signal_handlers[number] = lambda: call(*args)

    patch("run_until_complete", run_until_complete)
    patch("add_signal_handler", add_signal_handler)
    patch("remove_signal_handler", lambda program, _, n: program.signal_handlers.pop(n, None))


@contextmanager
def programs_in_threads() -> Iterator[None]:
    """Let what programs do to their process reach only the thread that each of them is."""
    handler = _LogHandler(logging.WARNING)
    replacements: list[tuple[object, str, object]] = [
        (sys, "stdout", _Routed("stdout")),
        (sys, "stderr", _Routed("stderr")),
        (
            multiprocessing,
            "get_context",
            _for_programs(multiprocessing.get_context, lambda *_: _Context()),
        ),
        (
            multiprocessing,
            "parent_process",
            _for_programs(multiprocessing.parent_process, lambda *_: None),
        ),
        (signal, "signal", _for_programs(signal.signal, lambda *_: None)),
        (
            logging,
            "basicConfig",
            _for_programs(logging.basicConfig, lambda _, **k: _configure_log(**k)),
        ),
        (gc, "collect", _for_programs(gc.collect, lambda *_: 0)),
        (gc, "freeze", _for_programs(gc.freeze, lambda *_: None)),
        (gc, "set_threshold", _for_programs(gc.set_threshold, lambda *_: None)),
    ]
    with ExitStack() as stack:
        for owner, name, value in replacements:
            stack.enter_context(mock.patch.object(owner, name, value))
        for kind in LOOPS:
            _patched_loop(stack, kind)
        logging.getLogger().addHandler(handler)
        stack.callback(logging.getLogger().removeHandler, handler)
        yield
