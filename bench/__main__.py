"""Measure our league beside its references: `python -m bench`."""

import argparse
import sys

import msgspec

from bench.comparison import RUNS, compare
from bench.report import format_report, make_document


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured")
    parser.add_argument("--players", type=int, default=50)
    parser.add_argument("--only", choices=RUNS, nargs="+", default=list(RUNS))
    parser.add_argument("--json", action="store_true", help="print one document, for a program")
    options = parser.parse_args()
    document = make_document(compare(options.players, options.rounds, options.only))
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(document)).decode())
    else:
        print(format_report(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
