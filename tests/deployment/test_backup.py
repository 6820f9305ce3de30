"""A league goes on from a back-up that was taken while it was played, and its result holds."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from chaos.test_resume_command import FIRST, Gate, Log, everybody_met_once
from cli.league_command import line_with
from cli.league_process import league, running
from store.cluster import Cluster, hindrance


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    if why := hindrance():
        pytest.skip(why)
    own = Cluster()
    try:
        own.start()
        yield own
    finally:
        own.remove()


@pytest.fixture
def postgresql(cluster: Cluster) -> str:
    asyncio.run(cluster.clear())
    return cluster.address


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "league.db")
    address: str = request.getfixturevalue("postgresql")
    return address


def succeed(*arguments: str) -> str:
    done = league(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def back_up_running_league(shared: Path, store: str, gate: Gate, backup: Path) -> None:
    """Back a league up after its first round, while it plays; then kill all its processes."""
    kept = ("--shared", str(shared), "--store", store)
    with running("play", "--port-base", "0", "--strategy", gate.strategy, *kept) as process:
        line_with(process, "Round 1/3 over")
        assert f"Wrote {backup}: 1 league" in succeed("backup", str(backup), *kept)
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
    assert psutil.wait_procs(family, timeout=60)[1] == []
    gate.open()


def test_a_league_goes_on_from_a_backup_that_was_taken_while_it_was_played(
    tmp_path: Path, store: str
) -> None:
    backup, elsewhere = tmp_path / "monday.db", tmp_path / "elsewhere"
    back_up_running_league(tmp_path / "SHARED", store, Gate(tmp_path), backup)
    assert "holds so far" in succeed("verify", "--store", str(backup))
    succeed("restore", str(backup), "--shared", str(elsewhere))
    before = Log(elsewhere)
    assert len(before.ended) == 2
    succeed("resume", "--shared", str(elsewhere), "--display", "none")
    after = Log(elsewhere)
    assert after.lines[: len(before.lines)] == before.lines
    assert everybody_met_once(after.ended, 4)
    assert after.names == before.names
    assert f"{FIRST} holds\n" in succeed("verify", "--shared", str(elsewhere))


def test_a_league_moves_from_a_folder_to_postgresql_and_goes_on_there(
    tmp_path: Path, postgresql: str
) -> None:
    backup, store = tmp_path / "move.db", str(tmp_path / "league.db")
    back_up_running_league(tmp_path / "SHARED", store, Gate(tmp_path), backup)
    there = ("--shared", str(tmp_path / "elsewhere"), "--store", postgresql)
    succeed("restore", str(backup), *there)
    succeed("resume", *there, "--display", "none")
    assert f"{FIRST} holds\n" in succeed("verify", *there)
    refused = league("restore", str(backup), *there)
    assert refused.returncode == 3
    assert "already: nothing was restored" in refused.stderr
    assert "hint: choose another place with --shared or --store" in refused.stderr
