"""`league serve` in real processes: an organiser's day, and a server that is killed."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent_league.running.folder import Folder
from cli.league_command import line_with
from cli.league_process import be_patient, league, running
from free_ports import free_ports

pytestmark = pytest.mark.processes


def order(folder: Path, *arguments: str) -> str:
    done = league(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def count_matches(folder: Path) -> int:
    return sum(row.matches for row in Folder(folder / "SHARED").list_leagues())


def test_an_organiser_opens_two_leagues_and_ends_one(tmp_path: Path) -> None:
    shared, port = be_patient(tmp_path / "SHARED"), str(free_ports(3)[0])
    with ExitStack() as stack:
        server = stack.enter_context(running("serve", "--port", port, "--shared", str(shared)))
        assert port in line_with(server, "Leagues are run at")
        assert "begins when 2 players" in order(tmp_path, "create", "autumn", "--players", "2")
        created = json.loads(order(tmp_path, "create", "spring", "--json").partition("\n\n")[0])
        assert created["url"].endswith("/leagues/spring/mcp")
        for name in ("Ada", "Bob"):
            joining = ("player", f"127.0.0.1:{port}", "--league-id", "autumn", "--port", "0")
            stack.enter_context(running(*joining, "--name", name))
        line_with(server, "autumn begins with 2 players")
        line_with(server, "autumn is over")
        order(tmp_path, "close-registration", "spring")
        order(tmp_path, "end", "spring", "--reason", "nobody came")
        line_with(server, "spring is over; it never began")
        for league_id in ("autumn", "spring"):
            assert "holds" in order(tmp_path, "verify", league_id)
        again = league("create", "autumn", cwd=tmp_path)
        assert again.returncode != 0
        assert "there is a league 'autumn'" in again.stderr


def test_all_leagues_of_a_killed_server_go_on_and_nothing_is_doubled(tmp_path: Path) -> None:
    shared, port = be_patient(tmp_path / "SHARED"), str(free_ports(3)[0])
    ids = ("a", "b", "c")
    with ExitStack() as stack:
        with running("serve", "--port", port, "--shared", str(shared)) as server:
            line_with(server, "Leagues are run at")
            for league_id in ids:
                order(tmp_path, "create", league_id, "--players", "2", "--legs", "300")
                for number in (1, 2):
                    joining = ("player", f"127.0.0.1:{port}", "--league-id", league_id)
                    name = f"{league_id}{number}"
                    stack.enter_context(running(*joining, "--port", "0", "--name", name))
            for _ in ids:
                line_with(server, "begins with 2 players")
            while count_matches(tmp_path) < 20:
                assert server.poll() is None
            server.kill()
        before = count_matches(tmp_path)
        assert before < 900
        server = stack.enter_context(running("serve", "--port", port, "--shared", str(shared)))
        line_with(server, "goes on")
        while not all(row.ended for row in Folder(shared).list_leagues()):
            assert server.poll() is None
        server.terminate()
        server.wait()
    rows = Folder(shared).list_leagues()
    assert [(row.league_id, row.matches, row.ended) for row in rows] == [
        (league_id, 300, 1) for league_id in ids
    ]
    for league_id in ids:
        assert "holds" in order(tmp_path, "verify", league_id)
