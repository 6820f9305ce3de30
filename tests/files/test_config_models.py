"""What a configuration file may say, and what a person is told whose file says something else."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.files import (
    AgentsConfig,
    ConfigError,
    GamesRegistry,
    LeagueConfig,
    PlayerDefaults,
    RefereeDefaults,
    SystemConfig,
)
from agent_league.files.reading import read
from agent_league.season.assignment import POLICIES

SEED_SYSTEM = {
    "schema_version": "1.0.0",
    "system_id": "league_system_prod",
    "protocol_version": "league.v2",
    "default_league_id": "league_2025_even_odd",
    "network": {
        "base_host": "localhost",
        "default_league_manager_port": 8000,
        "default_referee_port_range": [8001, 8010],
        "default_player_port_range": [8101, 8199],
    },
    "security": {"enable_auth_tokens": True, "token_length": 32, "token_ttl_hours": 24},
    "timeouts": {
        "register_referee_timeout_sec": 10,
        "register_player_timeout_sec": 10,
        "game_join_ack_timeout_sec": 5,
        "move_timeout_sec": 30,
        "generic_response_timeout_sec": 10,
    },
    "retry_policy": {"max_retries": 3, "base_delay_sec": 2.0, "backoff_strategy": "exponential"},
}
REFEREE = {
    "referee_id": "REF01",
    "display_name": "Referee Alpha",
    "endpoint": "http://localhost:8001/mcp",
    "version": "1.0.0",
    "game_types": ["even_odd"],
    "max_concurrent_matches": 2,
    "active": True,
}
PLAYER = {
    "player_id": "P01",
    "display_name": "Agent Alpha",
    "version": "1.0.0",
    "game_types": ["even_odd"],
    "default_endpoint": "http://localhost:8101/mcp",
    "active": True,
}
SEED_AGENTS = {
    "schema_version": "1.0.0",
    "last_updated": "2025-01-15T10:00:00Z",
    "league_manager": {
        "display_name": "Central League Manager",
        "endpoint": "http://localhost:8000/mcp",
        "version": "1.0.0",
    },
    "referees": [REFEREE],
    "players": [PLAYER],
}
SEED_LEAGUE = {
    "schema_version": "1.0.0",
    "league_id": "league_2025_even_odd",
    "display_name": "Even/Odd League 2025",
    "game_type": "even_odd",
    "status": "ACTIVE",
    "created_at": "2025-01-01T00:00:00Z",
    "scoring": {
        "win_points": 3,
        "draw_points": 1,
        "loss_points": 0,
        "technical_loss_points": 0,
        "tiebreakers": ["wins", "head_to_head", "draws"],
    },
    "scheduling": {"format": "round_robin", "matches_per_round": 2},
    "participants": {"min_players": 2, "max_players": 100},
}


def loaded(kind: type[Any], tmp_path: Path, text: str) -> Any:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    return read(kind, path)


def complaint(kind: type[Any], tmp_path: Path, text: str) -> str:
    """Return what is said about the file, without the folder that it is in."""
    with pytest.raises(ConfigError) as caught:
        loaded(kind, tmp_path, text)
    assert caught.value.file == str(tmp_path / "file.json")
    return str(caught.value).removeprefix(f"{tmp_path / 'file.json'}: ")


@pytest.mark.parametrize(
    ("kind", "seed"),
    [(SystemConfig, SEED_SYSTEM), (AgentsConfig, SEED_AGENTS), (LeagueConfig, SEED_LEAGUE)],
)
def test_the_examples_of_the_protocol_are_read_as_they_are(
    kind: type[Any], seed: dict[str, Any], tmp_path: Path
) -> None:
    model = loaded(kind, tmp_path, json.dumps(seed))
    again = msgspec.json.decode(msgspec.json.encode(model))
    assert {key: again[key] for key in seed} == seed


def test_the_defaults_are_the_values_of_the_examples() -> None:
    assert msgspec.to_builtins(SystemConfig()) == msgspec.convert(SEED_SYSTEM, dict[str, Any]) | {
        "network": {
            **SEED_SYSTEM["network"],  # type: ignore[dict-item]
            "default_referee_port_range": (8001, 8010),
            "default_player_port_range": (8101, 8199),
        }
    }
    defaults = LeagueConfig(league_id="league_2025_even_odd", created_at="2025-01-01T00:00:00Z")
    assert defaults == msgspec.convert(SEED_LEAGUE, LeagueConfig)


SECONDS = "seconds, more than 0 and at most 86400"
SAFE = "1 to 64 letters, digits, '_', '-' or single '.', beginning with a letter or digit"

WRONG_SYSTEMS = {
    '{"timeouts": {"move_timeout": 30}}': "timeouts.move_timeout: unknown key; did you mean "
    "'move_timeout_sec'? known: register_referee_timeout_sec, register_player_timeout_sec, "
    "game_join_ack_timeout_sec, move_timeout_sec, generic_response_timeout_sec, "
    "game_over_timeout_sec, report_timeout_sec",
    '{"zzz": 1}': "zzz: unknown key; known: schema_version, system_id, protocol_version, "
    "default_league_id, network, security, timeouts, retry_policy",
    "[]": "expected an object, got []",
    '{"timeouts": 5}': "timeouts: expected an object, got 5",
    '{"timeouts": {"move_timeout_sec": "30"}}': f"timeouts.move_timeout_sec: expected {SECONDS}, "
    'got "30"',
    '{"timeouts": {"move_timeout_sec": 0}}': f"timeouts.move_timeout_sec: expected {SECONDS}, "
    "got 0",
    '{"timeouts": {"report_timeout_sec": null}}': "timeouts.report_timeout_sec: expected "
    f"{SECONDS}, got null",
    '{"network": {"default_league_manager_port": 70000}}': "network.default_league_manager_port: "
    "expected a port from 1 to 65535, got 70000",
    '{"network": {"default_referee_port_range": [8010, 8001]}}': "network."
    "default_referee_port_range: expected two ports, the lower one first, got [8010, 8001]",
    '{"network": {"default_player_port_range": [8101]}}': "network.default_player_port_range: "
    "expected two ports, the lower one first, got [8101]",
    '{"network": {"default_player_port_range": [0, 5]}}': "network.default_player_port_range[0]: "
    "expected a port from 1 to 65535, got 0",
    '{"security": {"enable_auth_tokens": false}}': "security.enable_auth_tokens: expected true "
    "(every league has tokens), got false",
    '{"security": {"enable_auth_tokens": 1}}': "security.enable_auth_tokens: expected true or "
    "false, got 1",
    '{"security": {"token_length": 8}}': "security.token_length: expected a whole number from 32 "
    "to 43, got 8",
    '{"security": {"token_ttl_hours": -1}}': "security.token_ttl_hours: expected hours, more than "
    "0 and at most 8760, got -1",
    '{"retry_policy": {"max_retries": 0}}': "retry_policy.max_retries: expected a whole number "
    "from 1 to 10, got 0",
    '{"retry_policy": {"max_retries": 2.5}}': "retry_policy.max_retries: expected a whole number "
    "from 1 to 10, got 2.5",
    '{"retry_policy": {"backoff_strategy": "linear"}}': "retry_policy.backoff_strategy: expected "
    '"exponential" or "fixed", got "linear"',
    '{"retry_policy": {"base_delay_sec": -2}}': "retry_policy.base_delay_sec: expected seconds, "
    "from 0 to 86400, got -2",
    '{"protocol_version": "league.v3"}': 'protocol_version: expected "league.v2", got "league.v3"',
    '{"schema_version": "2.0.0"}': 'schema_version: expected "1.0.0", got "2.0.0"',
    '{"default_league_id": "../x"}': f'default_league_id: expected {SAFE}, got "../x"',
    '{"a": 1,\n "b" 2}': "not JSON: Expecting ':' delimiter at line 2, column 6",
    "": "not JSON: Expecting value at line 1, column 1",
    '{"a": 1, "a": 2}': "not JSON: the key 'a' is given twice",
    '{"timeouts": {"move_timeout_sec": NaN}}': "not JSON: NaN is not a number",
}
WRONG_AGENTS = {
    '{"players": [{"player_id": "P01", "display_name": "A"}]}': "players[0].default_endpoint: "
    "missing; expected text",
    '{"referees": [{"display_name": "A", "endpoint": "http://a"}]}': "referees[0].referee_id: "
    f"missing; expected {SAFE}",
    '{"players": {}}': "players: expected a list, got {}",
    '{"players": ["P01"]}': 'players[0]: expected an object, got "P01"',
    json.dumps({"players": [PLAYER, PLAYER]}): "players: expected a different player_id for "
    'each, got "P01"',
    json.dumps({"players": [PLAYER, {**PLAYER, "player_id": "P02"}]}): "players: expected a "
    'different default_endpoint for each, got "http://localhost:8101/mcp"',
    json.dumps({"referees": [REFEREE, REFEREE]}): "referees: expected a different referee_id for "
    'each, got "REF01"',
    json.dumps({"referees": [{**REFEREE, "max_concurrent_matches": 11}]}): "referees[0]."
    "max_concurrent_matches: expected an integer from 1 to 10, got 11",
    json.dumps({"referees": [{**REFEREE, "endpoint": "ftp://x"}]}): "referees[0].endpoint: "
    "expected an address as http://localhost:8101/mcp (it must begin with http:// or https://), "
    'got "ftp://x"',
    json.dumps({"players": [{**PLAYER, "game_types": []}]}): "players[0].game_types: expected a "
    "list of at least one game, got []",
    json.dumps({"players": [{**PLAYER, "version": "one"}]}): "players[0].version: expected a "
    'semantic version, as 1.0.0, got "one"',
    json.dumps({"players": [{**PLAYER, "playerid": "P01"}]}): "players[0].playerid: unknown key; "
    "did you mean 'player_id'? known: player_id, display_name, version, game_types, "
    "default_endpoint, active, strategy",
    '{"last_updated": "yesterday"}': "last_updated: expected ISO-8601 in UTC, as "
    '2025-01-15T10:30:00Z, got "yesterday"',
}
WRONG_LEAGUES = {
    "{}": f"league_id: missing; expected {SAFE}",
    '{"league_id": "a", "scoring": {"win_points": -3}}': "scoring.win_points: expected a whole "
    "number from 0 to 1000, got -3",
    '{"league_id": "a", "scoring": {"tiebreakers": ["win"]}}': "scoring.tiebreakers: expected "
    "another name (did you mean 'wins'? known: wins, head_to_head, draws), got \"win\"",
    '{"league_id": "a", "scheduling": {"format": "chess"}}': "scheduling.format: expected another "
    "name (known: round_robin, double_round_robin, swiss, knockout, gauntlet, ladder), "
    'got "chess"',
    '{"league_id": "a", "scheduling": {"matches_per_round": 0}}': "scheduling.matches_per_round: "
    "expected a whole number from 1, got 0",
    '{"league_id": "a", "participants": {"min_players": 5, "max_players": 4}}': "participants."
    "max_players: expected at least min_players (5), got 4",
    '{"league_id": "a", "participants": {"min_players": 1}}': "participants.min_players: expected "
    "a number from 2 to 10000, got 1",
    '{"league_id": "a", "assignment": "busy"}': "assignment: expected another name (known: "
    f'{", ".join(POLICIES)}), got "busy"',
    '{"league_id": "a", "legs": 0}': "legs: expected a whole number from 1 to 1000, got 0",
    '{"league_id": "a", "options": []}': "options: expected an object, got []",
    '{"league_id": "a", "unique_names": "yes"}': 'unique_names: expected true or false, got "yes"',
    '{"league_id": "a", "strictness": "lax"}': 'strictness: expected "tolerant" or "strict", got "lax"',
    '{"league_id": "a", "announcement_lead_sec": -1}': "announcement_lead_sec: expected seconds, "
    "from 0 to 86400, got -1",
}
WRONG_OTHERS: list[tuple[type[Any], str, str]] = [
    (
        GamesRegistry,
        '{"games": [{"display_name": "A"}]}',
        "games[0].game_type: missing; expected text",
    ),
    (
        GamesRegistry,
        (
            '{"games": [{"game_type": "a", "display_name": "A"}, '
            '{"game_type": "a", "display_name": "B"}]}'
        ),
        'games: expected a different game_type for each, got "a"',
    ),
    (
        RefereeDefaults,
        '{"max_concurrent_matches": 0}',
        "max_concurrent_matches: expected an integer from 1 to 10, got 0",
    ),
    (
        PlayerDefaults,
        '{"strategie": "random"}',
        (
            "strategie: unknown key; did you mean 'strategy'? "
            "known: schema_version, display_name, version, game_types, strategy"
        ),
    ),
]


@pytest.mark.parametrize(
    ("kind", "text", "reply"),
    [
        *((SystemConfig, text, reply) for text, reply in WRONG_SYSTEMS.items()),
        *((AgentsConfig, text, reply) for text, reply in WRONG_AGENTS.items()),
        *((LeagueConfig, text, reply) for text, reply in WRONG_LEAGUES.items()),
        *WRONG_OTHERS,
    ],
)
def test_a_file_that_is_wrong_is_told_where_and_what_belongs_there(
    kind: type[Any], text: str, reply: str, tmp_path: Path
) -> None:
    assert complaint(kind, tmp_path, text) == reply


def test_an_error_carries_the_key_and_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(SystemConfig, tmp_path, '{"network": {"default_league_manager_port": 0}}')
    assert caught.value.key == "network.default_league_manager_port"
    assert caught.value.expected == "a port from 1 to 65535"


def test_a_long_value_is_cut_short(tmp_path: Path) -> None:
    reply = complaint(SystemConfig, tmp_path, json.dumps({"system_id": "x/" * 1000}))
    assert reply.endswith("...")
    assert len(reply) < 200


def test_a_file_that_is_no_text_or_no_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"system_id": "caf\xe9"}')
    with pytest.raises(ConfigError, match=r"latin\.json: not JSON: 'utf-8' codec"):
        read(SystemConfig, tmp_path / "latin.json")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read(SystemConfig, tmp_path)


def test_a_file_that_goes_too_deep_is_said_so(tmp_path: Path) -> None:
    assert complaint(SystemConfig, tmp_path, "[" * 100_000).startswith("not JSON: ")


def test_a_byte_order_mark_is_overlooked(tmp_path: Path) -> None:
    assert loaded(SystemConfig, tmp_path, "\ufeff{}") == SystemConfig()


seconds = st.integers(1, 86400) | st.floats(0.001, 86400)
ports = st.integers(1, 65535)
port_ranges = st.tuples(ports, ports).map(sorted)
systems = st.fixed_dictionaries(
    {},
    optional={
        "network": st.fixed_dictionaries(
            {},
            optional={
                "default_league_manager_port": ports,
                "default_player_port_range": port_ranges,
            },
        ),
        "timeouts": st.dictionaries(
            st.sampled_from(["move_timeout_sec", "report_timeout_sec", "game_over_timeout_sec"]),
            seconds,
        ),
        "retry_policy": st.fixed_dictionaries(
            {}, optional={"max_retries": st.integers(1, 10), "jitter": st.booleans()}
        ),
    },
)


@given(systems)
def test_what_a_model_writes_it_reads_back(body: dict[str, Any]) -> None:
    model = msgspec.convert(body, SystemConfig)
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(model)), SystemConfig) == model
