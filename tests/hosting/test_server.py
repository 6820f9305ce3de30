"""Many leagues at one address: who reaches which, who may do what, what is left of them."""

import asyncio
import gc
import weakref
from pathlib import Path

import pytest

from agent_league.hosting.directory import HostedLeague
from agent_league.member import NotAdmittedError
from agent_league.protocol import Role
from agent_league.running.errors import UsageError
from agent_league.running.folder import Folder
from agent_league.season.season import Season, Stage
from agent_league.serving.league_sites import make_league_url
from agent_league.verification.stored import audit_store, check_files
from agent_league.vocabulary import Json
from hosting.server_box import STAFF, URL, ServerBox, open_server


def test_leagues_at_one_address_are_played_side_by_side(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            for league_id in ("autumn", "spring"):
                await box.create(league_id, awaited_players=4)
            await asyncio.gather(box.fill("autumn", 4), box.fill("spring", 4))
            await box.wait_until_over("autumn", "spring")

    asyncio.run(main())
    rows = Folder(tmp_path).list_leagues()
    assert [(row.league_id, row.matches, row.ended) for row in rows] == [
        ("autumn", 6, 1),
        ("spring", 6, 1),
    ]
    for row in rows:
        _verify(tmp_path, row.league_id)


def test_an_agent_names_its_league_at_the_one_address(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            await box.create("autumn")
            await box.create("spring")
            player = await box.add(Role.PLAYER, "spring")
            assert (player.league_id, player.name) == ("spring", "P01")
            answer = await player.query("GET_STANDINGS")
            assert [row["display_name"] for row in _rows(answer.data)] == ["N1"]
            with pytest.raises(NotAdmittedError, match="no league 'winter' is run here now"):
                await box.add(Role.PLAYER, "winter")

    asyncio.run(main())


def test_an_agent_that_names_none_joins_the_only_league_that_is_open(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            with pytest.raises(NotAdmittedError, match="no league is open for registration here"):
                await box.add(Role.PLAYER, None)
            token = await box.create("autumn")
            assert (await box.add(Role.PLAYER, None)).league_id == "autumn"
            await box.create("spring")
            with pytest.raises(NotAdmittedError, match="name one of them: autumn, spring"):
                await box.add(Role.PLAYER, None)
            await box.call("close_registration", league_id="autumn", auth_token=token)
            assert (await box.add(Role.PLAYER, None)).league_id == "spring"

    asyncio.run(main())


def test_a_token_says_which_league_is_meant(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            await box.create("autumn")
            token = await box.create("spring")
            assert (await box.call("pause_league", auth_token=token))["status"] == "ok"
            assert _season(box, "spring").paused
            assert not _season(box, "autumn").paused

    asyncio.run(main())


def test_an_organiser_has_no_rights_in_another_league(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            token = await box.create("autumn")
            await box.create("spring")
            refused = "auth_token: this is not the organiser's token"
            for url in (URL, make_league_url(URL, "spring")):
                order = box.call("pause_league", url, league_id="spring", auth_token=token)
                assert await order == refused
            assert not _season(box, "spring").paused
            player = await box.add(Role.PLAYER, "autumn")
            stolen = await box.call(
                "get_standings", league_id="spring", auth_token=player.token or ""
            )
            assert stolen["standings"] == []
            assert "auth_token" in await box.call(
                "league_query",
                league_id="spring",
                query_type="GET_STANDINGS",
                query_params={},
                auth_token=player.token,
                message_type="LEAGUE_QUERY",
                protocol="league.v2",
                sender="player:P01",
                timestamp="2025-01-01T00:00:00Z",
                conversation_id="c",
            )

    asyncio.run(main())


def test_the_staff_leads_every_league_and_nobody_else_creates_one(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            assert "only the staff" in await box.call("create_league", league_id="autumn")
            wrong = await box.call("create_league", league_id="autumn", auth_token="tok_x")
            assert wrong == "auth_token: this is not the token of this server"
            made = await box.call("create_league", league_id="autumn", rounds=3, auth_token=STAFF)
            assert made["url"] == make_league_url(URL, "autumn")
            assert made["organiser_token"].startswith("tok_organiser_")
            again = await box.call("create_league", league_id="autumn", auth_token=STAFF)
            assert "there is a league 'autumn'" in again
            bad = await box.call("create_league", league_id="../x", auth_token=STAFF)
            assert "league_id" in bad
            await box.fill("autumn", 2)
            await box.call("start_league", league_id="autumn", auth_token=STAFF)
            await box.wait_until_over("autumn")
            assert (await box.call("list_leagues"))["leagues"] == []

    asyncio.run(main())


def test_leagues_go_on_when_the_server_is_started_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            await box.create("autumn", awaited_players=4, legs=20)
            await box.create("spring")
            await box.fill("autumn", 4)
            await box.wait_for_matches("autumn", 20)
            net = box.net
        async with open_server(tmp_path, net) as box:
            assert [one["league_id"] for one in (await box.call("list_leagues"))["leagues"]] == [
                "autumn",
                "spring",
            ]
            await box.wait_until_over("autumn")
            assert (await box.add(Role.PLAYER, None)).league_id == "spring"

    asyncio.run(main())
    (autumn, spring) = Folder(tmp_path).list_leagues()
    assert (autumn.matches, autumn.ended, spring.ended) == (120, 1, 0)
    _verify(tmp_path, "autumn")


def test_a_league_that_is_over_leaves_nothing_in_memory_but_its_pages_stay(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            await box.create("autumn", awaited_players=2)
            members = await box.fill("autumn", 2)
            league = weakref.ref(_hosted(box, "autumn").league)
            await box.wait_until_over("autumn")
            for member in members:
                await member.close()
            await asyncio.sleep(0)
            gc.collect()
            assert league() is None
            (row,) = (await box.read("/leagues"))["leagues"]
            assert (row["league_id"], row["is_over"]) == ("autumn", True)
            page = await box.read("/leagues/autumn/standings.json")
            assert [one["played"] for one in page["standings"]] == [1, 1]
            gone = await box.net.post(make_league_url(URL, "autumn"), b"{}", 5.0)
            assert (gone.status, b"autumn is over" in gone.body) == (404, True)

    asyncio.run(main())


def test_the_memory_of_leagues_that_are_over_is_free_soon(tmp_path: Path) -> None:
    async def main() -> None:
        leagues = []
        async with open_server(tmp_path) as box:
            for league_id in ("autumn", "winter", "spring"):
                await box.create(league_id, awaited_players=2)
                members = await box.fill(league_id, 2)
                leagues.append(weakref.ref(_hosted(box, league_id).league))
                await box.wait_until_over(league_id)
                for member in members:
                    await member.close()
            assert sum(league() is not None for league in leagues) <= 1

    gc.disable()  # else Python may search by chance
    try:
        asyncio.run(main())
    finally:
        gc.enable()


def test_a_new_league_takes_options_of_its_game(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            game: dict[str, Json] = {"game": "prisoners_dilemma", "option": ["rounds=20"]}
            await box.call("create_league", league_id="autumn", **game, auth_token=STAFF)
            options = _season(box, "autumn").settings.options_of("prisoners_dilemma")
            assert options["rounds"] == 20

    asyncio.run(main())


def test_an_id_is_used_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            await box.create("autumn", awaited_players=2)
            await box.fill("autumn", 2)
            await box.wait_until_over("autumn")
            with pytest.raises(UsageError, match="there is a league 'autumn'"):
                await box.create("autumn")

    asyncio.run(main())


@pytest.mark.parametrize("players", [0, 2, 3])
def test_a_league_can_be_ended_before_it_begins(tmp_path: Path, players: int) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            token = await box.create("autumn")
            members = await box.fill("autumn", players)
            await box.call("end_league", reason="nobody came", auth_token=token)
            await box.wait_until_over("autumn")
            assert all(member.over.is_set() for member in members)

    asyncio.run(main())
    season = Folder(tmp_path).load_season("autumn")
    assert (season.stage, season.ended_early) == (Stage.COMPLETED, "nobody came")
    _verify(tmp_path, "autumn")


def test_a_league_can_be_ended_in_the_middle(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_server(tmp_path) as box:
            token = await box.create("autumn", awaited_players=4, legs=100)
            members = await box.fill("autumn", 4)
            await box.wait_for_matches("autumn", 10)
            await box.call("end_league", reason="the lesson is over", auth_token=token)
            await box.wait_until_over("autumn")
            assert all(member.over.is_set() for member in members)

    asyncio.run(main())
    season = Folder(tmp_path).load_season("autumn")
    assert 10 <= season.played < 600
    assert season.stage is Stage.COMPLETED
    _verify(tmp_path, "autumn")


def _hosted(box: ServerBox, league_id: str) -> HostedLeague:
    found = box.server.directory.get(league_id)
    assert found is not None
    return found


def _season(box: ServerBox, league_id: str) -> Season:
    return _hosted(box, league_id).league.season


def _rows(data: object) -> list[dict[str, object]]:
    assert isinstance(data, dict)
    return list(data["standings"])


def _verify(folder: Path, league_id: str) -> None:
    async def verify() -> None:
        async with Folder(folder).read_store() as store:
            audit = await audit_store(store, league_id)
            events = [one.event async for page in store.events(league_id) for one in page]
        assert audit.is_over
        assert check_files(events, audit.season.settings, folder) >= 1

    asyncio.run(verify())
