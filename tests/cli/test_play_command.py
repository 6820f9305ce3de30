"""`league play`, in real processes over real HTTP."""

import json
import signal
import socket
from itertools import combinations
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli.league_command import document, league, line_with, running

ANY_PORTS = ("--port-base", "0")
THINKING = "import threading\ndef strategy(situation):\n    threading.Event().wait(30)\n"


def without_time(played: dict[str, Any]) -> dict[str, Any]:
    played["totals"].pop("seconds_playing")
    return played


def test_the_same_seed_plays_the_same_league() -> None:
    arguments = ("play", "--players", "4", "--seed", "7", "--json", *ANY_PORTS)
    assert without_time(document(*arguments)) == without_time(document(*arguments))


def test_the_document_tells_the_whole_league() -> None:
    played = document("play", "--players", "5", "--seed", "1", "--legs", "2", "--json", *ANY_PORTS)
    assert played["schema_version"] == 1
    assert played["seed"] == "1"
    assert played["champion"] == played["standings"][0]
    assert len(played["matches"]) == played["totals"]["matches"] == 20
    for match in played["matches"]:
        assert match["termination"] == "completed"
        assert 1 <= match["drawn_number"] <= 10
        assert set(match["choices"]) == set(match["players"])
        assert match["match_id"].startswith(f"R{match['round_id']}M")
    draws = played["totals"]["draws"]
    points = sum(row["points"] for row in played["standings"])
    assert points == 2 * draws + 3 * (20 - draws)


def test_thirty_players_meet_each_other_exactly_once() -> None:
    arguments = ("--players", "30", "--referees", "2", "--display", "none", "--json")
    played = document("play", *arguments, *ANY_PORTS)
    met = sorted(tuple(sorted(match["players"])) for match in played["matches"])
    players = [f"P{number:02}" for number in range(1, 31)]
    assert met == list(combinations(players, 2))
    assert len(met) == 435
    assert played["totals"]["technical_losses"] == 0


def test_people_get_a_table_a_champion_and_what_to_do_next() -> None:
    done = league("play", "--seed", "7", *ANY_PORTS)
    assert done.returncode == 0
    assert "Champion: " in done.stdout
    assert done.stdout.splitlines()[0].split() == ["#", "Agent", "Id", "P", "W", "D", "L", "Pts"]
    assert "Round 3/3 over, 6 matches played" in done.stderr
    assert "league start --players 4" in done.stderr


def test_display_none_prints_only_the_result() -> None:
    done = league("play", "--display", "none", "--seed", "7", *ANY_PORTS)
    assert "Round" not in done.stderr
    assert "Champion: " in done.stdout


def test_an_own_strategy_plays_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "odd_one.py"
    file.write_text("def strategy(situation):\n    return 'odd'\n")
    played = document("play", "--players", "3", "--strategy", str(file), "--json", *ANY_PORTS)
    assert {c for match in played["matches"] for c in match["choices"].values()} == {"odd"}
    assert "odd_one" in played["champion"]["display_name"]


def test_a_strategy_that_raises_costs_a_logged_move_and_not_the_match(tmp_path: Path) -> None:
    file = tmp_path / "raising.py"
    file.write_text("def strategy(situation):\n    raise ValueError('no idea')\n")
    arguments = ("--players", "2", "--strategy", f"{file},always_odd", "--json", *ANY_PORTS)
    done = league("play", *arguments)
    assert json.loads(done.stdout)["totals"]["technical_losses"] == 0
    assert "raising raised ValueError('no idea'); playing a random legal move" in done.stderr


def test_a_busy_port_is_named_with_who_holds_it() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        done = league("play", "--port-base", str(port))
        assert done.returncode == 3
        assert f"port {port} is in use by pid" in done.stderr
        assert "hint: choose other ports with --port-base" in done.stderr
        told = json.loads(league("play", "--port-base", str(port), "--json").stdout)
        assert told["error"]["code"] == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("play", "--plyers", "4"), "Did you mean --players?"),
        (("ply",), 'Did you mean "play"?'),
        (("play", "--players", "1"), "a league needs 2 players"),
        (("play", "--strategy", "nonsense"), "there is no strategy 'nonsense'"),
        (("play", "--strategy", "missing.py"), "there is no file missing.py"),
        (("play", "--players", "2", "--strategy", "a,b,c"), "3 strategies for 2 players"),
        (("play", "--display", "loud"), "display"),
        (("schema", "NOPE"), "there is no message 'NOPE'"),
    ],
)
def test_a_wrong_call_is_answered_with_what_would_be_right(
    arguments: tuple[str, ...], said: str
) -> None:
    done = league(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_ctrl_c_stops_everything_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "thinking.py"
    file.write_text(THINKING)
    with running("play", "--strategy", str(file), *ANY_PORTS) as process:
        line_with(process, "P04")
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Interrupted. Everything is stopped." in said
    assert psutil.wait_procs(family, timeout=10)[1] == []


def test_nothing_is_left_when_the_league_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "thinking.py"
    file.write_text(THINKING)
    with running("play", "--strategy", str(file), *ANY_PORTS) as process:
        line_with(process, "P04")
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 6
        process.kill()
        assert psutil.wait_procs(family, timeout=15)[1] == []


def test_a_league_is_played_in_league_v1_with_its_numbers() -> None:
    arguments = ("--players", "6", "--seed", "3", "--protocol", "league.v1", "--json")
    played = document("play", *arguments, *ANY_PORTS)
    assert played["totals"]["matches"] == 15
    assert played["totals"]["technical_losses"] == 0
    numbers = [match["drawn_number"] for match in played["matches"]]
    assert all(0 <= number <= 99 for number in numbers)
    assert max(numbers) > 10


def test_the_next_command_plays_the_same_version_again() -> None:
    done = league("play", "--seed", "7", "--protocol", "league.v1", *ANY_PORTS)
    assert "league play --seed 7 --protocol league.v1" in done.stderr
