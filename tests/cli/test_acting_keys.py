"""Every key of the configuration files either changes what is run, or is said to be for readers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent_league.files import ConfigError
from agent_league.protocol import Role
from agent_league.running.lineup import ConfigFiles, Lineup
from files.test_files_page import PAGE, SECTIONS, documented, keys

LEAGUE = "league_2025_even_odd"
ENTRY = {"display_name": "Known", "version": "1.0.0", "game_types": ["even_odd"]}
REFEREE = {**ENTRY, "referee_id": "REF01", "endpoint": "http://localhost:8001/mcp"}
PLAYER = {**ENTRY, "player_id": "P01", "default_endpoint": "http://localhost:8101/mcp"}
GAME = {"game_type": "even_odd", "display_name": "Even and odd"}
FILES: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
    ("system.json", ""): ("system.json", {}),
    ("agents/agents_config.json", ""): (
        "agents/agents_config.json",
        {"referees": [REFEREE], "players": [PLAYER]},
    ),
    ("leagues/LEAGUE_ID.json", ""): (f"leagues/{LEAGUE}.json", {"league_id": LEAGUE}),
    ("games/games_registry.json, defaults/referee.json, defaults/player.json", ""): (
        "games/games_registry.json",
        {"games": [GAME]},
    ),
    ("games/games_registry.json, defaults/referee.json, defaults/player.json", "referee"): (
        "defaults/referee.json",
        {},
    ),
    ("games/games_registry.json, defaults/referee.json, defaults/player.json", "player"): (
        "defaults/player.json",
        {},
    ),
}
OTHERWISE: dict[str, Any] = {
    "schema_version": "1.2.3",
    "system_id": "another",
    "default_league_id": "another",
    "network.base_host": "127.0.0.2",
    "network.default_league_manager_port": 9000,
    "network.default_referee_port_range": [9001, 9002],
    "network.default_player_port_range": [9101, 9102],
    "security.token_length": 40,
    "security.token_ttl_hours": 2,
    "timeouts.register_referee_timeout_sec": 7,
    "timeouts.register_player_timeout_sec": 7,
    "timeouts.game_join_ack_timeout_sec": 7,
    "timeouts.move_timeout_sec": 7,
    "timeouts.generic_response_timeout_sec": 7,
    "timeouts.game_over_timeout_sec": 7,
    "timeouts.report_timeout_sec": 7,
    "retry_policy.max_retries": 7,
    "guests.move_timeout_sec": 7,
    "guests.presence_timeout_sec": 7,
    "guests.farewell_sec": 7,
    "guests.linger_sec": 3,
    "guests.rejoin_sec": 5,
    "retry_policy.base_delay_sec": 7,
    "retry_policy.backoff_strategy": "fixed",
    "retry_policy.jitter": True,
    "last_updated": "2025-01-15T10:00:00Z",
    "league_manager.display_name": "Another",
    "league_manager.version": "7.0.0",
    "league_manager.endpoint": "http://example.org:9000/mcp",
    "referees[].referee_id": "REF07",
    "referees[].display_name": "Another",
    "referees[].endpoint": "http://localhost:9001/mcp",
    "referees[].version": "7.0.0",
    "referees[].game_types": ["even_odd", "tic_tac_toe"],
    "referees[].max_concurrent_matches": 7,
    "referees[].active": False,
    "players[].player_id": "P07",
    "players[].display_name": "Another",
    "players[].default_endpoint": "http://localhost:9101/mcp",
    "players[].version": "7.0.0",
    "players[].game_types": ["even_odd", "tic_tac_toe"],
    "players[].active": False,
    "players[].strategy": "mirror",
    "display_name": "Another",
    "game_type": "tic_tac_toe",
    "status": "CLOSED",
    "created_at": "2025-01-15T10:00:00Z",
    "scoring.win_points": 7,
    "scoring.draw_points": 7,
    "scoring.loss_points": 7,
    "scoring.technical_loss_points": 7,
    "scoring.tiebreakers": ["draws"],
    "scheduling.format": "knockout",
    "rounds": 7,
    "overlap_rounds": 7,
    "scheduling.matches_per_round": 7,
    "participants.min_players": 7,
    "participants.max_players": 7,
    "options": {"low": 2},
    "assignment": "weighted",
    "legs": 7,
    "announcement_lead_sec": 7,
    "protocols": ["league.v1"],
    "strictness": "strict",
    "disqualify": ["timeout"],
    "unique_names": True,
    "games[].game_type": "tic_tac_toe",
    "games[].display_name": "Another",
    "games[].module": "another",
    "games[].options": {"low": 2},
    "version": "7.0.0",
    "game_types": ["tic_tac_toe"],
    "max_concurrent_matches": 7,
    "strategy": "mirror",
}
ONE_VALUE = {
    "protocol_version",
    "security.enable_auth_tokens",
    "league_id",
}
"""Keys that can have no other value than they have."""


def changed(body: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return *body* with *value* at *key*, in the first entry of a list."""
    head, _, rest = key.partition(".")
    if not rest:
        return {**body, head: value}
    if head.endswith("[]"):
        first, *others = body[head[:-2]]
        return {**body, head[:-2]: [changed(first, rest, value), *others]}
    return {**body, head: changed(body.get(head, {}), rest, value)}


def put(shared: Path, file: str, body: dict[str, Any]) -> None:
    path = shared / "config" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body), encoding="utf-8")


def what_is_run(shared: Path) -> str:
    """Return all that the commands take from the files before they start anything."""
    files = ConfigFiles(shared)
    try:
        base = files.make_settings(None, "seed")
    except ConfigError as error:
        return str(error)
    spec = files.make_spec(base, Lineup())
    alone = (files.find_agent(Role.REFEREE, "REF09"), files.find_agent(Role.PLAYER, "P09"))
    name = files.player.display_name
    return repr((spec, alone, name, files.make_link([files.league_url])))


def for_readers(section: str, agent: str, key: str) -> bool:
    """Whether the page says that nothing follows from a key: it is marked with a dagger."""
    marked = [(who, name) for who, name, _ in documented(section, marked=True)]
    return (agent, key) in marked


@pytest.mark.parametrize(("section", "agent"), FILES)
def test_a_key_changes_what_is_run_or_is_marked_as_being_for_readers(
    tmp_path: Path, section: str, agent: str
) -> None:
    file, body = FILES[section, agent]
    put(tmp_path, file, body)
    before = what_is_run(tmp_path)
    for key, _ in keys(SECTIONS[section][agent]):
        if key not in ONE_VALUE:
            put(tmp_path, file, changed(body, key, OTHERWISE[key]))
        without_effect = what_is_run(tmp_path) == before
        assert (key in ONE_VALUE or without_effect) is for_readers(section, agent, key), key


def test_every_kind_of_file_is_tried() -> None:
    kinds = {(section, agent) for section, kinds in SECTIONS.items() for agent in kinds}
    assert set(FILES) == kinds


def test_the_page_says_what_the_mark_means() -> None:
    assert re.search(r"Keys with a †\s+are checked", PAGE)


def test_flags_win_over_what_the_files_name(tmp_path: Path) -> None:
    put(tmp_path, "agents/agents_config.json", {"players": [{**PLAYER, "strategy": "mirror"}]})
    put(tmp_path, "defaults/player.json", {"strategy": "markov"})
    files = ConfigFiles(tmp_path)
    base = files.make_settings(LEAGUE)
    spec = files.make_spec(base, Lineup())
    assert [player.strategy for player in spec.players] == ["mirror", "markov"]
    spec = files.make_spec(base, Lineup(players=3, strategy="random", port_base=9000))
    assert [player.strategy for player in spec.players] == ["random"] * 3
    assert [player.port for player in spec.players] == [9101, 9102, 9103]
    assert [player.agent_id for player in spec.players] == ["P01", "P02", "P03"]


def test_agents_without_a_name_play_whatever_the_league_plays(tmp_path: Path) -> None:
    put(tmp_path, f"leagues/{LEAGUE}.json", {"league_id": LEAGUE, "game_type": "tic_tac_toe"})
    put(tmp_path, "agents/agents_config.json", {"players": [PLAYER], "referees": [REFEREE]})
    files = ConfigFiles(tmp_path)
    spec = files.make_spec(files.make_settings(LEAGUE), Lineup())
    assert {agent.game_types for agent in (*spec.referees, *spec.players)} == {()}
    assert (len(spec.referees), len(spec.players)) == (2, 4)


def test_an_agent_that_lives_elsewhere_is_not_started_here(tmp_path: Path) -> None:
    there = {**PLAYER, "default_endpoint": "http://example.org:8101/mcp"}
    put(tmp_path, "agents/agents_config.json", {"players": [there]})
    assert ConfigFiles(tmp_path).list_local_agents(Role.PLAYER, "even_odd") == []


def test_whoever_finds_no_port_in_the_range_takes_any(tmp_path: Path) -> None:
    put(tmp_path, "system.json", {"network": {"default_player_port_range": [9101, 9102]}})
    players = ConfigFiles(tmp_path).choose_agents(Role.PLAYER, "even_odd", 3, None)
    assert [player.port for player in players] == [9101, 9102, 0]
