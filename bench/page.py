"""Writes the tables of docs/performance.md from what the bench has measured.

A table stands between two comments: `<!-- measured: speed -->` and `<!-- end -->`. The document of
`python -m bench --json` has the tables of the comparison, that of `python -m bench.twin --json` the
function calls, that of `python -m bench.sweep --json` the sweeps. Other tables stay as they are.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from bench.report import TABLES, Document, make_table
from bench.sweep import SWEEP_TABLES

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
MEASURED = re.compile(r"(<!-- measured: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


CALLS = "calls"
NAMES = {*TABLES, *SWEEP_TABLES, CALLS}
"""Every table of the page."""


def make_call_table(document: Document) -> str:
    """Return how many function calls a match needs, part by part."""
    parts: dict[str, float] = {**document["calls_by_part"], "all": document["calls"]}
    rows = [
        [part, f"{calls:,.0f}", f"{calls / document['messages']:.1f}"]
        for part, calls in parts.items()
    ]
    return make_table(["part", "function calls per match", "per message"], rows)


def make_tables(document: Document) -> dict[str, str]:
    """Return the tables that can be made from *document*."""
    if "ratios" in document:
        return {name: make(document) for name, make in TABLES.items()}
    if "calls_by_part" in document:
        return {CALLS: make_call_table(document)}
    return {name: make(document[name]) for name, make in SWEEP_TABLES.items() if name in document}


def fill_in(text: str, tables: Mapping[str, str]) -> str:
    """Return *text* with each of the *tables* in its place."""
    return MEASURED.sub(
        lambda found: found[1] + tables[found[2]] + found[3] if found[2] in tables else found[0],
        text,
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.page", description=__doc__)
    parser.add_argument("results", type=Path, nargs="+", help="files that --json has written")
    for result in parser.parse_args().results:
        tables = make_tables(msgspec.json.decode(result.read_bytes()))
        PAGE.write_text(fill_in(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
        print(f"{result}: {', '.join(tables)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
