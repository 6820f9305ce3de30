"""A store that fails under a league: it waits and goes on, or says so; the table is never wrong."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from chaos.test_resume_command import (
    FIRST,
    Gate,
    Log,
    everybody_met_once,
    no_traceback,
    play,
)
from cli.league_command import line_with
from cli.league_process import PLAIN, document, league, running
from store.cluster import PASSWORD, Cluster, hindrance

SMALL_DISK = """import sys
from agent_league.store.sqlite import SqliteStore
connected = SqliteStore._connect
def small(self):
    database = connected(self)
    database.execute("PRAGMA max_page_count = 30")
    return database
SqliteStore._connect = small
from agent_league.cli import main
sys.exit(main())
"""


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path / "SHARED"


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


def test_a_league_waits_for_a_postgresql_that_went_away(
    cluster: Cluster, shared: Path, tmp_path: Path
) -> None:
    gate, kept = Gate(tmp_path), ("--shared", str(shared), "--store", cluster.address)
    mixed = f"{gate.strategy},always_odd"
    wanted = ("--players", "4", "--strategy", mixed, "--seed", "7")
    with running(*play(shared, *wanted, "--store", cluster.address)) as process:
        line_with(process, "Round 1/3 over")
        cluster.stop()
        gate.open()
        reply = line_with(process, "waiting for it")
        assert "127.0.0.1" in reply
        assert PASSWORD not in reply
        cluster.start()
        assert "is back; the league goes on" in line_with(process, " is back")
        shown, rest = process.communicate(timeout=40)
    assert process.returncode == 0, rest
    assert "Champion: " in shown
    (row,) = document("leagues", *kept, "--json")["leagues"]
    assert (row["matches"], row["ended"]) == (6, True)
    table = document("standings", FIRST, *kept, "--json")["standings"]
    alone = document(*play(shared, *wanted, "--store", "memory", "--json"))
    assert table == alone["standings"]
    notices = document("export", "--format", "json", *kept)
    assert notices["matches"] == alone["matches"]
    files = json.loads((shared / "data" / "leagues" / FIRST / "standings.json").read_bytes())
    assert files["standings"] == table


def test_a_full_disk_ends_a_league_that_goes_on_when_there_is_room(shared: Path) -> None:
    with TemporaryDirectory() as empty:
        full = subprocess.run(
            [sys.executable, "-c", SMALL_DISK, *play(shared, "--players", "8", "--seed", "7")],
            capture_output=True,
            text=True,
            timeout=50,
            env=PLAIN,
            cwd=empty,
            check=False,
        )
    assert no_traceback(full, 3)
    assert "the disk is full; what was acknowledged is kept" in full.stderr
    assert "hint: " in full.stderr
    before = Log(shared).ended
    assert 0 < len(before) < 28
    done = league("resume", "--shared", str(shared), "--json")
    assert done.returncode == 0, done.stderr
    after = Log(shared).ended
    assert after[: len(before)] == before
    assert everybody_met_once(after, 8)
    assert json.loads(done.stdout)["totals"]["matches"] == 28


def test_a_database_that_somebody_else_holds_is_said_so(shared: Path) -> None:
    assert league(*play(shared, "--players", "2")).returncode == 0
    with closing(sqlite3.connect(shared / "league.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        done = league("leagues", "--shared", str(shared))
    assert no_traceback(done, 3)
    assert "error: " in done.stderr
    assert "another program holds the database" in done.stderr
    assert "hint: " in done.stderr
    assert league("leagues", "--shared", str(shared)).returncode == 0


def test_a_postgresql_that_is_not_there_is_said_so(shared: Path) -> None:
    address = "postgresql://someone:secret@127.0.0.1:1/none"
    done = league(*play(shared, "--store", address))
    assert no_traceback(done, 3)
    assert "error: postgresql://127.0.0.1:1/none: PostgreSQL cannot be reached" in done.stderr
    assert "hint: " in done.stderr
    assert "secret" not in done.stderr
    assert not shared.exists()


# As it was begun


def plan(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "state" / FIRST / "plan.json").read_bytes())
    return found


def test_a_league_goes_on_as_it_was_begun(shared: Path, tmp_path: Path) -> None:
    gate, other = Gate(tmp_path), tmp_path / "other.db"
    flags = ("--strategy", gate.strategy, "--store", str(other), "--durability", "process")
    with running(*play(shared, "--players", "3", *flags)) as process:
        line_with(process, "Round 1/3 over")
        process.kill()
    gate.open()
    begun = plan(shared)
    assert (begun["store"], begun["durability"]) == (str(other), "process")
    done = league("resume", "--shared", str(shared), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["matches"] == 3
    assert not (shared / "league.db").exists()
    assert plan(shared) == begun
    again = league("resume", FIRST, "--shared", str(shared))
    assert f"{FIRST} is over" in again.stderr


def test_a_league_in_another_store_leaves_the_files_of_the_first_alone(
    shared: Path, tmp_path: Path
) -> None:
    assert league(*play(shared, "--players", "2")).returncode == 0
    before = plan(shared)
    other = ("--store", str(tmp_path / "other.db"))
    notices = document(*play(shared, "--players", "2", "--json", *other))
    assert notices["league_id"] == f"{FIRST}_2"
    assert plan(shared) == before
    assert league("resume", f"{FIRST}_2", "--shared", str(shared)).returncode == 0


def test_no_password_is_written_down(cluster: Cluster, shared: Path) -> None:
    done = league(*play(shared, "--players", "2", "--store", cluster.address))
    assert done.returncode == 0, done.stderr
    assert PASSWORD in cluster.address
    files = [file for file in shared.rglob("*") if file.is_file()]
    assert files
    assert all(PASSWORD.encode() not in file.read_bytes() for file in files)


def test_a_manager_alone_goes_on_at_its_port(shared: Path) -> None:
    with running("manager", "--port", "0", "--shared", str(shared)) as process:
        line_with(process, "Waiting")
    assert plan(shared)["port_base"] == 0
    assert plan(shared)["referees"] == []
    with running("resume", "--shared", str(shared)) as process:
        assert ":8000/" not in line_with(process, "Waiting")
    with running("resume", "--shared", str(shared), "--port", "0") as process:
        line_with(process, "Waiting")


# Over


def test_a_league_that_is_over_is_shown_and_starts_nobody(shared: Path) -> None:
    played = document(*play(shared, "--players", "3", "--seed", "7", "--json"))
    log = Log(shared).lines
    done = league("resume", FIRST, "--shared", str(shared))
    assert no_traceback(done, 0)
    assert f"{FIRST} is over" in done.stderr
    assert f"league export {FIRST} --shared {shared}" in done.stderr
    assert f"league replay R1M1 {FIRST} --shared {shared}" in done.stderr
    champion = played["champion"]
    assert f"Champion: {champion['display_name']} ({champion['player_id']})" in done.stdout
    assert [line.split()[-1] for line in done.stdout.splitlines()[1:4]] == [
        str(row["points"]) for row in played["standings"]
    ]
    notices = document("resume", FIRST, "--shared", str(shared), "--json")
    assert notices["standings"] == played["standings"]
    assert notices["matches"] == played["matches"]
    assert Log(shared).lines == log


def test_a_kept_league_tells_where_it_stands(shared: Path) -> None:
    played = document(*play(shared, "--players", "3", "--seed", "7", "--json"))
    kept = (FIRST, "--shared", str(shared))
    status = document("status", *kept, "--json")
    assert (status["stage"], status["matches_played"]) == ("COMPLETED", 3)
    assert "COMPLETED  round 3/3  3 matches" in league("status", *kept).stdout
    rounds = document("schedule", *kept, "--json")["rounds"]
    notices = {match["match_id"]: match["winner"] for one in rounds for match in one["matches"]}
    assert notices == {match["match_id"]: match["winner"] for match in played["matches"]}
    lines = league("schedule", *kept, "--round", "2").stdout.splitlines()
    assert lines[0].split() == ["match", "player", "A", "player", "B", "status", "winner"]
    assert [line.split()[0] for line in lines[1:]] == ["R2M1"]
