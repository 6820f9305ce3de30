"""`league serve` on PostgreSQL: leagues that are opened, ended, killed and go on."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agent_league.running.folder import Folder
from cli.league_command import line_with
from cli.league_process import be_patient, league, running
from free_ports import free_ports

pytestmark = pytest.mark.processes
LEGS = 300


class Organiser:
    """Leads the leagues of one folder by commands."""

    def __init__(self, home: Path, store: str) -> None:
        self.port, self.home, self.store = str(free_ports(3)[0]), home, store
        self._shared = be_patient(home / "SHARED")
        where = ("--shared", str(self._shared), "--store", store)
        self.serving = ("serve", "--port", self.port, *where)

    def order(self, *words: str) -> str:
        done = league(*words, cwd=self.home)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def call(self, tool: str, **arguments: object) -> Any:
        """Call a tool of the server over MCP, as its staff."""
        token = json.loads((self._shared / "state" / "server.json").read_text())["token"]
        there = (json.dumps(arguments), f"127.0.0.1:{self.port}", "--token", token)
        return json.loads(league("mcp", "call", f"LM.{tool}", *there, cwd=self.home).stdout)

    def join(self, stack: ExitStack, league_id: str, *names: str) -> None:
        for name in names:
            joining = ("player", f"127.0.0.1:{self.port}", "--league-id", league_id)
            stack.enter_context(running(*joining, "--port", "0", "--name", name))

    def list_leagues(self) -> dict[str, tuple[int, bool]]:
        """Return how many matches each league has, and whether it has ended."""
        rows = Folder(self._shared, self.store).list_leagues()
        return {row.league_id: (row.matches, bool(row.ended)) for row in rows}


def test_leagues_on_postgresql_are_opened_led_killed_and_go_on(
    tmp_path: Path, postgres: str
) -> None:
    staff = Organiser(tmp_path, postgres)
    with ExitStack() as stack:
        with running(*staff.serving) as server:
            line_with(server, "Leagues are run at")
            staff.order("create", "by_command", "--players", "2", "--legs", str(LEGS))
            made = staff.call("create_league", league_id="by_tool", legs=LEGS)
            assert made["url"].endswith("/leagues/by_tool/mcp")
            staff.order("create", "short")
            staff.join(stack, "by_command", "Ada", "Bob")
            staff.join(stack, "by_tool", "Cyd", "Dan")
            line_with(server, "by_command begins with 2 players")
            staff.order("close-registration", "short")
            staff.order("end", "short", "--reason", "nobody came")
            line_with(server, "short is over; it never began")
            while staff.call("start_league", league_id="by_tool").get("status") != "ok":
                assert server.poll() is None
            line_with(server, "by_tool begins with 2 players")
            while min(count for count, ended in staff.list_leagues().values() if not ended) < 5:
                assert server.poll() is None
            server.kill()
        assert sum(count for count, _ in staff.list_leagues().values()) < 2 * LEGS
        server = stack.enter_context(running(*staff.serving))
        line_with(server, "goes on")
        while not all(ended for _, ended in staff.list_leagues().values()):
            assert server.poll() is None
        server.terminate()
        server.wait()
    assert staff.list_leagues() == {
        "by_command": (LEGS, True),
        "by_tool": (LEGS, True),
        "short": (0, True),
    }
    for league_id in ("by_command", "by_tool", "short"):
        assert "holds" in staff.order("verify", league_id, "--store", postgres)
