"""A league that an older version left in the middle is upgraded in place, and goes on."""

import tarfile
from pathlib import Path

import pytest

from chaos.test_resume_command import FIRST, Log
from cli.league_process import be_patient, league

OLD = Path(__file__).parent / "old_leagues"
VERSIONS = sorted(path.name.partition(".")[0] for path in OLD.glob("*.tar.xz"))
MATCHES = 60


@pytest.fixture(params=VERSIONS)
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(OLD / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return be_patient(tmp_path / "SHARED")


def succeed(*arguments: str) -> str:
    done = league(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_league_of_an_older_version_goes_on_and_holds(shared: Path) -> None:
    here = ("--shared", str(shared))
    assert "holds so far" in succeed("verify", *here)
    before = Log(shared)
    assert len(before.ended) >= 10
    succeed("resume", "--port-base", "0", "--display", "none", *here)
    after = Log(shared)
    assert after.lines[: len(before.lines)] == before.lines
    assert len(after.ended) == MATCHES
    assert f"{FIRST} holds\n" in succeed("verify", *here)


def test_a_league_of_an_older_version_can_be_backed_up_and_restored(
    shared: Path, tmp_path: Path
) -> None:
    backup, elsewhere = str(tmp_path / "old.db"), tmp_path / "elsewhere"
    succeed("backup", backup, "--shared", str(shared))
    succeed("restore", backup, "--shared", str(elsewhere))
    assert Log(elsewhere).lines == Log(shared).lines
