"""Agents that think for a second: twice the workers play almost twice the matches."""

from datetime import datetime
from pathlib import Path

import pytest

from distributed.local_league import LocalLeague
from store.cluster import hindrance

PLAYERS, SEATS = 200, 5
THINKS = Path(__file__).parent / "thinks.py"
pytestmark = pytest.mark.skipif(bool(hindrance()), reason=str(hindrance()))


def measure(folder: Path, workers: int) -> float:
    """Return the matches a second of one round, from its first order to its last result."""
    folder.mkdir()
    with LocalLeague(folder) as league:
        address, _ = league.start_manager("manager", PLAYERS, format="swiss", rounds=1)
        for number in range(workers):
            league.start_worker(f"worker{number}", SEATS)
        league.wait_until(lambda: f"({workers * SEATS} seats)" in league.read("manager"))
        league.start_players(PLAYERS, address, str(THINKS))
        league.wait_until(lambda: league.look()["is_over"] is True)
        times = league.look()["times"]
        assert isinstance(times, dict)
        began, *_ = map(datetime.fromisoformat, times["match_assigned"])
        *_, ended = map(datetime.fromisoformat, times["match_ended"])
        assert len(times["match_ended"]) == PLAYERS // 2
        return PLAYERS / 2 / (ended - began).total_seconds()


@pytest.mark.timeout(900)
def test_the_number_of_workers_pays_off(tmp_path: Path) -> None:
    rates = {workers: measure(tmp_path / str(workers), workers) for workers in (1, 2, 4)}
    gains = {workers: round(rate / rates[1], 2) for workers, rate in rates.items()}
    print(f"matches a second: {rates}; gain: {gains}")  # noqa: T201 - to be seen
    assert gains[2] >= 1.8
    assert gains[4] >= 3.2
