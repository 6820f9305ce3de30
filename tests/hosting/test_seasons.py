"""Seasons of a competition with divisions: who is in which, and that agents find theirs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_league.hosting.seasons import LastSeason, plan_leagues
from agent_league.hosting.terms import SeasonTerms
from agent_league.member import NotAdmittedError
from agent_league.protocol import Role
from agent_league.running.errors import UsageError
from agent_league.running.lineup import ConfigFiles
from hosting.server_box import STAFF, ServerBox, open_server


async def open_season(box: ServerBox, **terms: Any) -> Any:
    return await box.call("open_season", league_id="cup", auth_token=STAFF, **terms)


async def play_season(box: ServerBox, season: int) -> list[list[str]]:
    """Play both divisions of a season; return the names of each in the order of the table."""
    tables = []
    for number in (1, 2):
        league_id = f"cup_s{season}_d{number}"
        await box.add(Role.REFEREE, league_id)
        await box.call("start_league", league_id=league_id, auth_token=STAFF)
        await box.wait_until_over(league_id)
        page = await box.read(f"/leagues/{league_id}/standings.json")
        tables.append([row["display_name"] for row in page["standings"]])
    return tables


def test_the_last_go_down_and_the_first_go_up_and_each_finds_its_division(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            opened = await open_season(box, sizes=[3, 3], movers=1)
            assert [one["league_id"] for one in opened["leagues"]] == ["cup_s1_d1", "cup_s1_d2"]
            players = [await box.add(Role.PLAYER, "cup") for _ in range(6)]
            assert [one.league_id for one in players] == ["cup_s1_d1"] * 3 + ["cup_s1_d2"] * 3
            unfinished = await open_season(box)
            assert "season 1 is not over: cup_s1_d1, cup_s1_d2" in unfinished
            first, second = await play_season(box, 1)
            opened = await open_season(box)
            upper, lower = (one["invited"] for one in opened["leagues"])
            assert upper == [*first[:2], second[0]]
            assert lower == [first[2], *second[1:]]
            again = await box.add(Role.PLAYER, "cup", name=second[0])
            assert again.league_id == "cup_s2_d1"
            assert (await box.add(Role.PLAYER, "cup", name=first[2])).league_id == "cup_s2_d2"
            assert (await box.add(Role.PLAYER, "cup", name="New")).league_id == "cup_s2_d2"
            with pytest.raises(NotAdmittedError, match="Another division"):
                await box.add(Role.PLAYER, "cup_s2_d1", name="Newer")

    asyncio.run(main())


def test_a_first_season_may_have_a_list_and_a_later_one_leaves_players_out(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            assert "how large are its divisions" in await open_season(box)
            opened = await open_season(box, sizes=[2, 2], seeds=list("ABCD"))
            assert [one["invited"] for one in opened["leagues"]] == [["A", "B"], ["C", "D"]]
            for name in "DCBA":
                await box.add(Role.PLAYER, "cup", name=name)
            first, second = await play_season(box, 1)
            assert [sorted(first), sorted(second)] == [["A", "B"], ["C", "D"]]
            opened = await open_season(box, gone=[first[0]], seeds=["E"])
            upper, lower = (one["invited"] for one in opened["leagues"])
            assert upper == [second[0], first[1]]
            assert lower == [second[1], "E"]

    asyncio.run(main())


def test_a_later_season_is_as_the_one_before_except_for_what_is_said(tmp_path: Path) -> None:
    files = ConfigFiles(tmp_path)
    terms = SeasonTerms(league_id="cup", sizes=[2, 2], legs=2, join_code="secret", strict=True)
    first = plan_leagues(files, terms, None)
    last = LastSeason(first, [["A", "B"], ["C", "D"]])
    same, _ = plan_leagues(files, SeasonTerms(league_id="cup"), last)
    assert (same.legs, same.join_code, same.strictness) == (2, "secret", "strict")
    said = SeasonTerms(
        league_id="cup", game="prisoners_dilemma", option=["rounds=9"], legs=3, strict=False
    )
    other, _ = plan_leagues(files, said, last)
    assert (other.game_type, other.options["rounds"]) == ("prisoners_dilemma", 9)
    assert (other.legs, other.join_code, other.strictness) == (3, "secret", "tolerant")
    with pytest.raises(UsageError, match="there is no format"):
        plan_leagues(files, SeasonTerms(league_id="cup", format="duel"), last)


def test_only_the_staff_opens_a_season(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            wrong = await box.call("open_season", league_id="cup", sizes=[2, 2], auth_token="tok_x")
            assert wrong == "auth_token: this is not the token of this server"

    asyncio.run(main())
