"""Guests that are clients of the official SDK, in both eras of MCP, over HTTP and over stdio."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from agent_league.guests import house
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague

ERAS = ["2026-07-28", "legacy"]
every_era = pytest.mark.parametrize("era", ERAS)


async def called(client: Client, tool: str, told: Any = None, **arguments: Json) -> Json:
    result = await client.call_tool(tool, arguments, progress_callback=told)
    assert not result.is_error, result.content
    return result.structured_content


async def played(client: Client, name: str) -> Json:
    """Join, and play the last legal move until the league is over."""
    token = (await called(client, "join_league", display_name=name))["auth_token"]
    said = await called(client, "wait_for_turn", auth_token=token)
    while said["status"] != "LEAGUE_OVER":
        if said["status"] == "YOUR_TURN":
            move = {"turn_id": said["turn_id"], "move": said["legal_moves"][-1]}
            made = await called(client, "make_move", auth_token=token, max_wait_sec=5, **move)
            said = made["next"]
        else:
            said = await called(client, "wait_for_turn", auth_token=token)
    return said


@asynccontextmanager
async def league_of_two() -> AsyncIterator[tuple[HttpLeague, "asyncio.Future[None]"]]:
    """A league with one player of ours that waits for another."""
    async with HttpLeague(awaited_players=2) as league:
        await league.add_referee()
        await league.add_player()
        season = asyncio.ensure_future(league.play())
        yield league, season


def without_a_technical_loss(league: HttpLeague) -> bool:
    season = league.manager.season
    return season.played == 1 and season.tally["TECHNICAL_LOSS"] == 0


@every_era
def test_an_sdk_client_plays(era: Any) -> None:
    async def main() -> None:
        async with league_of_two() as (league, season):
            async with Client(league.url, mode=era) as client:
                ended = await played(client, "Claude")
                assert [row["player_id"] for row in ended["table"]].count("P02") == 1
            await season
            assert without_a_technical_loss(league)

    asyncio.run(main())


@every_era
def test_an_sdk_client_that_waits_is_told_that_it_goes_on(
    era: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house, "PROGRESS_EVERY", 0.05)
    heard: list[tuple[float | None, str | None]] = []

    async def told(waited: float, longest: float | None, said: str | None) -> None:
        heard.append((longest, said))

    async def main() -> None:
        async with HttpLeague(awaited_players=2) as league, Client(league.url, mode=era) as client:
            token = (await called(client, "join_league", display_name="Claude"))["auth_token"]
            waits = {"auth_token": token, "max_wait_sec": 0.5}
            said = await called(client, "wait_for_turn", told, **waits)
            assert said["status"] == "NO_TURN_YET"

    asyncio.run(main())
    assert len(heard) >= 3
    assert set(heard) == {(0.5, "no turn yet")}


@every_era
def test_an_sdk_client_is_told_the_legal_moves_as_an_error_of_the_tool(era: Any) -> None:
    async def main() -> None:
        async with league_of_two() as (league, season):
            async with Client(league.url, mode=era) as client:
                token = (await called(client, "join_league", display_name="C"))["auth_token"]
                turn = await called(client, "wait_for_turn", auth_token=token)
                move = {"auth_token": token, "turn_id": turn["turn_id"], "move": "neither"}
                refused = await client.call_tool("make_move", move)
                assert refused.is_error
                said: Json = refused.structured_content
                assert said["context"]["legal_moves"] == ["even", "odd"]
            season.cancel()

    asyncio.run(main())


def filling_in(action: str, forms: list[str]) -> Any:
    async def fill_in(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        forms.append(params.message)
        (move,) = params.requested_schema["properties"].values()
        content = {"move": move["enum"][0]} if action == "accept" else None
        return types.ElicitResult.model_validate({"action": action, "content": content})

    return fill_in


async def played_in_person(client: Client) -> Json:
    token = (await called(client, "join_league", display_name="A person"))["auth_token"]
    said = await called(client, "play_in_person", auth_token=token)
    while said["status"] == "NO_TURN_YET":
        said = await called(client, "play_in_person", auth_token=token)
    return said


@every_era
def test_a_person_plays_by_filling_in_forms(era: Any) -> None:
    forms: list[str] = []

    async def main() -> None:
        async with league_of_two() as (league, season):
            asked = filling_in("accept", forms)
            async with Client(league.url, mode=era, elicitation_callback=asked) as client:
                assert (await played_in_person(client))["status"] == "LEAGUE_OVER"
            await season
            assert without_a_technical_loss(league)

    asyncio.run(main())
    assert [form.split(",")[0] for form in forms] == ["Your move in R1M1 (even_odd)"]


@every_era
def test_a_person_may_decline(era: Any) -> None:
    async def main() -> None:
        async with league_of_two() as (league, season):
            asked = filling_in("decline", [])
            async with Client(league.url, mode=era, elicitation_callback=asked) as client:
                assert (await played_in_person(client))["status"] == "STOPPED"
            season.cancel()

    asyncio.run(main())


def bridged(url: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "agent_league", "mcp-bridge", url]
    )


@every_era
def test_a_client_without_http_plays_over_the_bridge(era: Any) -> None:
    async def main() -> None:
        async with league_of_two() as (league, season):
            async with (
                Client(league.url) as direct,
                Client(bridged(league.url), mode=era) as client,
            ):
                there, here = await direct.list_tools(), await client.list_tools()
                assert [tool.name for tool in here.tools] == [tool.name for tool in there.tools]
                assert (await client.list_prompts()).prompts == (
                    await direct.list_prompts()
                ).prompts
                shown = (await client.list_resources()).resources
                assert shown == (await direct.list_resources()).resources
                ended = await played(client, "Claude")
                assert ended["status"] == "LEAGUE_OVER"
            await season
            assert without_a_technical_loss(league)

    asyncio.run(main())


@every_era
def test_a_person_is_asked_across_the_bridge(era: Any) -> None:
    forms: list[str] = []

    async def main() -> None:
        async with league_of_two() as (league, season):
            asked = filling_in("accept", forms)
            server = bridged(league.url)
            async with Client(server, mode=era, elicitation_callback=asked) as client:
                assert (await played_in_person(client))["status"] == "LEAGUE_OVER"
            await season
            assert without_a_technical_loss(league)

    asyncio.run(main())
    assert len(forms) == 1
