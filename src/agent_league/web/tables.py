"""The data of a report as files for other programs: CSV, JSON, and Parquet with its extra."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from agent_league.extras import import_extra
from agent_league.printable import format_cell

Row: TypeAlias = Mapping[str, Any]


class Writer(Protocol):
    """Writes a file of a report."""

    def __call__(self, name: str, content: bytes) -> None: ...


class Tables:
    """Writes tables into the folder `data` of a report, each in every format."""

    def __init__(self, write: Writer, *, parquet: bool = False) -> None:
        self._write = write
        self._arrow = import_extra("pyarrow", "parquet") if parquet else None
        self._parquet = import_extra("pyarrow.parquet", "parquet") if parquet else None

    def write_table(self, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Write a table whose cells are plain values, for spreadsheets too."""
        kept = [{key: row[key] for key in columns} for row in rows]
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows({key: format_cell(value) for key, value in row.items()} for row in kept)
        self._write(f"data/{name}.csv", text.getvalue().encode())
        self._write(f"data/{name}.json", msgspec.json.format(msgspec.json.encode(kept)))
        self._write_parquet(name, columns, kept)

    def write_lines(self, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Write one JSON object a line; in Parquet *columns* are as they are, and `json` has it all."""
        lines = [msgspec.json.encode(row) for row in rows]
        self._write(f"data/{name}.jsonl", b"".join(line + b"\n" for line in lines))
        if self._arrow is not None:
            pairs = zip(rows, lines, strict=True)
            kept = [
                {**{key: row.get(key) for key in columns}, "json": line.decode()}
                for row, line in pairs
            ]
            self._write_parquet(name, (*columns, "json"), kept)

    def _write_parquet(self, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if self._arrow is None or self._parquet is None:
            return
        table = self._arrow.table(
            {key: _make_column([row[key] for row in rows]) for key in columns}
        )
        sink = self._arrow.BufferOutputStream()
        self._parquet.write_table(table, sink)
        self._write(f"data/{name}.parquet", sink.getvalue().to_pybytes())


def _make_column(cells: list[Any]) -> list[Any]:
    """Return *cells* if all are of one kind, else all as text: Parquet has one kind a column."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) <= 1 and not kinds & {dict, list, tuple}:
        return cells
    return [
        cell if cell is None or isinstance(cell, str) else msgspec.json.encode(cell).decode()
        for cell in cells
    ]
