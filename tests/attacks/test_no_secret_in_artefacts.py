"""T16, S10: after a whole league, no token, no key and no seed is in anything that it has written."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from agent_league.protocol.tokens import hash_token

MOST_PAGES = 80
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
    league(tmp_path, "report", "--out", str(tmp_path / "report"))  # every page, as a file
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


def test_no_process_of_a_running_league_and_none_of_its_pages_shows_a_secret(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "agent_league", "start", "--players", "2", "--port-base", "0"]
    words = [*command, "--shared", str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        try:
            assert running.stderr is not None
            while b"/mcp" not in (line := running.stderr.readline()):
                assert line, "the league did not start"
            found = re.search(r"http://[0-9.:]+(?=/mcp)", line.decode())
            assert found is not None
            pages = read_pages(found[0])
            lines = [
                file.read_bytes()
                for file in Path("/proc").glob("[0-9]*/cmdline")
                if _is_there(file)
            ]
            secrets = dict(read_secrets(tmp_path))
        finally:
            running.terminate()
            running.communicate(timeout=30)
    assert secrets
    assert len(pages) > 10
    assert not [one for one, page in pages.items() for s in secrets.values() if s.encode() in page]
    assert not [line for line in lines for secret in secrets.values() if secret.encode() in line]


def read_pages(base: str) -> dict[str, bytes]:
    """Return every page of a running league that its pages lead to, and those for programs."""
    waiting = ["/", "/record", "/metrics", "/status", "/standings", "/schemas/openapi.json"]
    pages: dict[str, bytes] = {}
    while waiting and len(pages) < MOST_PAGES:
        path = waiting.pop(0)
        if path not in pages:
            pages[path] = _fetch(base + path)
            found = re.findall(rb"href=[\"'](/[^\"'#?]*)", pages[path])
            waiting += [link.decode() for link in found]
    return pages


def _fetch(url: str) -> bytes:
    request = Request(url, headers={"accept": "text/html"})  # noqa: S310 - of this machine
    try:
        with urlopen(request, timeout=20) as answer:  # noqa: S310
            return bytes(answer.read())
    except HTTPError as error:
        with error:
            return error.read()


def _is_there(file: Path) -> bool:
    try:
        file.read_bytes()
    except OSError:
        return False
    return True
