"""A league that was stopped goes on: after Ctrl-C, after kill -9, agent by agent."""

import json
import re
import shlex
import signal
import sqlite3
import subprocess
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack, closing
from itertools import combinations
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli.league_command import line_with
from cli.league_process import document, league, running
from free_ports import free_ports

FIRST = "league_2025_even_odd"
HELD = """import asyncio, pathlib
opened = pathlib.Path(__file__).with_suffix(".open")
async def strategy(situation):
    while len(situation.mine) >= {matches} and not opened.exists():
        await asyncio.sleep(0.02)
    return "even"
"""
STUCK = "import threading\ndef strategy(situation):\n    threading.Event().wait(30)\n"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path / "SHARED"


class Gate:
    """Holds a league up after some matches, so that it is stopped where a test wants it."""

    def __init__(self, folder: Path, matches: int = 1) -> None:
        self._file = folder / "held.py"
        self.strategy = written(self._file, HELD.format(matches=matches))

    def open(self) -> None:
        self._file.with_suffix(".open").touch()


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


def written(path: Path, code: str) -> str:
    path.write_text(code, encoding="utf-8")
    return str(path)


def play(shared: Path, *arguments: str) -> tuple[str, ...]:
    return ("play", "--port-base", "0", "--shared", str(shared), *arguments)


class Log:
    """What happened in a league so far, as `league log` shows it."""

    def __init__(self, shared: Path, league_id: str = FIRST) -> None:
        done = league("log", league_id, "--shared", str(shared))
        assert done.returncode == 0, done.stderr
        self.lines = done.stdout.splitlines()

    def of(self, kind: str) -> list[str]:
        return [line for line in self.lines if line.split()[2] == kind]

    @property
    def ended(self) -> list[str]:
        return self.of("match_ended")

    @property
    def names(self) -> set[tuple[str, str]]:
        """Who was ever let in, and under which id."""
        notices = [json.loads(line[line.index("{") :]) for line in self.of("agent_registered")]
        return {(one["agent_id"], one["display_name"]) for one in notices}


def everybody_met_once(ended: Sequence[str], players: int) -> bool:
    notices = [json.loads(line[line.index("{") :]) for line in ended]
    met = sorted(tuple(sorted(one["players"])) for one in notices)
    return met == list(combinations([f"P{n:02}" for n in range(1, players + 1)], 2))


def no_traceback(done: subprocess.CompletedProcess[str], code: int) -> bool:
    assert done.returncode == code, done.stderr
    return "Traceback" not in done.stderr and "fault of ours" not in done.stderr


def stopped(shared: Path, gate: Gate, how: signal.Signals) -> str:
    """Stop a league of four after its first round, and return what it said in the end."""
    arguments = play(shared, "--players", "4", "--strategy", gate.strategy, "--seed", "7")
    with running(*arguments) as process:
        line_with(process, "Round 1/3 over")
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(how)
        _, reply = process.communicate(timeout=20)
    assert psutil.wait_procs(family, timeout=10)[1] == []
    gate.open()
    return reply


# Stopped and resumed


def test_what_ctrl_c_prints_resumes_the_league(tmp_path: Path, gate: Gate) -> None:
    shared = tmp_path / "my leagues"
    reply = stopped(shared, gate, signal.SIGINT)
    found = re.search(r"Go on with: .*?(resume .+)", reply)
    assert found, reply
    assert "Traceback" not in reply
    before = Log(shared)
    assert len(before.ended) == 2
    done = league(*shlex.split(found[1]))
    assert done.returncode == 0, done.stderr
    assert "Champion: " in done.stdout
    after = Log(shared)
    assert after.lines[: len(before.lines)] == before.lines
    assert everybody_met_once(after.ended, 4)
    assert after.names == before.names
    assert len(after.of("season_ended")) == 1


def test_a_league_that_was_killed_goes_on_with_play_resume(shared: Path, gate: Gate) -> None:
    stopped(shared, gate, signal.SIGKILL)
    before = Log(shared)
    assert len(before.ended) == 2
    done = league(*play(shared, "--resume", "--json"))
    assert done.returncode == 0, done.stderr
    played = json.loads(done.stdout)
    assert (played["league_id"], played["seed"]) == (FIRST, "7")
    assert played["totals"]["matches"] == 6
    assert played["totals"]["technical_losses"] == 0
    after = Log(shared)
    assert after.ended[: len(before.ended)] == before.ended
    assert everybody_met_once(after.ended, 4)
    assert after.names == before.names


def test_a_league_goes_on_in_a_folder_that_was_moved(tmp_path: Path, gate: Gate) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    reply = stopped(before, gate, signal.SIGINT)
    assert f"--shared {before}" in reply
    kept = Log(before).ended
    before.rename(after)
    done = league("resume", "--shared", str(after), "--display", "none")
    assert done.returncode == 0, done.stderr
    assert not before.exists()
    ended = Log(after).ended
    assert ended[: len(kept)] == kept
    assert everybody_met_once(ended, 4)


def test_a_new_league_mentions_the_one_that_has_not_ended(shared: Path, gate: Gate) -> None:
    stopped(shared, gate, signal.SIGKILL)
    done = league(*play(shared, "--players", "2", "--display", "none"))
    assert done.returncode == 0, done.stderr
    assert re.search(rf"{FIRST} has not ended \(2 matches played\)", done.stderr)
    command = rf"to go on with that one: .*league resume {FIRST} --shared {re.escape(str(shared))}"
    assert re.search(command, done.stderr)
    rows = document("leagues", "--shared", str(shared), "--json")["leagues"]
    assert [(row["league_id"], row["ended"]) for row in rows] == [
        (FIRST, False),
        (f"{FIRST}_2", True),
    ]
    shown = league("leagues", "--shared", str(shared)).stdout.splitlines()
    assert shown[0].split() == ["League", "Opened", "Matches", "State"]
    assert [line.split()[-1] for line in shown[1:]] == ["unfinished", "ended"]


def test_a_league_that_waits_for_other_agents_says_how_it_goes_on(shared: Path) -> None:
    arguments = ("--port-base", "0", "--referees", "1", "--shared", str(shared))
    with running("start", "--players", "2", *arguments) as process:
        line_with(process, "REF01")
        process.send_signal(signal.SIGINT)
        _, reply = process.communicate(timeout=20)
    assert re.search(
        rf"Go on with: .*league resume {FIRST} --shared {re.escape(str(shared))}", reply
    )


# Nothing to resume


def test_nothing_to_resume_is_said_so_and_leaves_nothing(shared: Path) -> None:
    for arguments in (("resume",), ("play", "--resume")):
        done = league(*arguments, "--shared", str(shared))
        assert no_traceback(done, 2)
        assert "error: no league is waiting to be resumed" in done.stderr
        assert "league play starts one" in done.stderr
    assert document("leagues", "--shared", str(shared), "--json")["leagues"] == []
    assert not shared.exists()


def test_a_league_that_has_ended_is_not_resumed_unasked(shared: Path) -> None:
    assert league(*play(shared, "--players", "2")).returncode == 0
    done = league("resume", "--shared", str(shared), "--json")
    assert no_traceback(done, 2)
    assert json.loads(done.stdout)["error"]["hint"].endswith("league play starts one")
    unknown = league("resume", "nope", "--shared", str(shared))
    assert no_traceback(unknown, 2)
    assert "error: there is no league 'nope' in " in unknown.stderr
    assert f"hint: there are: {FIRST}" in unknown.stderr


def test_a_second_league_in_a_folder_has_its_own_id_and_says_so(shared: Path) -> None:
    first = league(*play(shared, "--players", "2", "--display", "none"))
    assert "earlier" not in first.stderr
    second = league(*play(shared, "--players", "2", "--display", "none"))
    assert f"{shared} holds 1 earlier league; this one is {FIRST}_2." in second.stderr
    rows = document("leagues", "--shared", str(shared), "--json")
    assert rows["schema_version"] == 1
    assert [row["league_id"] for row in rows["leagues"]] == [FIRST, f"{FIRST}_2"]
    assert {(row["matches"], row["ended"]) for row in rows["leagues"]} == {(1, True)}


# Stores


def test_a_league_in_memory_leaves_no_files(shared: Path, tmp_path: Path) -> None:
    done = league(*play(shared, "--players", "2", "--store", "memory"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_league_in_memory_promises_nothing_when_it_is_stopped(shared: Path, gate: Gate) -> None:
    with running(*play(shared, "--strategy", gate.strategy, "--store", "memory")) as process:
        line_with(process, "Round 1/3 over")
        process.send_signal(signal.SIGINT)
        _, reply = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Go on with" not in reply
    with running("manager", "--port", "0", "--store", "memory") as process:
        line_with(process, "Waiting")
        process.send_signal(signal.SIGINT)
        _, reply = process.communicate(timeout=20)
    assert "Go on with" not in reply


def test_another_store_is_used_instead_of_the_one_in_the_folder(
    shared: Path, tmp_path: Path
) -> None:
    other = str(tmp_path / "other.db")
    done = league(*play(shared, "--players", "2", "--store", other))
    assert done.returncode == 0, done.stderr
    assert not (shared / "league.db").exists()
    assert (tmp_path / "other.db").exists()
    here = document("leagues", "--shared", str(shared), "--json")["leagues"]
    there = document("leagues", "--shared", str(shared), "--store", other, "--json")["leagues"]
    assert (here, [row["league_id"] for row in there]) == ([], [FIRST])


def test_a_running_league_is_not_run_twice(shared: Path, tmp_path: Path) -> None:
    stuck = written(tmp_path / "stuck.py", STUCK)
    with running(*play(shared, "--players", "2", "--strategy", stuck)) as process:
        line_with(process, "P02")
        for arguments in (
            ("resume", "--display", "none"),
            ("play", "--resume", "--port-base", "0"),
        ):
            done = league(*arguments, "--shared", str(shared))
            assert no_traceback(done, 3)
            assert f"this league is being run by pid {process.pid}" in done.stderr
        assert process.poll() is None


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")


def scribbled(path: Path) -> None:
    path.write_bytes(b"this is no database" * 100)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("damage", "reply", "hint"),
    [
        (newer, "is a store of version 99, this program knows", "pip install --upgrade"),
        (scribbled, "is damaged, or no store of ours", "put a copy of it in its place"),
        (cut_off, "was cut off", "put a copy of it in its place"),
    ],
)
def test_a_store_that_cannot_be_used_is_said_so(
    shared: Path, damage: Any, reply: str, hint: str
) -> None:
    assert league(*play(shared, "--players", "2")).returncode == 0
    damage(shared / "league.db")
    for arguments in (play(shared), ("resume", "--shared", str(shared))):
        done = league(*arguments)
        assert no_traceback(done, 3)
        assert done.stderr.startswith(f"error: {shared / 'league.db'} {reply}")
        assert f"hint: {hint}" in done.stderr
    notices = json.loads(league("leagues", "--shared", str(shared), "--json").stdout)
    assert notices["error"]["code"] == 3


def test_a_damaged_plan_is_said_so(shared: Path, gate: Gate) -> None:
    stopped(shared, gate, signal.SIGKILL)
    plan = shared / "state" / FIRST / "plan.json"
    plan.write_text('{"settings"', encoding="utf-8")
    done = league("resume", "--shared", str(shared))
    assert no_traceback(done, 3)
    assert f"{plan} is damaged" in done.stderr


# One by one


class OneByOne:
    """The commands of a league of two players, a referee and a manager, each with its port."""

    def __init__(self, shared: Path, gate: Gate) -> None:
        manager, referee, *self.ports = map(str, free_ports(4))
        self.url = f"http://127.0.0.1:{manager}/mcp"
        kept = ("--shared", str(shared))
        joined = ("--league", self.url, *kept)
        alone = ("--players", "2", "--legs", "4", *kept)
        self.manager = ("manager", "--port", manager, *alone)
        self.referee = ("referee", "--port", referee, *joined)
        self.players = [
            ("player", "--port", port, "--strategy", gate.strategy, *joined) for port in self.ports
        ]

    def page(self, player: int) -> dict[str, Any]:
        """Return what one sees who opens a player in a browser."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[player]}/", timeout=5) as page:
            shown: dict[str, Any] = json.load(page)
        return shown


def test_a_player_that_was_killed_is_itself_again(shared: Path, tmp_path: Path) -> None:
    gate = Gate(tmp_path, matches=2)
    parts = OneByOne(shared, gate)
    with ExitStack() as stack:
        manager = stack.enter_context(running(*parts.manager))
        line_with(manager, "Waiting")
        stack.enter_context(running(*parts.referee))
        first = stack.enter_context(running(*parts.players[0]))
        assert "P01 is in" in line_with(first, " is in ")
        stack.enter_context(running(*parts.players[1]))
        line_with(manager, "Round 2/4 over")
        first.kill()
        first.wait(timeout=5)
        again = stack.enter_context(running(*parts.players[0]))
        assert f"P01 is in {FIRST}" in line_with(again, " is in ")
        page = parts.page(0)
        assert (page["name"], page["played"]) == ("P01", 2)
        gate.open()
        reply, _ = manager.communicate(timeout=30)
        assert "Champion: " in reply
        assert again.wait(timeout=10) == 0
    state = json.loads((shared / "state" / f"player-{parts.ports[0]}.json").read_bytes())
    assert (state["agent_id"], state["league_id"]) == ("P01", FIRST)
    log = Log(shared)
    assert len(log.ended) == 4
    assert {who for who, _ in log.names} == {"REF01", "P01", "P02"}


def test_a_manager_that_was_killed_goes_on_when_it_is_started_again(
    shared: Path, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, matches=2)
    parts = OneByOne(shared, gate)
    with ExitStack() as stack:
        manager = stack.enter_context(running(*parts.manager))
        line_with(manager, "Waiting")
        members = [stack.enter_context(running(*parts.referee))]
        for number, player in enumerate(parts.players, 1):
            members.append(stack.enter_context(running(*player)))
            assert f"P0{number} is in" in line_with(members[-1], " is in ")
        line_with(manager, "Round 2/4 over")
        manager.kill()
        manager.wait(timeout=5)
        before = Log(shared).ended
        assert len(before) == 2
        gate.open()
        again = stack.enter_context(running(*parts.manager))
        reply, _ = again.communicate(timeout=30)
        assert again.returncode == 0
        assert "Champion: " in reply
        for member in members:
            assert member.wait(timeout=10) == 0
    log = Log(shared)
    after = log.ended
    assert after[: len(before)] == before
    assert [re.findall(r"R\dM1", line)[0] for line in after] == ["R1M1", "R2M1", "R3M1", "R4M1"]
    assert len(log.of("season_opened")) == len(log.of("season_ended")) == 1
