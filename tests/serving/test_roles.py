"""Which tools are listed to whom; every tool can be called by whoever knows its name."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from mcp_types import ElicitResult

from end_to_end.http_league import HttpLeague
from serving.callers import MODES, bearing, complaint_of, in_league, spoken

every_era = pytest.mark.parametrize("mode", MODES)

GUEST = {"join_league", "wait_for_turn", "make_move", "get_standings"}
PLAYER = GUEST | {"register_player", "league_query"}
REFEREE = GUEST | {"register_referee", "league_query", "report_match_result", "report_transcript"}
_ORDERS = """create_schedule start_league close_registration pause_league void_match replay_match disqualify_agent
reinstate_agent announce rotate_token play_by_hand get_order step_match end_league"""
ORGANISER = PLAYER | REFEREE | set(_ORDERS.split())

MAX_GUEST_CHARS = 4000
"""About a thousand tokens."""


async def fill_in(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="decline")


async def names_for(url: str, mode: str, token: str | None = None, **options: Any) -> set[str]:
    async with bearing(url, mode, token, **options) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


@every_era
def test_each_role_is_shown_the_tools_that_are_for_it(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        referee, player = await league.add_referee(), await league.add_player()
        organiser = await league.manager.organiser.appoint()
        async with spoken(league.url, mode) as client:
            joined: Any = await client.call_tool("join_league", {"display_name": "Guest"})
        guest = joined.structured_content["auth_token"]
        tokens: Mapping[str | None, set[str]] = {
            None: GUEST,
            "tok_of_nobody": GUEST,
            player.token: PLAYER,
            referee.token: REFEREE,
            organiser: ORGANISER,
        }
        for token, expected in tokens.items():
            assert expected <= await names_for(league.url, mode, token)
        assert await names_for(league.url, mode) == GUEST
        assert await names_for(league.url, mode, guest) == GUEST
        assert await names_for(league.url, mode, organiser) == ORGANISER

    in_league(script)


@every_era
def test_only_a_client_that_can_ask_a_person_is_shown_the_tool_for_that(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        shown = await names_for(league.url, mode, elicitation_callback=fill_in)
        assert shown == GUEST | {"play_in_person"}

    in_league(script)


@every_era
def test_a_tool_that_is_not_listed_can_be_called(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        organiser = await league.manager.organiser.appoint()
        player = await league.add_player()
        assert not isinstance(player, str)
        async with spoken(league.url, mode) as client:
            for order in ("pause_league", "resume_league", "create_schedule"):
                done = await client.call_tool(order, {"auth_token": organiser})
                assert not done.is_error, done.content
            refused = await client.call_tool("report_match_result", {})
            assert complaint_of(refused)["message_type"] == "LEAGUE_ERROR"

    in_league(script)


def test_pausing_and_going_on_is_one_tool() -> None:
    async def script(league: HttpLeague) -> None:
        organiser, season = await league.manager.organiser.appoint(), league.manager.season
        async with bearing(league.url, "auto", organiser) as client:
            for paused in (True, False):
                await client.call_tool("pause_league", {"paused": paused})
                assert season.paused is paused
            wrong = await client.call_tool("pause_league", {"paused": "yes"})
            assert complaint_of(wrong)["error_code"] == "E022"

    in_league(script)


def test_a_player_does_not_list_the_notices_that_only_the_protocol_needs() -> None:
    async def script(league: HttpLeague) -> None:
        player: Any = await league.add_player()
        assert await names_for(player.meta.contact_endpoint, "auto") == {
            "handle_game_invitation",
            "choose_parity",
            "choose_move",
            "notify_match_result",
        }

    in_league(script)


def test_what_a_guest_is_shown_costs_a_model_about_a_thousand_tokens() -> None:
    async def script(league: HttpLeague) -> None:
        async with spoken(league.url, "auto") as client:
            listed = (await client.list_tools()).tools
        shown = [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema}
            for t in listed
        ]
        assert len(msgspec.json.encode(shown)) < MAX_GUEST_CHARS
        assert [tool.output_schema for tool in listed] == [None] * len(listed)

    in_league(script)


@every_era
@pytest.mark.parametrize("arguments", [{}, {"auth_token": None}])
def test_a_token_of_null_is_none_and_the_bearer_counts(mode: str, arguments: Any) -> None:
    async def script(league: HttpLeague) -> None:
        player, organiser = await league.add_player(), await league.manager.organiser.appoint()
        query = {"query_type": "GET_STANDINGS", "query_params": {}}
        for token, tool, more in (
            (player.token, "league_query", query),
            (organiser, "pause_league", {}),
        ):
            async with bearing(league.url, mode, token) as client:
                done = await client.call_tool(tool, {**arguments, **more})
                assert not done.is_error, done.content

    in_league(script)
