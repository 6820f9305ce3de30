"""T16, S10: after a whole league, no token, no key and no seed is in anything that it has written."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_league.protocol.tokens import hash_token

pytestmark = pytest.mark.processes
COMMANDS = (
    ("log",),
    *(("export", "--format", form) for form in ("json", "csv", "jsonl", "record", "files")),
    ("status", "--json"),
    ("standings", "--json"),
    ("schedule", "--json"),
    ("replay", "R1M1"),
    ("verify", "--json"),
)


def league(folder: Path, *words: str) -> bytes:
    command = [sys.executable, "-m", "agent_league", *words, "--shared", str(folder)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=100)
    return done.stdout + done.stderr


def read_secrets(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every token and key that the agents of the league keep for themselves."""
    for file in folder.glob("state/*/*.json"):
        kept = json.loads(file.read_bytes())
        for name in ("token", "signing_key"):
            if isinstance(kept, dict) and kept.get(name):
                yield f"{name} of {file.stem}", str(kept[name])


def test_no_token_no_key_and_no_hash_of_a_token_is_in_any_artefact(tmp_path: Path) -> None:
    shown = league(
        tmp_path,
        "play",
        "--players",
        "4",
        "--referees",
        "2",
        "--display",
        "none",
        "--port-base",
        "0",
    )
    secrets = dict(read_secrets(tmp_path))
    assert len(secrets) >= 2 * 6
    artefacts = {"the screen": shown}
    artefacts |= {" ".join(words): league(tmp_path, *words) for words in COMMANDS}
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    artefacts |= {str(f): f.read_bytes() for f in written if f.parent.parent != tmp_path / "state"}
    assert len(artefacts) > 20
    for name, body in artefacts.items():
        hits = [who for who, secret in secrets.items() if secret.encode() in body]
        assert not hits, name
        if not name.endswith((".db", ".db-wal")):  # the store has the hashes, to know the tokens
            digests = [hash_token(secret).encode() for secret in secrets.values()]
            assert not [one for one in digests if one in body], name
    for file in (tmp_path / "league.db", *tmp_path.glob("state/*/*.json")):
        private = file.name == "files.json" or file.stat().st_mode & 0o077 == 0
        assert private, file


def test_no_process_of_a_league_has_a_secret_in_its_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent_league", "start", "--players", "2", "--port-base", "0"]
    words = [*command, "--shared", str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        assert b"open" in running.stderr.readline() + running.stderr.readline()
        lines = [
            file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if _is_there(file)
        ]
        secrets = dict(read_secrets(tmp_path))
        running.terminate()
        running.communicate(timeout=30)
    assert secrets
    assert not [line for line in lines for secret in secrets.values() if secret.encode() in line]


def _is_there(file: Path) -> bool:
    try:
        file.read_bytes()
    except OSError:
        return False
    return True
