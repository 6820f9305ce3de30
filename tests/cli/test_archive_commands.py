"""What a league leaves behind: replays, logs, exports; and what it never writes down."""

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from agent_league.printable import format_cell
from cli.league_command import document, league, line_with, running

FIRST = "league_2025_even_odd"


class Archive:
    """A league that was played once, for everybody who only looks."""

    def __init__(self, shared: Path) -> None:
        self.shared = shared
        arguments = ("--port-base", "0", "--seed", "7", "--json")
        self.played = document("play", *arguments, *self.here)

    @property
    def here(self) -> tuple[str, str]:
        return ("--shared", str(self.shared))

    def run(self, *arguments: str) -> str:
        done = league(*arguments, *self.here)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def archive() -> Iterator[Archive]:
    with TemporaryDirectory() as folder:
        yield Archive(Path(folder) / "SHARED")


# Replay


def test_a_match_is_shown_in_its_order_with_the_times(archive: Archive) -> None:
    lines = archive.run("replay", "R1M1").splitlines()
    pattern = re.compile(r" *(\d+) ms +(\S+) -> (\S+) +(\S+) (\{.*)")
    shown = [found.groups() for line in lines if (found := pattern.fullmatch(line))]
    assert len(shown) == len(lines) == 12
    assert [int(offset) for offset, *_ in shown] == sorted(int(offset) for offset, *_ in shown)
    assert shown[0][0] == "0"
    for player in ("player:P01", "player:P02"):
        reply = [kind for _, one, other, kind, _ in shown if player in (one, other)]
        assert reply == [
            "GAME_INVITATION",
            "CHOOSE_PARITY_CALL",
            "GAME_JOIN_ACK",
            "CHOOSE_PARITY_RESPONSE",
            "GAME_OVER",
            "ok",
        ]
    assert "auth_token" not in "".join(lines)


def test_the_document_has_every_message_in_full(archive: Archive) -> None:
    notices = json.loads(archive.run("replay", "R2M1", "--league", FIRST, "--json"))
    assert (notices["schema_version"], notices["league_id"], notices["match_id"]) == (
        1,
        FIRST,
        "R2M1",
    )
    assert len(notices["messages"]) == 12
    (match,) = [one for one in archive.played["matches"] if one["match_id"] == "R2M1"]
    reply = [entry["message"] for entry in notices["messages"]]
    choices = {one["player_id"]: one["parity_choice"] for one in reply if "parity_choice" in one}
    assert choices == match["choices"]
    results = [one["game_result"] for one in reply if "game_result" in one]
    assert [one["drawn_number"] for one in results] == [match["drawn_number"]] * 2
    for message in reply:
        if "message_type" in message:
            assert {"protocol", "sender", "timestamp", "conversation_id"} <= set(message)


@pytest.mark.parametrize(
    ("arguments", "reply"),
    [
        (("replay", "R9M9"), "there is no transcript of R9M9"),
        (("replay", "R1M1", "--league", "nope"), "there is no league 'nope' in "),
        (("log", "nope"), "there is no league 'nope' in "),
        (("log", "--grep", "["), "--grep [: unterminated character set"),
        (("export", "nope"), "there is no league 'nope' in "),
        (("export", "--format", "xml"), "xml"),
    ],
)
def test_what_is_not_there_is_said_so(
    archive: Archive, arguments: tuple[str, ...], reply: str
) -> None:
    done = league(*arguments, *archive.here)
    assert done.returncode == 2
    assert reply in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_folder_has_no_league_and_stays_empty(tmp_path: Path) -> None:
    for command in (("log",), ("export",), ("replay", "R1M1")):
        done = league(*command, cwd=tmp_path)
        assert done.returncode == 2
        assert "error: there is no league in SHARED\nhint: league play starts one" in done.stderr
    assert list(tmp_path.iterdir()) == []


# Log


def test_the_log_shows_every_event_or_those_that_match(archive: Archive) -> None:
    lines = archive.run("log").splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(1, len(lines) + 1))
    kinds = [line.split()[2] for line in lines]
    assert (kinds[0], kinds[-1]) == ("season_opened", "farewell_said")
    assert kinds.count("match_ended") == 6
    some = archive.run("log", FIRST, "--grep", "match_ended.*R[12]M1").splitlines()
    assert some == [line for line in lines if re.search("match_ended.*R[12]M1", line)]
    assert len(some) == 2
    assert archive.run("log", "--grep", "no such thing") == ""


def test_one_who_follows_the_log_of_an_ended_league_sees_its_end(archive: Archive) -> None:
    assert archive.run("log", "--follow") == archive.run("log")


def test_one_who_follows_a_running_league_is_let_go_at_its_end(tmp_path: Path) -> None:
    here = ("--shared", str(tmp_path))
    with ExitStack() as stack:
        manager = stack.enter_context(running("manager", "--port", "0", "--players", "2", *here))
        url = line_with(manager, "Waiting").split()[-1]
        follow = ("log", "--follow", "--grep", "match_ended|season_", *here)
        following = stack.enter_context(running(*follow))
        assert following.stdout is not None
        assert "season_opened" in following.stdout.readline()
        assert following.poll() is None
        for member in ("referee", "player", "player"):
            stack.enter_context(running(member, "--port", "0", "--league", url))
        reply, _ = following.communicate()
        assert following.returncode == 0
    kinds = [line.split()[2] for line in reply.splitlines()]
    assert kinds == ["season_started", "match_ended", "season_ended"]


# Export


def without_time(notices: dict[str, Any]) -> dict[str, Any]:
    return {**notices, "totals": {**notices["totals"], "seconds_playing": None}}


def test_the_exported_document_is_what_was_printed_when_it_was_played(archive: Archive) -> None:
    notices = json.loads(archive.run("export", "--format", "json"))
    assert without_time(notices) == without_time(archive.played)


def test_the_exported_table_has_a_row_for_each_match(archive: Archive) -> None:
    rows = list(csv.DictReader(io.StringIO(archive.run("export", "--format", "csv"))))
    assert [row["match_id"] for row in rows] == [m["match_id"] for m in archive.played["matches"]]
    for row, match in zip(rows, archive.played["matches"], strict=True):
        choices = {row["player_A_id"]: row["choice_A"], row["player_B_id"]: row["choice_B"]}
        assert choices == match["choices"]
        assert row["winner_id"] == (match["winner"] or "")
        assert row["winner"] in ("", row["player_A"], row["player_B"])
        assert row["player_A"].startswith(("Alpha", "Beta", "Gamma", "Delta"))
        assert row["started_at"] <= row["ended_at"]
        assert not any(cell.startswith(("[", "{")) for cell in row.values())


def test_the_exported_lines_are_the_events(archive: Archive) -> None:
    events = [json.loads(line) for line in archive.run("export", "--format", "jsonl").splitlines()]
    shown = [line.split()[1:3] for line in archive.run("log").splitlines()]
    assert [[event["at"], event["event"]] for event in events] == shown


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_text_that_a_spreadsheet_would_compute_is_quoted(text: str) -> None:
    assert format_cell(text) == f"'{text}"


@pytest.mark.parametrize(
    ("value", "written"),
    [("", ""), ("P01", "P01"), (7, "7"), (None, ""), (["=1"], '["=1"]'), ("a=1", "a=1")],
)
def test_other_cells_are_as_they_are(value: Any, written: str) -> None:
    assert format_cell(value) == written


def contents(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_deleted_files_are_made_again_byte_for_byte(archive: Archive) -> None:
    data = archive.shared / "data"
    before = contents(data)
    assert len(before) == 6 + 4 + 2
    shutil.rmtree(data)
    archive.run("export")
    assert contents(data) == before
    archive.run("export", FIRST, "--format", "files")
    assert contents(data) == before


# Secrets


def tokens(shared: Path) -> set[bytes]:
    found = re.compile(rb"tok_\w+?_[\w-]{20,}")
    return {
        one for path in shared.glob("state/*/*.json") for one in found.findall(path.read_bytes())
    }


def test_no_token_is_in_any_file_but_that_of_its_owner(archive: Archive) -> None:
    secrets = tokens(archive.shared)
    assert len(secrets) == 7  # four players, two referees, the organiser
    leaks = {
        name: secret
        for name, body in contents(archive.shared).items()
        for secret in secrets
        if secret in body
    }
    own = {f"state/{FIRST}/{agent}.json" for agent in ("P01", "P02", "P03", "P04")}
    others = {f"state/{FIRST}/{agent}.json" for agent in ("REF01", "REF02", "organiser")}
    assert set(leaks) == own | others
    for name in leaks:
        assert (archive.shared / name).stat().st_mode & 0o077 == 0


def test_no_ticket_is_in_any_file(archive: Archive) -> None:
    ticket = re.compile(rb"tkt_[0-9a-zA-Z_-]{20,}")
    assert [name for name, body in contents(archive.shared).items() if ticket.search(body)] == []


def test_no_command_prints_a_token(archive: Archive) -> None:
    shown = [
        archive.run("log"),
        archive.run("replay", "R1M1", "--json"),
        archive.run("export", "--format", "jsonl"),
        archive.run("export", "--format", "json"),
        archive.run("leagues", "--json"),
    ]
    assert [one for one in tokens(archive.shared) if one.decode() in "".join(shown)] == []
