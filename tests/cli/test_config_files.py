"""The files of a folder: written by `league init`, changed by people, and then obeyed."""

import json
import re
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agent_league.files import ConfigLoader
from cli.league_command import document, league, line_with, running

FIRST = "league_2025_even_odd"
QUICK = ("--players", "2", "--port-base", "0", "--json")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path / "SHARED"


def written(shared: Path, file: str, changes: dict[str, Any]) -> Path:
    """Write a configuration file that says only *changes*."""
    path = shared / "config" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(changes), encoding="utf-8")
    return path


def played(shared: Path, *arguments: str) -> dict[str, Any]:
    done = league("play", *QUICK, *arguments, "--shared", str(shared))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_files_that_init_writes_are_read_and_played_by(shared: Path) -> None:
    done = league("init", "--shared", str(shared))
    assert done.returncode == 0, done.stderr
    files = [Path(line) for line in done.stdout.splitlines()]
    assert sorted(files) == sorted(path for path in shared.rglob("*") if path.is_file())
    assert len(files) == 6
    assert f"league play --shared {shared}" in done.stderr
    loader = ConfigLoader(shared)
    assert loader.load_league(FIRST).league_id == loader.load_system().default_league_id == FIRST
    loader.load_agents(), loader.load_games_registry()
    loader.load_referee_defaults(), loader.load_player_defaults()
    assert played(shared)["totals"]["matches"] == 1


def test_init_leaves_alone_what_is_there(shared: Path) -> None:
    path = written(shared, "system.json", {"timeouts": {"move_timeout_sec": 7}})
    body = path.read_bytes()
    first = league("init", "my_league", "--shared", str(shared))
    assert len(first.stdout.splitlines()) == 5
    assert path.read_bytes() == body
    again = league("init", "my_league", "--shared", str(shared))
    assert (again.returncode, again.stdout) == (0, "")
    assert "Every file is there already" in again.stderr


@pytest.mark.parametrize(
    ("file", "body", "reply"),
    [
        (
            "system.json",
            {"timeouts": {"move_timeout": 7}},
            ("timeouts", "did you mean 'move_timeout_sec'?"),
        ),
        ("system.json", {"timeout": {}}, ("timeout", "did you mean 'timeouts'?")),
        ("system.json", {"timeouts": {"move_timeout_sec": "7"}}, ("timeouts.move_timeout_sec",)),
        (
            f"leagues/{FIRST}.json",
            {"league_id": FIRST, "leg": 2},
            ("leg", "did you mean 'legs'?"),
        ),
        (f"leagues/{FIRST}.json", {"league_id": "other"}, ("league_id", "as the file is called")),
        (
            f"leagues/{FIRST}.json",
            {"league_id": FIRST, "game_type": "even_od"},
            ("game_type", "did you mean 'even_odd'?"),
        ),
    ],
)
def test_a_wrong_file_is_named_with_the_key_and_what_was_meant(
    shared: Path, file: str, body: dict[str, Any], reply: tuple[str, ...]
) -> None:
    path = written(shared, file, body)
    done = league("play", "--players", "2", "--port-base", "0", "--shared", str(shared))
    assert done.returncode == 2
    assert file in done.stderr
    assert path.name in done.stderr
    for words in reply:
        assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (shared / "state").exists()


def test_a_file_that_is_no_json_is_named(shared: Path) -> None:
    path = written(shared, "system.json", {})
    path.write_text("{", encoding="utf-8")
    done = league("play", *QUICK, "--shared", str(shared))
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["message"].startswith(str(path))


def test_the_time_for_a_move_is_what_the_file_says(shared: Path) -> None:
    written(shared, "system.json", {"timeouts": {"move_timeout_sec": 7}})
    played(shared)
    done = league("replay", "R1M1", "--json", "--shared", str(shared))
    reply = [entry["message"] for entry in json.loads(done.stdout)["messages"]]
    calls = [one for one in reply if one.get("message_type") == "CHOOSE_PARITY_CALL"]
    assert len(calls) == 2
    for call in calls:
        window = datetime.fromisoformat(call["deadline"]) - datetime.fromisoformat(
            call["timestamp"]
        )
        assert window.total_seconds() in {7, 8}  # whole seconds, and a deadline is rounded up


def test_flags_win_over_the_environment_and_that_over_the_files(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(shared, f"leagues/{FIRST}.json", {"league_id": FIRST, "legs": 2})
    assert played(shared)["totals"]["matches"] == 2
    monkeypatch.setenv("LEAGUE_PLAY_LEGS", "3")
    monkeypatch.setenv("LEAGUE_PLAY_SEED", "from outside")
    around = played(shared)
    assert (around["totals"]["matches"], around["seed"]) == (3, "from outside")
    flagged = played(shared, "--legs", "1", "--seed", "flag")
    assert (flagged["totals"]["matches"], flagged["seed"]) == (1, "flag")


def test_what_a_match_is_worth_is_what_the_file_says(shared: Path) -> None:
    scoring = {"win_points": 10, "draw_points": 5, "loss_points": 0, "technical_loss_points": 0}
    written(shared, f"leagues/{FIRST}.json", {"league_id": FIRST, "scoring": scoring})
    assert sum(row["points"] for row in played(shared)["standings"]) == 10


def test_the_agents_that_are_named_are_those_that_play(shared: Path) -> None:
    names = {"P05": "Ada", "P02": "Bo", "P03": "Cy"}
    entries = [
        {
            "player_id": player,
            "display_name": name,
            "default_endpoint": f"http://localhost:{8150 + number}/mcp",
            "strategy": "always_even",
            "active": name != "Bo",
        }
        for number, (player, name) in enumerate(names.items())
    ]
    written(shared, "agents/agents_config.json", {"players": entries})
    done = league("play", "--port-base", "0", "--json", "--shared", str(shared))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    shown = {row["player_id"]: row["display_name"] for row in found["standings"]}
    assert shown == {"P05": "Ada", "P03": "Cy"}
    assert found["matches"][0]["choices"] == {"P05": "even", "P03": "even"}


def test_an_agent_finds_the_league_its_name_and_a_port_in_the_files(shared: Path) -> None:
    with ExitStack() as stack:
        manager = stack.enter_context(running("manager", "--port", "0", "--players", "3"))
        found = re.search(r"http://\S+/mcp", line_with(manager, "Waiting"))
        assert found
        written(shared, "agents/agents_config.json", {"league_manager": {"endpoint": found[0]}})
        written(shared, "defaults/player.json", {"display_name": "Anyone", "strategy": "mirror"})
        written(shared, "system.json", {"network": {"default_player_port_range": [20_190, 20_199]}})
        for _ in range(2):
            player = stack.enter_context(running("player", "--shared", str(shared)))
            line_with(player, " is in ")
        agents = document("status", "--league", found[0], "--json")["agents"]
        assert [agent["display_name"] for agent in agents] == ["Anyone (mirror)"] * 2
        assert len(list((shared / "state").glob("player-201*.json"))) == 2


def test_an_address_that_is_not_of_this_machine_is_said(shared: Path) -> None:
    written(shared, "system.json", {"network": {"base_host": "192.0.2.1"}})
    done = league("play", *QUICK[:4], "--shared", str(shared))
    assert done.returncode == 3
    assert "cannot listen at 192.0.2.1:0" in done.stderr
