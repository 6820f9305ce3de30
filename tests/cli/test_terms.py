"""How strict a league is follows from its flags, or from its files."""

from pathlib import Path

import pytest

from agent_league.running.lineup import ConfigFiles


@pytest.mark.parametrize(
    ("written", "class_league", "strict", "strictness"),
    [
        (None, False, None, "tolerant"),
        (None, True, None, "strict"),
        (None, True, False, "tolerant"),
        (None, False, True, "strict"),
        ("strict", False, None, "strict"),
        ("strict", False, False, "tolerant"),
    ],
)
def test_a_flag_wins_over_a_class_league_and_that_over_a_file(
    tmp_path: Path, written: str | None, class_league: bool, strict: bool | None, strictness: str
) -> None:
    if written:
        file = tmp_path / "config/leagues/cup.json"
        file.parent.mkdir(parents=True)
        file.write_text(f'{{"league_id": "cup", "strictness": "{written}"}}', encoding="utf-8")
    files = ConfigFiles(tmp_path)
    settings = files.make_settings("cup", class_league=class_league, strict=strict)
    assert settings.strictness == strictness


@pytest.mark.parametrize(
    ("written", "class_league", "protocols"),
    [
        ("", False, ("league.v2", "league.v1")),
        ("", True, ("league.v2",)),
        (', "protocols": ["league.v1"]', False, ("league.v1",)),
        (', "protocols": ["league.v2", "league.v1"]', True, ("league.v2", "league.v1")),
    ],
)
def test_a_class_league_admits_league_v1_only_if_its_file_says_so(
    tmp_path: Path, written: str, class_league: bool, protocols: tuple[str, ...]
) -> None:
    file = tmp_path / "config/leagues/cup.json"
    file.parent.mkdir(parents=True)
    file.write_text(f'{{"league_id": "cup"{written}}}', encoding="utf-8")
    settings = ConfigFiles(tmp_path).make_settings("cup", class_league=class_league)
    assert settings.protocols == protocols
    assert settings.options == ({"low": 0, "high": 99} if protocols[0] == "league.v1" else {})


@pytest.mark.parametrize(
    ("written", "class_league", "lead"),
    [("", False, 0), ("", True, 60), (', "announcement_lead_sec": 5', True, 5)],
)
def test_a_class_league_waits_as_long_as_its_file_says(
    tmp_path: Path, written: str, class_league: bool, lead: float
) -> None:
    file = tmp_path / "config/leagues/cup.json"
    file.parent.mkdir(parents=True)
    file.write_text(f'{{"league_id": "cup"{written}}}', encoding="utf-8")
    settings = ConfigFiles(tmp_path).make_settings("cup", class_league=class_league)
    assert settings.announcement_lead == lead
