"""What only real processes can show of the command `league`: signals, children, closed streams."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import psutil
import pytest

from cli.league_command import line_with
from cli.league_process import COMMAND, PLAIN, be_patient, document, league, running
from free_ports import free_port

pytestmark = pytest.mark.processes

ANY_PORTS = ("--port-base", "0")
THINKING = "import threading\ndef strategy(situation):\n    threading.Event().wait()\n"


@pytest.fixture
def thinking(tmp_path: Path) -> str:
    """Return a strategy that never comes to a decision."""
    file = tmp_path / "thinking.py"
    file.write_text(THINKING, encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = be_patient(tmp_path_factory.mktemp("kept") / "SHARED")
    played = document("play", "--players", "2", *ANY_PORTS, "--json", "--shared", str(folder))
    assert played["totals"]["technical_losses"] == 0
    return folder


def test_thirty_players_meet_each_other_exactly_once() -> None:
    arguments = ("--players", "30", "--referees", "2", "--display", "none", "--json")
    played = document("play", *arguments, *ANY_PORTS)
    met = sorted(tuple(sorted(match["players"])) for match in played["matches"])
    assert met == list(combinations([f"P{number:02}" for number in range(1, 31)], 2))
    assert len(met) == 435
    assert played["totals"]["technical_losses"] == 0


def test_ctrl_c_stops_everything_and_says_so(thinking: str) -> None:
    with running("play", "--strategy", thinking, *ANY_PORTS) as process:
        line_with(process, "P04")
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate()
        assert process.returncode == 130
        assert "Interrupted. Everything is stopped." in printed
        psutil.wait_procs(family)


def test_nothing_is_left_when_the_league_is_killed(thinking: str) -> None:
    with running("play", "--strategy", thinking, *ANY_PORTS) as process:
        line_with(process, "P04")
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 4
        process.kill()
        psutil.wait_procs(family)


def find_family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


@pytest.mark.parametrize("command", ["play", "start", "manager", "player"])
def test_a_command_whose_reader_goes_away_ends_with_all_its_processes(
    command: str, thinking: str
) -> None:
    """As in `league play 2>&1 | head -1`."""
    arguments = {
        "play": ("--strategy", thinking, *ANY_PORTS),
        "start": ANY_PORTS,
        "manager": ("--port", "0"),
        "player": ("--port", "0", "--patient", "--league", f"127.0.0.1:{free_port()}"),
    }[command]
    with running(command, *arguments, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        family = find_family(process)
        process.stdout.close()
        assert process.wait() == 130
        psutil.wait_procs(family)


def test_a_league_plays_on_when_only_its_progress_has_lost_its_reader() -> None:
    arguments = ("--players", "4", "--json", "--display", "plain", *ANY_PORTS)
    with running("play", *arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stderr.close()
        played = json.loads(process.stdout.read())
        assert process.wait() == 0
    assert len(played["matches"]) == 6


def test_one_who_follows_a_log_can_stop_with_ctrl_c(tmp_path: Path) -> None:
    here = ("--shared", str(tmp_path))
    with running("manager", "--port", "0", *here) as manager:
        line_with(manager, "Waiting")
        with running("log", "--follow", *here) as following:
            assert following.stdout is not None
            assert "season_opened" in following.stdout.readline()
            following.send_signal(signal.SIGINT)
            _, printed = following.communicate()
    assert following.returncode == 130
    assert "Traceback" not in printed


def test_a_pipe_that_nobody_reads_ends_a_command_quietly(shared: Path) -> None:
    for arguments in ("leagues", "leagues --json", "log", "replay R1M1", "export --format csv"):
        reads, writes = os.pipe()
        os.close(reads)
        with open(writes, "w", encoding="utf-8") as pipe:  # noqa: PTH123 - a number is no path
            done = subprocess.run(
                [*COMMAND, *arguments.split(), "--shared", str(shared)],
                stdout=pipe,
                stderr=subprocess.PIPE,
                text=True,
                env=PLAIN,
                check=False,
            )
        assert (arguments, done.returncode, done.stderr) == (arguments, 0, "")


def with_streams(shared: Path, *arguments: str, streams: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose streams are as *streams* redirects them."""
    command = [*COMMAND, *arguments, "--shared", str(shared)]
    return subprocess.run(
        ["/bin/sh", "-c", f'"$@" {streams}', "sh", *command],
        capture_output=True,
        text=True,
        env=PLAIN,
        check=False,
    )


def test_a_closed_stdout_is_said_in_a_sentence(shared: Path) -> None:
    done = with_streams(shared, "leagues", streams=">&-")
    assert done.returncode == 3
    assert done.stderr.startswith("error: nothing can be printed: stdout is closed\nhint: ")


def test_a_closed_stdin_and_stderr_disturb_nobody(shared: Path) -> None:
    done = with_streams(shared, "leagues", streams="<&- 2>&-")
    assert done.returncode == 0
    assert "league_2025_even_odd" in done.stdout
    assert with_streams(shared, "log", "no_such_league", streams="2>&-").stdout == ""


def test_a_wrong_call_of_the_module_ends_with_its_code() -> None:
    done = league("play", "--players", "1")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_temporary_folder_with_a_long_name_is_no_obstacle(tmp_path: Path) -> None:
    long = tmp_path / ("long" * 25)
    long.mkdir()
    done = subprocess.run(
        [*COMMAND, "play", "--players", "2", "--json", *ANY_PORTS],
        capture_output=True,
        text=True,
        env={**PLAIN, "TMPDIR": str(long)},
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ([sys.executable, "-m", "agent_league"], ("queue", "random", "sqlite3", "msgspec")),
        ([str(Path(sys.executable).with_name("league"))], sorted(sys.stdlib_module_names)),
    ],
    ids=["module", "script"],
)
def test_files_of_the_current_folder_hide_no_module(
    command: list[str], names: Sequence[str], tmp_path: Path
) -> None:
    for name in names:
        (tmp_path / f"{name}.py").write_text("raise RuntimeError(__file__)", encoding="utf-8")
    done = subprocess.run(
        [*command, "play", "--players", "2", "--json", *ANY_PORTS],
        capture_output=True,
        text=True,
        env=PLAIN,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["matches"]) == 1


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [("--version", ("cyclopts", "rich", "msgspec")), ("leagues", ("agent_league.serving", "mcp"))],
)
def test_a_small_command_imports_little(command: str, unneeded: tuple[str, ...]) -> None:
    program = (
        "import resource, sys\n"
        "from agent_league.cli import main\n"
        "try:\n    main([sys.argv[1]])\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.argv[2:] if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, command, *unneeded],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == "[]"
