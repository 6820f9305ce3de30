"""A command that is given again in the same folder says what it does: go on, or begin anew."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from agent_league.cli.screens import measure_progress
from agent_league.protocol import Role
from agent_league.running.folder import Folder
from agent_league.running.specs import LeagueSpec, number_agents
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import FarewellSaid, SeasonOpened
from agent_league.store.log import StoredEvent
from cli.league_command import league, line_with, running

CUP = LeagueSettings(seed="7", league_id="cup", awaited_players=30)


def keep(folder: Folder, league_ids: Sequence[str], ended: Sequence[str] = ()) -> None:
    """Keep leagues in *folder*, some of which have ended."""

    async def write() -> None:
        async with folder.read_store() as store:
            for number, league_id in enumerate(league_ids):
                at = f"2025-01-15T10:00:0{number}Z"
                terms = replace(CUP, league_id=league_id)
                writer = await store.open(league_id, at, msgspec.json.encode(terms).decode())
                opened = SeasonOpened(
                    at=at, league_id=league_id, game_type=terms.game_type, seed="7", legs=1
                )
                await writer.keep(StoredEvent(1, opened))
                if league_id in ended:
                    await writer.keep(StoredEvent(2, FarewellSaid(at=at)))

    asyncio.run(write())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "SHARED")


def open_id(folder: Folder, *, new: bool = False) -> str:
    return folder.open_spec(LeagueSpec(CUP), new=new).settings.league_id


@pytest.mark.parametrize(
    ("league_ids", "ended", "opened"),
    [
        ([], [], "cup"),
        (["cup"], [], "cup"),
        (["cup"], ["cup"], "cup_2"),
        (["cup", "cup_2"], ["cup"], "cup_2"),
        (["cup", "cup_2"], ["cup", "cup_2"], "cup_3"),
        (["cup", "cup_2"], ["cup_2"], "cup"),
        (["cup_of_tea"], [], "cup"),
        (["cup", "cup_2025"], ["cup"], "cup_2026"),
    ],
)
def test_the_league_of_that_name_that_has_not_ended_goes_on(
    folder: Folder, league_ids: list[str], ended: list[str], opened: str
) -> None:
    keep(folder, league_ids, ended)
    assert open_id(folder) == opened


def test_a_new_league_can_be_asked_for(folder: Folder) -> None:
    keep(folder, ["cup"])
    assert open_id(folder, new=True) == "cup_2"


def test_a_league_with_players_of_our_own_is_left_to_resume(folder: Folder) -> None:
    keep(folder, ["cup"])
    folder.save_spec(LeagueSpec(CUP, players=number_agents(Role.PLAYER, 2)))
    assert open_id(folder) == "cup_2"


def test_a_manager_that_is_started_again_says_that_its_league_goes_on(folder: Folder) -> None:
    keep(folder, ["cup", "cup_2"], ["cup"])
    here = ("manager", "--league-id", "cup", "--port", "0", "--shared", str(folder.shared))
    with running(*here) as manager:
        assert "cup_2 has not ended (0 matches played): it goes on" in line_with(manager, "cup")
        assert "--new" in line_with(manager, "new league")
        line_with(manager, "Waiting for 30 players")
    with running(*here, "--new") as manager:
        assert "this new league is cup_3" in line_with(manager, "cup")
        assert "--league-id cup_3" in line_with(manager, "join it")
        line_with(manager, "Waiting for 4 players")
    assert [row.league_id for row in folder.list_leagues()] == ["cup", "cup_2", "cup_3"]


def test_a_class_league_that_is_resumed_invites_players_and_not_guests_alone(
    folder: Folder,
) -> None:
    keep(folder, ["cup"])
    folder.save_spec(LeagueSpec(CUP, number_agents(Role.REFEREE, 1), port_base=0))
    with running("resume", "--shared", str(folder.shared)) as resumed:
        line = line_with(resumed, "Registration is open")
        assert "the league begins when 30 players have joined" in line
        resumed.interrupt()
        _, printed = resumed.communicate()
    assert "seats wait" not in printed


def test_players_are_counted_until_there_are_matches_to_count() -> None:
    assert measure_progress(Season(CUP)) == ("Registration", 0, 30, "players")
    unlimited = replace(CUP, awaited_players=None)
    assert measure_progress(Season(unlimited)) == ("Registration", 0, None, "players")


def test_a_league_that_waits_is_listed_as_unfinished(folder: Folder) -> None:
    keep(folder, ["cup"])
    done = league("leagues", "--shared", str(folder.shared))
    assert "unfinished" in done.stdout
