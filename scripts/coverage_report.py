"""Print how much of each package the tests run, branch by branch, and the ten worst modules."""

import json
import sys
from collections import Counter, defaultdict
from pathlib import PurePath
from tempfile import NamedTemporaryFile
from typing import TextIO

from coverage import Coverage
from coverage.exceptions import NoDataError

ROOT = "agent_league"


def read_summaries() -> dict[str, dict[str, int]]:
    """Return the counts of each module, by its path inside the package."""
    measured = Coverage()
    measured.load()
    with NamedTemporaryFile("r", suffix=".json", encoding="utf-8") as file:
        measured.json_report(outfile=file.name)
        files = json.load(file)["files"]
    return {name.partition(f"{ROOT}/")[2]: found["summary"] for name, found in files.items()}


def count(summary: dict[str, int]) -> Counter[str]:
    """Return how many lines and branches there are, and how many of them were run."""
    return Counter(
        all=summary["num_statements"] + summary["num_branches"],
        run=summary["covered_lines"] + summary["covered_branches"],
    )


def percent(counts: Counter[str]) -> float:
    return 100 * counts["run"] / counts["all"] if counts["all"] else 100.0


def print_report(modules: dict[str, Counter[str]], out: TextIO) -> None:
    packages: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, counts in modules.items():
        packages[PurePath(name).parts[0].removesuffix(".py")] += counts
    for name, counts in sorted(packages.items()):
        out.write(f"{percent(counts):6.1f} %  {name}\n")
    out.write("\nthe ten worst modules:\n")
    for name in sorted(modules, key=lambda name: percent(modules[name]))[:10]:
        missed = modules[name]["all"] - modules[name]["run"]
        out.write(f"{percent(modules[name]):6.1f} %  {name} ({missed} lines and branches missed)\n")
    total = sum(modules.values(), Counter())
    out.write(f"\n{percent(total):6.1f} %  of {total['all']} lines and branches in all\n")


if __name__ == "__main__":
    try:
        print_report({name: count(found) for name, found in read_summaries().items()}, sys.stdout)
    except NoDataError:
        sys.exit("nothing was measured: run make coverage")
