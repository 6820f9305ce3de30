"""Every key of the configuration files either changes what is run, or is said to be for readers."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_league.cli.lineup import Files
from agent_league.cli.play import Wanted, lined_up
from agent_league.cli.terms import terms
from agent_league.local import LocalPlan
from agent_league.sdk import ConfigError
from sdk.test_files_page import PAGE, SECTIONS, documented, keys

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
    "scheduling.format",
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
    files = Files.read(shared)
    try:
        base = terms("seed", None, shared, files.system.default_league_id)
    except ConfigError as error:
        return str(error)
    plan = lined_up(files, base, Wanted())
    alone = (files.one_referee("REF09"), files.one_player("P09"), files.league_url)
    return repr((plan, alone, files.patience, files.retry))


def every_key() -> list[tuple[str, str, str]]:
    return [
        (section, agent, key)
        for section, kinds in SECTIONS.items()
        for agent, kind in kinds.items()
        for key, _ in keys(kind)
    ]


def for_readers(section: str, agent: str, key: str) -> bool:
    """Whether the page says that nothing follows from a key: it is marked with a dagger."""
    marked = [(who, name) for who, name, _ in documented(section, marked=True)]
    return (agent, key) in marked


@pytest.mark.parametrize(("section", "agent", "key"), every_key())
def test_a_key_changes_what_is_run_or_is_marked_as_being_for_readers(
    tmp_path: Path, section: str, agent: str, key: str
) -> None:
    file, body = FILES[section, agent]
    if key in ONE_VALUE:
        assert for_readers(section, agent, key)
        return
    put(tmp_path, file, body)
    before = what_is_run(tmp_path)
    put(tmp_path, file, changed(body, key, OTHERWISE[key]))
    assert (what_is_run(tmp_path) == before) is for_readers(section, agent, key)


def test_the_page_says_what_the_mark_means() -> None:
    assert re.search(r"Keys with a †\s+are checked", PAGE)


def test_flags_win_over_what_the_files_name(tmp_path: Path) -> None:
    put(tmp_path, "agents/agents_config.json", {"players": [{**PLAYER, "strategy": "mirror"}]})
    put(tmp_path, "defaults/player.json", {"strategy": "markov"})
    files = Files.read(tmp_path)
    base = terms("seed", None, tmp_path, LEAGUE)
    assert lined_up(files, base, Wanted()).strategies == ["mirror", "markov"]
    plan = lined_up(files, base, Wanted(players=3, strategy="random", port_base=9000))
    assert plan.strategies == ["random"] * 3
    assert [place.port for place in plan.player_places] == [9101, 9102, 9103]
    assert [place.agent_id for place in plan.player_places] == ["P01", "P02", "P03"]


def test_agents_without_a_name_play_whatever_the_league_plays(tmp_path: Path) -> None:
    put(tmp_path, f"leagues/{LEAGUE}.json", {"league_id": LEAGUE, "game_type": "tic_tac_toe"})
    put(tmp_path, "agents/agents_config.json", {"players": [PLAYER], "referees": [REFEREE]})
    plan = lined_up(Files.read(tmp_path), terms("seed", None, tmp_path, LEAGUE), Wanted())
    assert {place.game_types for place in (*plan.referee_places, *plan.player_places)} == {()}
    assert (len(plan.referee_places), len(plan.player_places)) == (2, 4)


def test_an_agent_that_lives_elsewhere_is_not_started_here(tmp_path: Path) -> None:
    there = {**PLAYER, "default_endpoint": "http://example.org:8101/mcp"}
    put(tmp_path, "agents/agents_config.json", {"players": [there]})
    assert Files.read(tmp_path).named_players("even_odd") == []


def test_whoever_finds_no_port_in_the_range_takes_any(tmp_path: Path) -> None:
    put(tmp_path, "system.json", {"network": {"default_player_port_range": [9101, 9102]}})
    places = Files.read(tmp_path).players("even_odd", 3, None)
    assert [place.port for place in places] == [9101, 9102, 0]


def test_a_plan_with_places_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = lined_up(Files.read(tmp_path), terms("seed", None, tmp_path, LEAGUE), Wanted())
    plan.save(tmp_path / "plan.json")
    read = LocalPlan.load(tmp_path / "plan.json")
    assert read is not None
    assert msgspec.json.encode(read.player_places) == msgspec.json.encode(plan.player_places)
    assert msgspec.json.encode(read.referee_places) == msgspec.json.encode(plan.referee_places)
