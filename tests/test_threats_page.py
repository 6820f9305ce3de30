"""docs/threats.md names a test for each threat, and all of them exist and are run by `make attack`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/threats.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
ROWS = {row[0]: row[1] for row in re.findall(r"^\| ([TS]\d+) \|.*\| (.*) \|$", PAGE, re.MULTILINE)}
THREATS = [f"T{number}" for number in (*range(1, 20), 24)]


@pytest.mark.parametrize("threat", THREATS)
def test_every_threat_has_an_attacker(threat: str) -> None:
    assert "tests/" in ROWS[threat]


def test_every_file_that_the_page_names_exists() -> None:
    files = re.findall(r"`(tests/[\w./]+)`", PAGE)
    assert len(files) > 40
    assert [file for file in files if not (ROOT / file).exists()] == []


def test_make_attack_runs_every_attacker_that_is_not_in_brackets() -> None:
    recipe = MAKEFILE.partition("\nattack:")[2].partition("\n\n")[0]
    outside = re.findall(r"`(tests/[\w./]+)`", re.sub(r"\([^()]*\)", "", PAGE))
    missing = [file for file in outside if not any(part in file for part in recipe.split())]
    assert missing == []
