"""The match history of a player, after crashes too."""

from pathlib import Path
from typing import NamedTuple

import pytest

from agent_league.store.agent_files import MatchHistory


class Seen(NamedTuple):
    match_id: str
    won: bool | None = None


def test_a_history_is_read_in_the_order_it_was_written(tmp_path: Path) -> None:
    history = MatchHistory(tmp_path / "state" / "P01.jsonl")
    assert history.read(Seen) == []
    seen = [Seen("R1M1", True), Seen("R2M1", False), Seen("R3M1")]
    for one in seen:
        history.write(one)
    history.close()
    assert history.read(Seen) == seen
    assert MatchHistory(tmp_path / "state" / "P01.jsonl").read(Seen) == seen


@pytest.mark.parametrize("cut", range(1, len(b'["R2M1",false]\n')))
def test_a_line_cut_off_in_the_middle_is_left_out(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "P01.jsonl"
    history = MatchHistory(path)
    history.write(Seen("R1M1", True))
    history.write(Seen("R2M1", False))
    history.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    read = history.read(Seen)
    assert read[0] == Seen("R1M1", True)
    assert read[1:] == ([Seen("R2M1", False)] if cut == 1 else [])  # only its end was missing


def test_what_is_written_after_a_line_that_was_cut_off_is_read(tmp_path: Path) -> None:
    path = tmp_path / "P01.jsonl"
    history = MatchHistory(path)
    history.write(Seen("R1M1", True))
    with path.open("ab") as file:
        file.write(b'["R2M')
    history.write(Seen("R3M1"))
    history.close()
    history.write(Seen("R4M1"))
    history.close()
    assert [seen.match_id for seen in history.read(Seen)] == ["R1M1", "R3M1", "R4M1"]


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
    assert MatchHistory(path).read(Seen) == [Seen("R2M1")]
