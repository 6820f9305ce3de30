"""The official client, in both eras of MCP, meets a league over real HTTP."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from agent_league.league.views import STANDINGS
from agent_league.player import Player
from agent_league.protocol.contracts import schemas
from agent_league.referee import Referee
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from serving.callers import MODES, bearing, complaint_of, in_league, spoken
from store.books import opened

every_era = pytest.mark.parametrize("mode", MODES)

SEED_TOOLS = {
    "manager": "register_referee register_player create_schedule report_match_result "
    "get_standings league_query",
    "referee": "register_to_league start_match collect_choices draw_number finalize_match",
    "player": "handle_game_invitation choose_parity notify_match_result",
}


async def played(league: HttpLeague, players: int = 2) -> None:
    await league.add_referee()
    for _ in range(players):
        await league.add_player()
    await league.play()


@every_era
def test_every_agent_lists_the_tools_that_the_seed_names_sorted_and_described(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        referee, player = await league.add_referee(), await league.add_player()
        assert isinstance(referee, Referee)
        assert isinstance(player, Player)
        urls = {
            "manager": league.url,
            "referee": referee.meta.contact_endpoint,
            "player": player.meta.contact_endpoint,
        }
        organiser = await league.manager.organiser.appoint()
        for role, url in urls.items():
            async with bearing(url, mode, organiser) as client:
                listed = (await client.list_tools()).tools
            names = [tool.name for tool in listed]
            assert names == sorted(names)
            assert set(SEED_TOOLS[role].split()) <= set(names)
            assert all(len(tool.description or "") > 20 and tool.title for tool in listed)
            assert all(tool.input_schema["type"] == "object" for tool in listed)

    in_league(script)


@every_era
def test_a_tool_answers_with_the_message_of_the_league_dialect(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        player = await league.add_player()
        async with spoken(league.url, mode) as client:
            asked: Json = {"query_type": "GET_STANDINGS", "query_params": {}}
            result = await client.call_tool("league_query", asked | {"auth_token": player.token})
        assert not result.is_error
        answer: Any = result.structured_content
        assert json.loads(result.content[0].text) == answer  # type: ignore[union-attr]  # it is text
        assert (answer["message_type"], answer["success"]) == ("LEAGUE_QUERY_RESPONSE", True)

    in_league(script)


@every_era
def test_a_league_error_is_a_result_that_a_model_can_read(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        async with spoken(league.url, mode) as client:
            result = await client.call_tool(
                "league_query", {"query_type": "GET_STANDINGS", "query_params": {}}
            )
        complaint = complaint_of(result)
        assert (complaint["message_type"], complaint["error_code"]) == ("LEAGUE_ERROR", "E011")

    in_league(script)


@every_era
def test_an_unknown_tool_is_an_error_of_the_protocol(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        async with spoken(league.url, mode) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("no_such_tool", {})
        assert caught.value.error.code == -32602

    in_league(script)


@every_era
def test_a_token_may_come_as_a_bearer_and_tells_who_speaks(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        player = await league.add_player()
        asked = {"query_type": "GET_PLAYER_STATS", "query_params": {"player_id": player.name}}
        async with bearing(league.url, mode, player.token) as client:
            result = await client.call_tool("league_query", asked)
        assert not result.is_error, result.content

    in_league(script)


@every_era
def test_everything_that_is_listed_can_be_read(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        await played(league)
        async with spoken(league.url, mode) as client:
            for resource in (await client.list_resources()).resources:
                content = (await client.read_resource(resource.uri)).contents[0]
                assert content.text  # type: ignore[union-attr]  # none of ours is binary
            templates = (await client.list_resource_templates()).resource_templates
            known = {"round_id": "1", "match_id": "R1M1", "player_id": "P01"}
            known["message_type"] = "GAME_OVER"
            for template in templates:
                uri = template.uri_template.format(**known)
                if not uri.endswith("transcript"):  # this league keeps none
                    assert (await client.read_resource(uri)).contents

    in_league(script, awaited_players=2)


@every_era
def test_what_is_not_there_cannot_be_read(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        async with spoken(league.url, mode) as client:
            for uri in (
                "league://nothing",
                "league://rounds/1",
                "league://matches/R1M1/transcript",
            ):
                with pytest.raises(MCPError) as caught:
                    await client.read_resource(uri)
                assert caught.value.error.code == -32602

    in_league(script)


def test_no_secret_can_be_read() -> None:
    async def script(league: HttpLeague) -> None:
        player = await league.add_player()
        token = await league.manager.organiser.appoint()
        async with spoken(league.url, "auto") as client:
            listed = (await client.list_resources()).resources
            texts = [str(await client.read_resource(resource.uri)) for resource in listed]
        secrets = [token, str(player.token), str(league.manager.season.organiser), "very secret"]
        assert not any(secret in text for secret in secrets for text in texts)

    in_league(script, seed="very secret")


@every_era
def test_the_schemas_that_can_be_read_are_those_of_the_protocol(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        async with spoken(league.url, mode) as client:
            content: Any = (await client.read_resource("league://schemas")).contents[0]
        assert json.loads(content.text) == schemas()

    in_league(script)


@every_era
def test_prompts_are_written_for_this_league(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        await played(league)
        async with spoken(league.url, mode) as client:
            names = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert names == {"play_league", "explain_match", "write_strategy"}
            notices: Any = (await client.get_prompt("explain_match", {"match_id": "R1M1"})).messages
            assert "P01" in notices[0].content.text
            for name in ("play_league", "write_strategy"):
                notices = (await client.get_prompt(name)).messages
                assert "even" in notices[0].content.text.lower()
            for name, given in (("explain_match", {"match_id": "R9M9"}), ("none", {})):
                with pytest.raises(MCPError):
                    await client.get_prompt(name, given)

    in_league(script, awaited_players=2)


@every_era
def test_arguments_are_completed_from_what_there_is(mode: str) -> None:
    from mcp_types import ResourceTemplateReference  # noqa: PLC0415 - only here

    async def script(league: HttpLeague) -> None:
        await played(league)
        ref = ResourceTemplateReference(uri="league://players/{player_id}")
        async with spoken(league.url, mode) as client:
            found = await client.complete(ref, {"name": "player_id", "value": "P0"})
        assert found.completion.values == ["P01", "P02"]

    in_league(script, awaited_players=2)


def test_the_newer_era_hears_that_the_standings_changed() -> None:
    async def script(league: HttpLeague) -> None:
        async with (
            spoken(league.url, "2026-07-28") as client,
            client.listen(resource_subscriptions=[STANDINGS]) as changes,
        ):
            await played(league)
            event = await anext(aiter(changes))
        assert event.uri == STANDINGS  # type: ignore[union-attr]  # only resources were asked for

    in_league(script, awaited_players=2)


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
def test_the_older_era_hears_that_the_standings_changed() -> None:
    async def script(league: HttpLeague) -> None:
        received: asyncio.Queue[Any] = asyncio.Queue()

        async def hear(message: Any) -> None:
            received.put_nowait(message)

        async with spoken(league.url, "legacy", message_handler=hear) as client:
            await client.subscribe_resource(STANDINGS)
            await played(league)
            while True:
                message = await received.get()
                if getattr(message, "method", "") == "notifications/resources/updated":
                    assert message.params.uri == STANDINGS
                    break

    in_league(script, awaited_players=2)


def test_a_league_is_played_while_clients_of_both_eras_ask() -> None:
    async def script(league: HttpLeague) -> None:
        async def ask(mode: str) -> int:
            asked = 0
            async with spoken(league.url, mode) as client:
                while not league.manager.season.results or asked < 3:
                    assert not (await client.call_tool("get_standings", {})).is_error
                    asked += 1
            return asked

        asking = asyncio.gather(*(ask(mode) for mode in MODES))
        await played(league, 4)
        assert min(await asking) >= 3
        assert not any(ended.technical_losses for ended in league.manager.season.results.values())

    in_league(script, awaited_players=4)


def test_what_was_said_in_a_match_can_be_read_when_it_is_over(tmp_path: Path) -> None:
    async def script(league: HttpLeague) -> None:
        async with opened(str(tmp_path / "league.db")) as store:
            await league.manager.open(store)
            await played(league)
            async with spoken(league.url, "auto") as client:
                uri = "league://matches/R1M1/transcript"
                content: Any = (await client.read_resource(uri)).contents[0]
        reply = json.loads(content.text)
        assert reply[0]["message"]["message_type"] == "GAME_INVITATION"
        assert "tok_" not in content.text
        assert "tkt_" not in content.text

    in_league(script, awaited_players=2)
