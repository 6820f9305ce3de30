"""The files of `deploy/` are held to the tools of their kind; one that is missing is skipped."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_league.cli.app import make_app
from deployment.nginx import Nginx, hindrance

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted(
    path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.stem != "kustomization"
)
UNITS = sorted(path.name for path in (DEPLOY / "systemd").iterdir())
EXPOSED = 2.0
"""What `systemd-analyze security` calls "OK" ends at 5; ours are far better."""


def find(program: str) -> str:
    """Return where *program* is: beside this Python, or on the path; else skip the test."""
    beside = Path(sys.executable).parent / program
    found = str(beside) if beside.exists() else shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def check(*command: str, **environment: str) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=DEPLOY,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_container_file_has_no_fault() -> None:
    check(find("hadolint"), str(DEPLOY / "Containerfile"))


def test_the_container_is_not_root_and_looks_after_itself() -> None:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert "\nUSER 10001:10001\n" in text
    assert 'CMD ["league", "status", "http://127.0.0.1:8000"]' in text


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.stem)
def test_a_manifest_is_what_kubernetes_expects(manifest: Path) -> None:
    check(find("kubernetes-validate"), "--strict", str(manifest))


def test_kubernetes_has_the_same_proxy() -> None:
    one, other = DEPLOY / "nginx/league.conf", DEPLOY / "kubernetes/league.conf"
    assert one.read_bytes() == other.read_bytes()


def test_the_compose_file_is_valid() -> None:
    check(find("docker-compose"), "-f", "compose.yaml", "config", "-q", LEAGUE_PASSWORD="x")


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Give the units with a command that is there, and with a name for the template."""
    for name in UNITS:
        text = (DEPLOY / "systemd" / name).read_text(encoding="utf-8")
        place = tmp_path / name.replace("@.", "@1.")
        place.write_text(text.replace("/opt/league/bin/league", "/bin/true"), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_valid(units: Path, name: str) -> None:
    said = check(find("systemd-analyze"), "verify", str(units / name.replace("@.", "@1.")))
    assert said.strip() == ""


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_a_service_may_do_hardly_anything(units: Path, name: str) -> None:
    unit = str(units / name.replace("@.", "@1."))
    said = check(find("systemd-analyze"), "security", "--offline=true", unit)
    exposed = re.search(r"exposure level for .*: ([\d.]+)", said)
    assert exposed, said
    assert float(exposed[1]) < EXPOSED


def test_nginx_takes_its_configuration(tmp_path: Path) -> None:
    if why := hindrance():
        pytest.skip(why)
    check(*Nginx(tmp_path / "nginx", [8000]).command("-t"))


def test_caddy_takes_its_configuration() -> None:
    caddyfile = str(DEPLOY / "caddy/Caddyfile")
    check(find("caddy"), "adapt", "--adapter", "caddyfile", "--config", caddyfile, "--validate")


def list_commands() -> list[list[str]]:
    """Return every command of ours in these files."""
    found: list[list[str]] = []
    for path in (*MANIFESTS, DEPLOY / "compose.yaml"):
        text = path.read_text(encoding="utf-8")
        blocks = re.findall(r"(?:args|command):\n((?: +- \S+\n)+)", text)
        found += [re.findall(r"- (\S+)", block) for block in blocks]
        rows = re.findall(r"(?:args|command): \[(referee.*)\]", text)
        found += [[word.strip().strip('"') for word in row.split(",")] for row in rows]
    return [[re.sub(r"\$\{\w+:-(.*?)\}", r"\1", word) for word in words] for words in found]


@pytest.mark.parametrize("words", list_commands(), ids=lambda words: words[0])
def test_the_commands_of_the_files_are_real_ones(words: list[str]) -> None:
    """They are parsed as the command line parses them; nothing is run."""
    make_app().parse_args(words, exit_on_error=False, print_error=False)
