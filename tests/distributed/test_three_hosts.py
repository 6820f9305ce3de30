"""Any of three hosts is cut off, slowed or killed at any moment: the league loses nothing."""

import os
import shutil
import tempfile
from pathlib import Path

import msgspec
import pytest

from distributed.drill import MATCHES, Plan, drill
from distributed.hosts import find_hindrance
from distributed.series import SERIES
from store.cluster import hindrance

FIRST, RUNS = (int(os.environ.get(f"DISTRIBUTED_{name}", "1")) for name in ("FIRST", "RUNS"))
FAULT = os.environ.get("DISTRIBUTED_FAULT", "")
"""What hits the host of the leader in every run; else the seed says what hits which host."""
TAKEOVER_S = 5.0
REPORT = Path(".cache") / "distributed.jsonl"
pytestmark = pytest.mark.skipif(
    bool(hindrance() or find_hindrance()), reason=str(hindrance() or find_hindrance())
)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + RUNS))
def test_a_league_loses_nothing_when_a_host_fails(seed: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix=f"league-hosts-{seed}-"))  # it stays if the test fails
    folder.chmod(0o755)  # PostgreSQL runs as another user
    plan = Plan.make(seed, MATCHES)
    SERIES.begun += 1
    outcome = drill(folder, plan.with_fault(FAULT) if FAULT else plan)
    SERIES.outcomes.append(outcome)
    REPORT.parent.mkdir(exist_ok=True)
    with REPORT.open("ab") as file:
        file.write(msgspec.json.encode(outcome) + b"\n")
    print(outcome)  # noqa: T201 - the numbers are what one wants to see
    assert outcome.matches == MATCHES
    assert outcome.lost == []
    assert outcome.doubled == 0
    assert outcome.verified
    assert outcome.takeover_s is None or outcome.takeover_s < TAKEOVER_S
    shutil.rmtree(folder)
