"""How commands print what was asked for: on a stdout that may be a terminal, a pipe, or closed."""

import csv
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import TextIOWrapper
from typing import Any, TypeVar

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from agent_league.cli.program import localise
from agent_league.printable import format_cell, make_printable

SCHEMA_VERSION = 1
Key = TypeVar("Key")


class _PipeConsole(Console):
    """Lets `main` decide what happens when the reader is gone; rich itself would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def show(*parts: RenderableType, soft_wrap: bool = False) -> None:
    """Print *parts* on stdout, one below the other; what it cannot show becomes a question mark."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    _PipeConsole(highlight=False).print(*parts, sep="\n", soft_wrap=soft_wrap)


def choose_symbols(symbols: Mapping[Key, str], plain: Mapping[Key, str]) -> Mapping[Key, str]:
    """Return *symbols*, or the *plain* ones if stdout cannot show them."""
    try:
        "".join(symbols.values()).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return plain
    return symbols


class ProgressDisplay:
    """What is being done right now: one line that is overwritten, or plain ones, on stderr."""

    def __init__(self, first: str, *, shown: bool = True) -> None:
        self._console = Console(stderr=True, quiet=not shown)
        self._status = self._console.status(first)
        if self._console.is_terminal:
            self._status.start()

    @property
    def is_live(self) -> bool:
        """Whether each activity overwrites the one before."""
        return self._console.is_terminal

    def show(self, activity: str) -> None:
        if self.is_live:
            self._status.update(Text(make_printable(activity)))
        else:
            self._console.print(Text(make_printable(activity)))

    def close(self) -> None:
        self._status.stop()


def make_table(
    headings: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Collection[str] = ()
) -> Table:
    """Return a table; the columns of *numbers* are aligned right, and no cell is read as markup."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for row in rows:
        table.add_row(*(Text(make_printable(str(cell))) for cell in row))
    return table


def print_next_steps(commands: Mapping[str, str]) -> None:
    """Print on stderr which commands may come next, and what each of them does."""
    if not commands:
        return
    localised = {localise(command): what for command, what in commands.items()}
    width = max(map(len, localised))
    lines = [f"  {command:<{width}}  {what}".rstrip() for command, what in localised.items()]
    print("", "Next:", *lines, sep="\n", file=sys.stderr)


def print_json(document: Any) -> None:
    print(json.dumps(document, indent=2))


def print_document(**fields: Any) -> None:
    """Print a JSON document with the version of its schema."""
    print_json({"schema_version": SCHEMA_VERSION, **fields})


def print_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], line_end: str) -> None:
    """Print *rows* as a spreadsheet reads them."""
    writer = csv.DictWriter(sys.stdout, columns, lineterminator=line_end)
    writer.writeheader()
    writer.writerows({key: format_cell(value) for key, value in row.items()} for row in rows)
