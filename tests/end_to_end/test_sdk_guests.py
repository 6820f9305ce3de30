"""Guests that are clients of the official SDK, in both eras of MCP, over HTTP and over stdio."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from agent_league.guests import desk
from agent_league.league.views import STANDINGS
from agent_league.season.settings import GuestRules
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from serving.callers import complaint_of

ERAS = ["2026-07-28", "legacy"]
every_era = pytest.mark.parametrize("era", ERAS)


async def called(client: Client, tool: str, note_progress: Any = None, **arguments: Json) -> Json:
    result = await client.call_tool(tool, arguments, progress_callback=note_progress)
    assert not result.is_error, result.content
    return result.structured_content


async def played(client: Client, name: str) -> Json:
    """Join, and play the last legal move until the league is over."""
    token = (await called(client, "join_league", display_name=name))["auth_token"]
    reply = await called(client, "wait_for_turn", auth_token=token)
    while reply["status"] != "LEAGUE_OVER":
        if reply["status"] == "YOUR_TURN":
            move = {"turn_id": reply["turn_id"], "move": reply["legal_moves"][-1]}
            made = await called(client, "make_move", auth_token=token, max_wait_sec=5, **move)
            reply = made["next"]
        else:
            reply = await called(client, "wait_for_turn", auth_token=token)
    return reply


@asynccontextmanager
async def league_of_two() -> AsyncIterator[tuple[HttpLeague, "asyncio.Future[None]"]]:
    """A league with one player of ours that waits for another."""
    async with HttpLeague(awaited_players=2, guests=GuestRules(linger=0)) as league:
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
    monkeypatch.setattr(desk, "PROGRESS_INTERVAL", 0.05)
    received: list[tuple[float | None, str | None]] = []

    async def note_progress(waited: float, longest: float | None, reply: str | None) -> None:
        received.append((longest, reply))

    async def main() -> None:
        async with HttpLeague(awaited_players=2) as league, Client(league.url, mode=era) as client:
            token = (await called(client, "join_league", display_name="Claude"))["auth_token"]
            waits = {"auth_token": token, "max_wait_sec": 0.5}
            reply = await called(client, "wait_for_turn", note_progress, **waits)
            assert reply["status"] == "NO_TURN_YET"

    asyncio.run(main())
    assert len(received) >= 3
    assert set(received) == {(0.5, "no turn yet")}


@every_era
def test_an_sdk_client_is_told_the_legal_moves_as_an_error_of_the_tool(era: Any) -> None:
    async def main() -> None:
        async with league_of_two() as (league, season):
            async with Client(league.url, mode=era) as client:
                token = (await called(client, "join_league", display_name="C"))["auth_token"]
                turn = await called(client, "wait_for_turn", auth_token=token)
                move = {"auth_token": token, "turn_id": turn["turn_id"], "move": "neither"}
                refused = await client.call_tool("make_move", move)
                reply: Json = complaint_of(refused)
                assert reply["context"]["legal_moves"] == ["even", "odd"]
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
    reply = await called(client, "play_in_person", auth_token=token)
    while reply["status"] == "NO_TURN_YET":
        reply = await called(client, "play_in_person", auth_token=token)
    return reply


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


@pytest.mark.processes
@every_era
def test_a_client_without_http_plays_over_the_bridge(era: Any) -> None:
    async def main() -> None:
        async with league_of_two() as (league, season):
            async with (
                Client(league.url) as direct,
                Client(bridged(league.url), mode=era) as client,
            ):
                there, here = await direct.list_tools(), await client.list_tools()
                # The bridge can show forms, so the league lists the tool for persons to it.
                names = {tool.name for tool in there.tools}
                assert {tool.name for tool in here.tools} == names | {"play_in_person"}
                about = client.server_info  # the newer era does not ask for it
                assert about.version if about else era == "2026-07-28"
                assert (await client.list_prompts()).prompts == (
                    await direct.list_prompts()
                ).prompts
                ref = types.ResourceTemplateReference(uri="league://players/{player_id}")
                found = await client.complete(ref, {"name": "player_id", "value": "P"})
                assert found.completion.values == ["P01"]
                shown = (await client.list_resources()).resources
                assert shown == (await direct.list_resources()).resources
                ended = await played(client, "Claude")
                assert ended["status"] == "LEAGUE_OVER"
            await season
            assert without_a_technical_loss(league)

    asyncio.run(main())


@pytest.mark.processes
def test_the_newer_era_hears_of_changes_across_the_bridge() -> None:
    async def main() -> None:
        async with league_of_two() as (league, season):
            async with (
                Client(bridged(league.url), mode="2026-07-28") as client,
                client.listen(resource_subscriptions=[STANDINGS]) as changes,
            ):
                await played(client, "Claude")
                event = await anext(aiter(changes))
                assert event.uri == STANDINGS  # type: ignore[union-attr]  # nothing else was asked for
            await season

    asyncio.run(main())


@pytest.mark.processes
@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
def test_the_older_era_hears_of_changes_across_the_bridge() -> None:
    async def main() -> None:
        changed = asyncio.Event()

        async def hear(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/resources/updated":
                changed.set()

        async with league_of_two() as (league, season):
            server = bridged(league.url)
            async with Client(server, mode="legacy", message_handler=hear) as client:
                await client.subscribe_resource(STANDINGS)
                await played(client, "Claude")
                await changed.wait()
            await season

    asyncio.run(main())


@pytest.mark.processes
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
