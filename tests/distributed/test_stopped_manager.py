"""A manager that was stopped while another took over: it writes nothing, and says so."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distributed.local_league import LEAGUE, LocalLeague
from store.books import ENVIRONMENT
from store.cluster import hindrance

STOPPED_S = 20.0
OPENING = 2
"""The events of the opening (the season, its organiser), which come before a log begins."""
pytestmark = pytest.mark.skipif(bool(hindrance()), reason=str(hindrance()))


def list_logged(league: LocalLeague, name: str) -> list[str]:
    """Return the kinds of the events that a manager has logged, in order."""
    (path,) = (league.folder / name / "logs" / "league").glob("*/*.jsonl")
    return [json.loads(line)["event_type"] for line in path.read_text().splitlines()]


@pytest.mark.timeout(600)
def test_a_manager_that_was_stopped_and_deposed_writes_nothing_and_says_so(tmp_path: Path) -> None:
    with LocalLeague(tmp_path) as league:
        first, stopped = league.start_manager("first", 20, legs=5)
        league.wait_until(lambda: "Waiting for" in league.read("first"))
        second, taking_over = league.start_manager("second", 20, legs=5)
        league.wait_until(lambda: "Standing by" in league.read("second"))
        league.start_worker("worker", 10)
        league.start_players(20, f"{first},{second}")
        league.wait_until(lambda: "Round 2/" in league.read("first"))

        stopped.send_signal(signal.SIGSTOP)
        at = time.monotonic()
        league.wait_until(lambda: "goes on at" in league.read("second"), 30)
        taken_over_s = time.monotonic() - at
        before = len(league.read("first"))
        time.sleep(max(0.0, STOPPED_S - taken_over_s))  # noqa: TID251 - it is stopped for so long
        stopped.send_signal(signal.SIGCONT)

        league.wait_until(lambda: "writes nothing more" in league.read("first"))
        said = league.read("first")[before:]
        assert "was taken over by another manager at" in said
        assert "this one led in term 1" in said
        league.wait_until(lambda: taking_over.poll() is not None)
        league.wait_until(lambda: stopped.poll() is not None)  # it stood by again to the end
        assert (taking_over.poll(), stopped.poll()) == (0, 0)
        found = league.look()
        ended = found["ended"]
        assert isinstance(ended, list)
        assert len(ended) == len({*ended}) == 20 * 19 // 2 * 5
        assert found["term"] == 2
        # What the second one kept is all that was kept since it leads.
        kept = int(str(found["events"])) - len(list_logged(league, "second"))
        assert kept <= OPENING + len(list_logged(league, "first"))
        verify = [sys.executable, "-m", "agent_league", "verify", LEAGUE]
        store = ["--store", league.cluster.address, "--shared", str(tmp_path / "verify")]
        assert "holds" in subprocess.check_output([*verify, *store], env=ENVIRONMENT, text=True)
        print(f"the standby led {taken_over_s:.1f} s after the stop")  # noqa: T201 - to be seen
