"""The spec of a league is read as it was saved, by this version or by an earlier one."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from agent_league.protocol import Role
from agent_league.running.folder import Folder
from agent_league.running.specs import AgentSpec, LeagueSpec, assign_ports, number_agents
from agent_league.season.settings import LeagueSettings
from agent_league.store import StoreError
from golden_files import GOLDEN

SETTINGS = LeagueSettings(seed="7")
SPEC = LeagueSpec(
    SETTINGS,
    assign_ports(number_agents(Role.REFEREE, 2), 9000),
    [replace(one, strategy="markov") for one in number_agents(Role.PLAYER, 3)],
    max_processes=2,
)
OLD = sorted((GOLDEN / "plans").glob("*.json"))


def same(one: LeagueSpec | None, other: LeagueSpec) -> bool:
    return msgspec.json.encode(one) == msgspec.json.encode(other)


def test_a_spec_is_read_as_it_was_saved(tmp_path: Path) -> None:
    SPEC.save(tmp_path / "state" / "plan.json")
    assert same(LeagueSpec.load(tmp_path / "state" / "plan.json"), SPEC)
    assert LeagueSpec.load(tmp_path / "none.json") is None


@pytest.mark.parametrize("file", OLD, ids=lambda file: str(file.stem))
def test_a_spec_of_an_earlier_version_is_read(file: Path) -> None:
    saved, spec = json.loads(file.read_text(encoding="utf-8")), LeagueSpec.load(file)
    assert spec is not None
    assert [player.strategy for player in spec.players] == saved["strategies"]
    assert [player.display_name for player in spec.players] == saved["names"]
    assert [referee.agent_id for referee in spec.referees] == ["REF01", "REF02"][
        : saved["referees"]
    ]
    assert (spec.port_base, spec.host) == (saved["port_base"], saved["host"])
    assert spec.settings.league_id == saved["settings"]["league_id"]


def test_a_spec_from_before_agents_had_places_gets_the_numbered_ones(tmp_path: Path) -> None:
    saved = json.loads((GOLDEN / "plans/play.json").read_text(encoding="utf-8"))
    old = {key: value for key, value in saved.items() if not key.endswith("_places")}
    (tmp_path / "plan.json").write_text(json.dumps({**old, "port_base": 9000}), encoding="utf-8")
    spec = LeagueSpec.load(tmp_path / "plan.json")
    assert spec is not None
    assert [(one.agent_id, one.port) for one in spec.referees] == [("REF01", 9001), ("REF02", 9002)]
    assert [one.port for one in spec.players] == [9101, 9102, 9103]


@pytest.mark.parametrize("damaged", ['{"settings"', "[]", '{"strategies": 1}', "{}"])
def test_a_damaged_spec_is_an_error_of_the_store(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "state" / "cup" / "plan.json"
    path.parent.mkdir(parents=True)
    path.write_text(damaged, encoding="utf-8")
    with pytest.raises(StoreError, match="is damaged"):
        Folder(tmp_path).load_spec("cup")


def test_a_league_moves_to_other_ports_with_all_its_agents() -> None:
    moved = SPEC.with_ports(9500)
    agents = (*moved.referees, *moved.players)
    assert (moved.port_base, [one.port for one in agents]) == (9500, [9501, 9502, 9601, 9602, 9603])
    anywhere = SPEC.with_ports(0)
    assert {one.port for one in (*anywhere.referees, *anywhere.players)} == {0}


def list_groups(spec: LeagueSpec) -> list[list[str]]:
    return [[one.agent_id for one in group] for group in spec.processes]


def test_referees_share_processes_and_so_do_players() -> None:
    assert list_groups(replace(SPEC, max_processes=1)) == [
        ["REF01", "REF02"],
        ["P01", "P02", "P03"],
    ]
    assert list_groups(replace(SPEC, max_processes=3)) == [
        ["REF01", "REF02"],
        ["P01", "P02"],
        ["P03"],
    ]


def test_an_isolated_agent_has_a_process_of_its_own() -> None:
    assert list_groups(replace(SPEC, isolate=True)) == [
        ["REF01"],
        ["REF02"],
        ["P01"],
        ["P02"],
        ["P03"],
    ]


@pytest.mark.parametrize(
    ("players", "cores", "sizes"),
    [(100, 1, [100]), (100, 2, [100]), (100, 4, [34, 34, 32]), (300, 2, [150, 150])],
)
def test_agents_take_a_process_for_each_core(players: int, cores: int, sizes: list[int]) -> None:
    spec = replace(SPEC, players=number_agents(Role.PLAYER, players), max_processes=cores)
    assert [len(group) for group in spec.processes] == [2, *sizes]


def test_a_program_of_the_users_own_shares_a_process_only_with_itself() -> None:
    programs = ["mine.py", "markov", "mine.py", "random", "yours.py"]
    numbered = zip(number_agents(Role.PLAYER, 5), programs, strict=True)
    players = [replace(one, strategy=program) for one, program in numbered]
    spec = LeagueSpec(SETTINGS, players=players, max_processes=1)
    assert list_groups(spec) == [["P01", "P03"], ["P02", "P04"], ["P05"]]


def test_a_manager_alone_leaves_the_spec_of_a_league_with_agents(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with_agents = folder.save_spec(SPEC)
    folder.save_spec(LeagueSpec(SETTINGS))
    assert same(folder.load_spec(SETTINGS.league_id), with_agents)
    folder.save_spec(replace(SPEC, players=[AgentSpec(Role.PLAYER, "P09")]))
    assert not same(folder.load_spec(SETTINGS.league_id), with_agents)
