"""The first set of files."""

import json
import shlex
from pathlib import Path

import pytest

from agent_league.cli.start import init as command
from agent_league.files import ConfigError, ConfigLoader, UnsafeIdError, init, settings
from agent_league.game import GAMES
from files.test_config_models import SEED_AGENTS, SEED_LEAGUE, SEED_SYSTEM

FILES = [
    "config/system.json",
    "config/agents/agents_config.json",
    "config/leagues/league_2025_even_odd.json",
    "config/games/games_registry.json",
    "config/defaults/referee.json",
    "config/defaults/player.json",
]
DEFAULT = "league_2025_even_odd"


def test_every_file_of_the_tree_is_written_once(tmp_path: Path) -> None:
    assert init(tmp_path, DEFAULT) == [tmp_path / name for name in FILES]
    assert init(tmp_path, DEFAULT) == []


def test_what_is_written_loads_without_complaint(tmp_path: Path) -> None:
    init(tmp_path, "summer_cup")
    loader = ConfigLoader(tmp_path)
    league = loader.load_league(loader.load_system().default_league_id)
    games = loader.load_games_registry()
    assert league.display_name == "Summer Cup"
    assert [game.game_type for game in games.games] == list(GAMES)
    assert settings(loader.load_system(), league, seed="s", games=games).league_id == "summer_cup"
    assert [player.player_id for player in loader.load_agents().players] == [
        "P01",
        "P02",
        "P03",
        "P04",
    ]
    loader.load_referee_defaults()
    loader.load_player_defaults()


def test_it_holds_the_values_of_the_examples(tmp_path: Path) -> None:
    init(tmp_path, DEFAULT)
    reply = [json.loads((tmp_path / name).read_bytes()) for name in FILES]
    assert reply[0] == SEED_SYSTEM
    assert reply[1].keys() == SEED_AGENTS.keys()
    assert reply[1]["referees"][:1] == SEED_AGENTS["referees"]
    assert reply[1]["players"][:1] == SEED_AGENTS["players"]
    timeless = {key: value for key, value in SEED_LEAGUE.items() if key != "created_at"}
    assert {key: reply[2][key] for key in timeless} == timeless


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    mine = tmp_path / "config/system.json"
    mine.write_text("{}", encoding="utf-8")
    assert mine not in init(tmp_path, DEFAULT)
    assert mine.read_text(encoding="utf-8") == "{}"


def test_a_second_league_adds_its_own_file_only(tmp_path: Path) -> None:
    init(tmp_path, DEFAULT)
    assert init(tmp_path, "cup") == [tmp_path / "config/leagues/cup.json"]


def test_a_folder_that_cannot_be_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"system\.json: cannot be written"):
        init(tmp_path, DEFAULT)
    with pytest.raises(UnsafeIdError):
        init(tmp_path / "other", "a/b")
    assert not (tmp_path / "other").exists()


def test_something_else_in_the_place_of_a_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "config/system.json").mkdir(parents=True)
    with pytest.raises(ConfigError, match="something else is there"):
        init(tmp_path, DEFAULT)


def test_the_command_prints_the_files_and_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command("cup", shared=tmp_path)
    reply = capsys.readouterr()
    assert reply.out.splitlines() == [
        str(tmp_path / name).replace(DEFAULT, "cup") for name in FILES
    ]
    commands = [line for line in reply.err.splitlines() if line.startswith("  league ")]
    assert [shlex.split(line)[1] for line in commands] == ["play", "start"]
    assert all(f"--shared {tmp_path}" in line for line in commands)
    command("cup", shared=tmp_path)
    again = capsys.readouterr()
    assert again.out == ""
    assert "Every file is there already" in again.err
