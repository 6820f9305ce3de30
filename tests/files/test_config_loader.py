"""The files of a folder, and the terms of a league that follow from them."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_league.files import (
    AgentsConfig,
    ConfigError,
    ConfigLoader,
    GamesRegistry,
    LeagueConfig,
    PlayerDefaults,
    RefereeDefaults,
    SystemConfig,
    UnsafeIdError,
    patience,
    retry,
    settings,
)
from agent_league.files.config_files import read_addresses
from agent_league.protocol import Patience
from agent_league.protocol.play import Retry
from agent_league.season.settings import GuestRules, LeagueSettings
from agent_league.tournament.standings import Scoring


def system(**parts: Any) -> SystemConfig:
    return msgspec.convert(parts, SystemConfig)


def league(**parts: Any) -> LeagueConfig:
    return msgspec.convert({"league_id": "cup", **parts}, LeagueConfig)


def put(root: Path, name: str, body: Any) -> None:
    path = root / "config" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body), encoding="utf-8")


def test_a_folder_without_files_stands_for_the_defaults(tmp_path: Path) -> None:
    loader = ConfigLoader(tmp_path)
    assert loader.load_system() == SystemConfig()
    assert loader.load_agents() == AgentsConfig()
    assert loader.load_games_registry() == GamesRegistry()
    assert loader.load_referee_defaults() == RefereeDefaults()
    assert loader.load_player_defaults() == PlayerDefaults()


def test_what_a_file_says_wins_over_the_default_and_the_rest_stays(tmp_path: Path) -> None:
    put(tmp_path, "system.json", {"timeouts": {"move_timeout_sec": 7}})
    put(tmp_path, "agents/agents_config.json", {"league_manager": {"display_name": "Boss"}})
    put(tmp_path, "leagues/cup.json", {"league_id": "cup", "legs": 2})
    put(tmp_path, "defaults/referee.json", {"max_concurrent_matches": 3})
    put(tmp_path, "defaults/player.json", {"strategy": "markov"})
    put(tmp_path, "games/games_registry.json", {"games": []})
    loader = ConfigLoader(tmp_path)
    assert loader.load_system() == system(timeouts={"move_timeout_sec": 7})
    assert loader.load_agents().league_manager.display_name == "Boss"
    assert loader.load_league("cup") == league(legs=2)
    assert loader.load_referee_defaults() == RefereeDefaults(max_concurrent_matches=3)
    assert loader.load_player_defaults() == PlayerDefaults(strategy="markov")
    assert loader.load_games_registry().games == ()


def test_a_league_without_a_file_is_told_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        ConfigLoader(tmp_path).load_league("cup")
    path = tmp_path / "config/leagues/cup.json"
    command = f"league init cup --shared {tmp_path}"
    assert str(caught.value) == f"{path}: not there; write it with: {command}"


def test_a_league_that_is_misspelt_is_told_which_ones_there_are(tmp_path: Path) -> None:
    put(tmp_path, "leagues/summer_cup.json", {"league_id": "summer_cup"})
    with pytest.raises(ConfigError, match="did you mean 'summer_cup'"):
        ConfigLoader(tmp_path).load_league("sumer_cup")


def test_a_league_is_called_what_its_file_is_called(tmp_path: Path) -> None:
    put(tmp_path, "leagues/cup.json", {"league_id": "bowl"})
    with pytest.raises(ConfigError, match='expected "cup", as the file is called, got "bowl"'):
        ConfigLoader(tmp_path).load_league("cup")


def test_a_league_cannot_be_looked_for_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(UnsafeIdError):
        ConfigLoader(tmp_path).load_league("../../secret")


def test_the_defaults_are_the_patience_of_the_protocol() -> None:
    assert patience(SystemConfig()) == Patience()
    assert retry(SystemConfig()) == Retry()


def test_every_timeout_of_the_file_is_one_of_ours() -> None:
    given = {
        "register_referee_timeout_sec": 1,
        "register_player_timeout_sec": 2,
        "game_join_ack_timeout_sec": 3,
        "move_timeout_sec": 4,
        "generic_response_timeout_sec": 5,
        "game_over_timeout_sec": 6,
        "report_timeout_sec": 7,
    }
    expected = Patience(
        register_referee=1, register_player=2, join=3, move=4, generic=5, game_over=6, report=7
    )
    assert patience(system(timeouts=given)) == expected


def test_max_retries_counts_all_attempts() -> None:
    policy = {"max_retries": 5, "base_delay_sec": 0.5, "backoff_strategy": "fixed", "jitter": True}
    expected = Retry(attempts=5, base_delay=0.5, backoff="fixed", jitter=True)
    assert retry(system(retry_policy=policy)) == expected


def test_the_terms_of_a_league_follow_from_its_files() -> None:
    terms = settings(
        system(security={"token_ttl_hours": 1}, timeouts={"move_timeout_sec": 3}),
        league(
            scoring={"win_points": 2, "technical_loss_points": 1, "tiebreakers": ["draws"]},
            participants={"min_players": 4, "max_players": 8},
            options={"low": 0, "high": 99},
            assignment="weighted",
            legs=2,
            announcement_lead_sec=60,
            unique_names=True,
            guests={"move_timeout_sec": 60, "presence_timeout_sec": 70, "farewell_sec": 0},
            strictness="strict",
            disqualify=["timeout"],
        ),
        seed="s",
    )
    assert terms == LeagueSettings(
        seed="s",
        league_id="cup",
        options={"low": 0, "high": 99},
        legs=2,
        min_players=4,
        max_players=8,
        assignment="weighted",
        scoring=Scoring(win=2, technical_loss=1, tiebreakers=("draws",)),
        patience=Patience(move=3),
        announcement_lead=60,
        unique_names=True,
        strictness="strict",
        disqualify=("timeout",),
        token_hours=1,
        guests=GuestRules(move=60, presence=70, farewell=0),
    )


def test_a_league_of_defaults_has_the_default_terms() -> None:
    assert settings(SystemConfig(), league(), seed="s") == LeagueSettings(seed="s", league_id="cup")


def registry(*games: dict[str, Any]) -> GamesRegistry:
    return msgspec.convert({"games": games}, GamesRegistry)


def test_the_registry_gives_the_options_that_the_league_does_not() -> None:
    games = registry(
        {"game_type": "even_odd", "display_name": "E", "options": {"low": 1, "high": 6}}
    )
    plain = settings(SystemConfig(), league(), seed="s", games=games)
    assert plain.options == {"low": 1, "high": 6}
    special = settings(SystemConfig(), league(options={"high": 100}), seed="s", games=games)
    assert special.options == {"low": 1, "high": 100}


def test_a_game_that_cannot_be_played_is_said_so() -> None:
    with pytest.raises(ConfigError) as caught:
        settings(SystemConfig(), league(game_type="even_od"), seed="s")
    assert str(caught.value).startswith(
        "config/leagues/cup.json: game_type: no game 'even_od' can be played; "
        "did you mean 'even_odd'? known: connect_four, even_odd, "
    )
    games = registry({"game_type": "tic_tac_toe", "display_name": "T"})
    with pytest.raises(ConfigError, match="no game 'even_odd' can be played; known: tic_tac_toe"):
        settings(SystemConfig(), league(), seed="s", games=games)


def test_options_that_the_game_refuses_are_said_so() -> None:
    with pytest.raises(ConfigError) as caught:
        settings(SystemConfig(), league(options={"low": 1, "high": 9}), seed="s")
    assert str(caught.value).startswith("config/leagues/cup.json: options: 'high': expected as")


def test_the_files_of_another_program_can_be_used_for_what_they_say_of_its_agents(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agents = {"note": "theirs", "players": [{"agent_id": "P07", "endpoint": "http://host:1/mcp"}]}
    put(tmp_path, "agents/agents_config.json", agents)
    put(tmp_path, "system.json", {"last_updated": "today"})
    loader = ConfigLoader(tmp_path, lenient=True)
    assert (loader.load_system(), loader.load_agents()) == (SystemConfig(), AgentsConfig())
    assert len(caplog.records) == 1
    assert read_addresses(tmp_path)["P07"] == "http://host:1/mcp"


def test_a_folder_without_a_file_of_agents_knows_no_address(tmp_path: Path) -> None:
    assert read_addresses(tmp_path) == {}
