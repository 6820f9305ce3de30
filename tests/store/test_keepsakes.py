"""What an agent keeps of itself: whole or not at all, for nobody else, and never in the way."""

import os
import stat
from pathlib import Path
from typing import NamedTuple

import pytest

from agent_league.store.keepsakes import Diary, Keepsake, keep, kept

MINE = Keepsake("P01", "tok_P01_secret", "my_league")


class Seen(NamedTuple):
    match_id: str
    won: bool | None = None


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "state" / "my_league" / "P01.json"
    assert kept(path) is None
    keep(path, MINE)
    assert kept(path) == MINE


def test_a_token_is_for_nobody_else_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "P01.json"
    before = os.umask(0)
    try:
        keep(path, MINE)
        keep(path, MINE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_keepsake_replaces_the_old_one_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "P01.json"
    keep(path, MINE)
    keep(path, Keepsake("P02", "tok_P02_other"))
    assert kept(path) == Keepsake("P02", "tok_P02_other")
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_keepsake_stays_if_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "P01.json"
    keep(path, MINE)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        keep(path, Keepsake("P02", "tok_P02_other"))
    assert kept(path) == MINE


def test_what_a_crash_left_beside_is_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / "P01.json"
    path.with_name("P01.json.new").write_bytes(b'{"agent_id":"P0')
    assert kept(path) is None
    keep(path, MINE)
    assert kept(path) == MINE


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
    assert kept(path) is None


def test_a_folder_in_the_place_of_the_file_counts_as_none(tmp_path: Path) -> None:
    assert kept(tmp_path) is None


def test_what_a_later_version_adds_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "P01.json"
    path.write_bytes(b'{"agent_id": "P01", "token": "tok_P01_x", "colour": "red"}')
    assert kept(path) == Keepsake("P01", "tok_P01_x")


def test_a_diary_is_read_in_the_order_it_was_written(tmp_path: Path) -> None:
    diary = Diary(tmp_path / "state" / "P01.jsonl")
    assert diary.read(Seen) == []
    seen = [Seen("R1M1", True), Seen("R2M1", False), Seen("R3M1")]
    for one in seen:
        diary.write(one)
    assert diary.read(Seen) == seen
    assert Diary(tmp_path / "state" / "P01.jsonl").read(Seen) == seen


@pytest.mark.parametrize("cut", range(1, len(b'["R2M1",false]\n')))
def test_a_line_cut_off_in_the_middle_is_left_out(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "P01.jsonl"
    diary = Diary(path)
    diary.write(Seen("R1M1", True))
    diary.write(Seen("R2M1", False))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    read = diary.read(Seen)
    assert read[0] == Seen("R1M1", True)
    assert read[1:] == ([Seen("R2M1", False)] if cut == 1 else [])  # only its end was missing


def test_what_is_written_after_a_line_that_was_cut_off_is_read(tmp_path: Path) -> None:
    path = tmp_path / "P01.jsonl"
    diary = Diary(path)
    diary.write(Seen("R1M1", True))
    with path.open("ab") as file:
        file.write(b'["R2M')
    diary.write(Seen("R3M1"))
    diary.write(Seen("R4M1"))
    assert [seen.match_id for seen in diary.read(Seen)] == ["R1M1", "R3M1", "R4M1"]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"\xff",
        b"[]",
        b'["R1M1", true, "one too many"]',
    ],
)
def test_a_line_that_is_something_else_is_left_out(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "P01.jsonl"
    path.write_bytes(line + b'\n["R2M1",null]\n')
    assert Diary(path).read(Seen) == [Seen("R2M1")]
