"""`make bundle` brings the package to a machine that reaches no index, and no network at all."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CUT_OFF = ["unshare", "--user", "--map-root-user", "--net", "--", "sh", "-ec"]
"""In a network of its own, in which only this machine is."""
PIP = "league/bin/pip install --no-index --find-links bundle --require-hashes -r bundle/requirements.txt"


def run_cut_off(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*CUT_OFF, f"ip link set lo up\n{script}"]
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("machine")
    if shutil.which("unshare") is None or run_cut_off("true", folder).returncode:
        pytest.skip("networks cannot be cut off here (unshare, ip)")
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    make = [str(shutil.which("make")), "bundle", f"PYTHON={shlex.quote(sys.executable)}", "ARGS="]
    subprocess.run(make, cwd=ROOT, check=True, env=own)
    (archive,) = (ROOT / "dist").glob("*-bundle.tar.gz")
    shutil.unpack_archive(archive, folder, filter="data")
    return folder


def test_the_bundle_plays_a_league_on_a_machine_without_network(bundle: Path) -> None:
    readme = (bundle / "bundle/README.txt").read_text(encoding="utf-8")
    assert PIP in readme
    assert run_cut_off("ip route get 192.0.2.1", bundle).returncode != 0
    script = f"{shlex.quote(sys.executable)} -m venv league\n{PIP} --quiet\n"
    played = run_cut_off(script + "league/bin/league play --display none --port-base 0", bundle)
    assert played.returncode == 0, played.stderr
    assert "Champion" in played.stdout


def test_a_changed_file_in_the_bundle_is_refused(bundle: Path, tmp_path: Path) -> None:
    shutil.copytree(bundle / "bundle", tmp_path / "bundle")
    (wheel,) = (tmp_path / "bundle").glob("agent_league-*.whl")
    with wheel.open("ab") as file:
        file.write(b"x")
    done = run_cut_off(f"{shlex.quote(sys.executable)} -m venv league\n{PIP} --quiet", tmp_path)
    assert done.returncode != 0
    assert re.search("DO NOT MATCH THE HASHES", done.stderr, re.IGNORECASE)
