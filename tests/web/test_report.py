"""`league report`: pages that open from a disk, data for spreadsheets, and a poster."""

import csv
import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

from agent_league.extras import import_extra
from cli.league_command import league
from web.played import HOSTILE, play_league


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "SHARED").mkdir()
    play_league(folder / "SHARED" / "league.db")
    done = league("report", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "index.html" in done.stderr
    return folder / "out"


def test_every_link_of_every_page_leads_to_a_file(report: Path) -> None:
    pages = sorted(report.rglob("*.html"))
    assert len(pages) >= 6 + 4 + 8
    broken = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for where in re.findall(r'(?:href|src)="([^"]*)"', text):
            target, _, anchor = unquote(unescape(where)).partition("#")
            file = (page.parent / target).resolve() if target else page
            if not file.is_file() or (anchor and f'id="{anchor}"' not in file.read_text("utf-8")):
                broken.append((page.name, where))
    assert broken == []


def test_there_is_a_page_for_every_match_agent_and_referee(report: Path) -> None:
    assert len(list((report / "matches").iterdir())) == 6
    assert len(list((report / "agents").iterdir())) == 4
    assert [one.name for one in (report / "referees").iterdir()] == ["REF01.html"]


def test_nothing_in_a_report_follows_a_stream_or_sends_a_form(report: Path) -> None:
    for page in report.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "data-stream" not in text
        assert "<form" not in text


def test_the_data_hold_every_match_and_no_formula(report: Path) -> None:
    with (report / "data" / "matches.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    documents = json.loads((report / "data" / "matches.json").read_text(encoding="utf-8"))
    assert [row["match_id"] for row in rows] == [one["match_id"] for one in documents]
    assert len(rows) == 6
    names = {row["player_A"] for row in rows} | {row["player_B"] for row in rows}
    assert names == {f"'{one}" if one.startswith("=") else one for one in HOSTILE}
    table = json.loads((report / "data" / "standings.json").read_text(encoding="utf-8"))
    assert {row["name"] for row in table} == set(HOSTILE)


def test_the_data_hold_every_message(report: Path) -> None:
    lines = (report / "data" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
    messages = [json.loads(line) for line in lines]
    assert {one["match_id"] for one in messages} == {f"R{r}M{m}" for r in (1, 2, 3) for m in (1, 2)}
    calls = [one for one in messages if one["type"] == "CHOOSE_PARITY_RESPONSE"]
    assert len(calls) == 12
    assert all(one["took_ms"] >= 0 for one in calls)


def test_the_data_are_parquet_too_if_that_is_asked_for(report: Path) -> None:
    parquet = import_extra("pyarrow.parquet", "parquet")
    done = league("report", "--out", "frames", "--parquet", cwd=report.parent)
    assert done.returncode == 0, done.stderr
    for name in ("standings", "matches", "events", "messages"):
        table = parquet.read_table(report.parent / "frames" / "data" / f"{name}.parquet")
        plain = (report.parent / "frames" / "data").glob(f"{name}.json*")
        text = next(iter(plain)).read_text(encoding="utf-8")
        rows = json.loads(text) if text.startswith("[") else text.splitlines()
        assert table.num_rows == len(rows) > 0
    matches = parquet.read_table(report.parent / "frames" / "data" / "matches.parquet")
    assert set(matches["drawn_number"].to_pylist()) <= set(range(1, 11))


def test_no_secret_is_in_a_report(report: Path) -> None:
    events = [
        json.loads(line) for line in (report / "data" / "events.jsonl").read_text().splitlines()
    ]
    assert [one["seq"] for one in events] == [*range(1, len(events) + 1)]
    found = {key for one in events for key in one} & {
        "token_hash",
        "ticket_hash",
        "seed",
        "expires",
    }
    assert found == set()


def test_the_poster_is_one_picture_with_the_best(report: Path) -> None:
    text = (report / "poster.svg").read_text(encoding="utf-8")
    shown = [one.text for one in ET.fromstring(text).iter() if one.tag.endswith("text")]  # noqa: S314 - our own file
    best = json.loads((report / "data" / "standings.json").read_text(encoding="utf-8"))[0]
    assert f"{best['points']} points" in shown
    assert "4 players · 6 matches" in str(shown)


def test_a_report_with_aliases_names_nobody(tmp_path: Path, report: Path) -> None:
    done = league("report", "--out", str(tmp_path), "--aliases", cwd=report.parent)
    assert done.returncode == 0, done.stderr
    everything = "".join(
        unescape(file.read_text(encoding="utf-8"))
        for file in tmp_path.rglob("*")
        if file.is_file() and file.parent.name != "static"
    )
    assert [name for name in HOSTILE if name in everything] == []


def test_a_file_in_the_place_of_the_folder_is_left_alone(tmp_path: Path, report: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    done = league("report", "--out", str(tmp_path / "taken"), cwd=report.parent)
    assert done.returncode == 2
    assert "hint: give another --out" in done.stderr
    assert (tmp_path / "taken").read_text() == "mine"
