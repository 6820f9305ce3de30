"""The identity file of an agent: written completely or not at all, and for its owner only."""

import os
import stat
from pathlib import Path

import pytest

from agent_league.store.agent_files import Identity, load_identity, save_identity

MINE = Identity("P01", "tok_P01_secret", "my_league")


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "state" / "my_league" / "P01.json"
    assert load_identity(path) is None
    save_identity(path, MINE)
    assert load_identity(path) == MINE


def test_a_token_is_for_nobody_else_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "P01.json"
    before = os.umask(0)
    try:
        save_identity(path, MINE)
        save_identity(path, MINE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_identity_replaces_the_old_one_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "P01.json"
    save_identity(path, MINE)
    save_identity(path, Identity("P02", "tok_P02_other"))
    assert load_identity(path) == Identity("P02", "tok_P02_other")
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_identity_stays_if_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "P01.json"
    save_identity(path, MINE)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_identity(path, Identity("P02", "tok_P02_other"))
    assert load_identity(path) == MINE


def test_what_a_crash_left_beside_is_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / "P01.json"
    path.with_name("P01.json.new").write_bytes(b'{"agent_id":"P0')
    assert load_identity(path) is None
    save_identity(path, MINE)
    assert load_identity(path) == MINE


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\x00\xff",
        b'{"agent_id": "P01"}',
        b'{"agent_id": "P01", "token": 7}',
        b'{"agent_id": "P01", "token": "tok_P01_x"',
    ],
)
def test_an_unusable_file_counts_as_none(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "P01.json"
    path.write_bytes(body)
    assert load_identity(path) is None


def test_a_folder_in_the_place_of_the_file_counts_as_none(tmp_path: Path) -> None:
    assert load_identity(tmp_path) is None


def test_what_a_later_version_adds_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "P01.json"
    path.write_bytes(b'{"agent_id": "P01", "token": "tok_P01_x", "colour": "red"}')
    assert load_identity(path) == Identity("P01", "tok_P01_x")
