"""A league in real processes takes as long as its simulation says, within a factor."""

from pathlib import Path

from cli.league_process import document

PLAYERS, THINK_S = 16, 0.3
THINKING = f"""import asyncio
async def strategy(situation):
    await asyncio.sleep({THINK_S})
    return "even"
"""
SLOWER = 3.0
"""A machine that does other things as well."""


def test_a_real_run_takes_as_long_as_its_simulation(tmp_path: Path) -> None:
    strategy = tmp_path / "thinking.py"
    strategy.write_text(THINKING, encoding="utf-8")
    flags = ("--players", str(PLAYERS), "--referees", "2", "--strategy", str(strategy))
    kept = ("--shared", str(tmp_path / "SHARED"), "--port-base", "0", "--display", "none")
    real = document("play", *flags, *kept, "--json")
    referees = ("--referees", "2", "--capacity", "10")
    (simulated,) = document("simulate", str(PLAYERS), "--think", str(THINK_S), *referees, "--json")[
        "estimates"
    ]
    assert real["totals"]["matches"] == simulated["matches"]
    seconds = 3600 * simulated["hours"]
    assert seconds * 0.9 < real["totals"]["seconds_playing"] < seconds * SLOWER
