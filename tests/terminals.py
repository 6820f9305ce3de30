"""The terminals of a reader: what is typed in them, and what can be read on their screens."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

BIN = Path(sys.executable).parent
LONG_SEC = 300
"""Longer than any line of the documents takes on a very busy machine."""


class Terminal:
    """One terminal, in which one command runs at a time."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None
        self.screen: list[str] = []
        self._lines: SimpleQueue[str] = SimpleQueue()

    def type(self, command: str) -> None:
        """Run *command*, as a shell does, when the one before has ended or was stopped."""
        self.finish()
        self.screen = []
        self._lines = SimpleQueue()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command}"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        Thread(target=self._collect, args=(self.process, self._lines), daemon=True).start()

    def see(self, shown: str) -> None:
        """Wait until the screen has shown these lines, in this order; `…` stands for anything."""
        for expected in filter(None, shown.splitlines()):
            pattern = re.compile(re.escape(expected).replace("…", ".*"))
            while not pattern.match(line := self._read_line()):
                assert line, f"{expected!r} is not on the screen:\n{''.join(self.screen)}"

    def finish(self) -> None:
        """Wait for a command of ours; stop a program that runs until Ctrl-C is pressed."""
        if self.process is None:
            return
        command = str(self.process.args[-1]) if isinstance(self.process.args, list) else ""
        if command.startswith(("exec python3", "exec node")):
            # Not Ctrl-C, which test runners let their children ignore.
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
        else:
            assert self.process.wait() == 0, f"{command}: {''.join(self.screen)}"
        self.process = None

    def close(self) -> None:
        """Stop whatever still runs."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()

    def _read_line(self) -> str:
        """Return the next line; nothing when the command has ended, or prints nothing more."""
        try:
            return self._lines.get(timeout=LONG_SEC)
        except Empty:
            return ""

    def _collect(self, process: subprocess.Popen[str], lines: SimpleQueue[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self.screen.append(line)
                lines.put(line)
        lines.put("")


@contextmanager
def opened(names: Iterable[str], folder: Path) -> Iterator[dict[str, Terminal]]:
    """Give terminals in *folder*, with the command `league` and a Python without any package."""
    shims = folder.parent / "bin"
    shims.mkdir()
    (shims / "league").symlink_to(BIN / "league")
    (shims / "python3").symlink_to(getattr(sys, "_base_executable", sys.executable))
    path = os.pathsep.join([str(shims), os.environ["PATH"]])
    environment = {
        **os.environ,
        "PATH": path,
        "PYTHONUNBUFFERED": "1",
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }
    with ExitStack() as stack:
        terminals = {name: Terminal(folder, environment) for name in names}
        for terminal in terminals.values():
            stack.callback(terminal.close)
        yield terminals
