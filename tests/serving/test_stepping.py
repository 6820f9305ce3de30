"""A match is played step by step: by the organiser at the manager, or at the referee's own tools."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client

from agent_league.member import Member
from agent_league.store.events import SeasonStarted
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from serving.callers import complaint_of, in_league, spoken

Script = Callable[[HttpLeague, Client, str, Member], Awaitable[None]]
STEPS = ["collect_choices", "draw_number", "finalize_match"]


def with_a_match_by_hand(script: Script) -> None:
    """Begin a league of two players whose only match waits for its steps."""

    async def main(league: HttpLeague) -> None:
        token = await league.manager.organiser.appoint()
        referee = await league.add_referee()
        for strategy in ("always_even", "always_odd"):
            await league.add_player(strategy)
        started = asyncio.Event()
        league.events.when_kept(SeasonStarted, lambda event: started.set())
        async with spoken(league.url, "auto") as client:
            await called(client, "pause_league", auth_token=token)
            season = asyncio.ensure_future(league.play())
            await called(client, "start_league", auth_token=token)
            await started.wait()
            await called(client, "play_by_hand", match_id="R1M1", auth_token=token)
            await called(client, "resume_league", auth_token=token)
            await script(league, client, token, referee)
        await season
        (ended,) = league.manager.season.results.values()
        assert ended.termination == "completed"
        assert ended.winner in {"P01", "P02"}

    in_league(main, awaited_players=None)


async def called(client: Client, tool: str, **arguments: Json) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, complaint_of(result)
    return result.structured_content


def test_the_organiser_takes_a_match_step_by_step_to_its_result() -> None:
    async def script(league: HttpLeague, client: Client, token: str, referee: Member) -> None:
        order = {"match_id": "R1M1", "auth_token": token}
        steps = [await called(client, "step_match", **order) for _ in STEPS]
        assert [one["step"] for one in steps] == STEPS
        assert [one.get("state") for one in steps] == ["DRAWING_NUMBER", "FINISHED", None]
        assert steps[-1]["game_result"]["status"] == "WIN"

    with_a_match_by_hand(script)


def test_the_tools_of_the_referee_take_the_steps_with_the_ticket_of_the_order() -> None:
    """As a person does it in MCP Inspector; the order itself may be sent by hand too."""

    async def script(league: HttpLeague, client: Client, token: str, referee: Member) -> None:
        shown = await called(client, "get_order", match_id="R1M1", auth_token=token)
        assert shown["referee_endpoint"] == referee.endpoint
        order = shown["order"]
        assert order["auto"] is False
        async with spoken(shown["referee_endpoint"], "auto") as inspector:
            accepted = await called(inspector, "start_match", **order)
            assert accepted["status"] == "ACCEPTED"
            for step in STEPS:
                await called(inspector, step, match_id="R1M1", ticket=order["ticket"])

    with_a_match_by_hand(script)


def test_steps_are_taken_from_whoever_may_take_them_and_no_other_match_is_stepped() -> None:
    async def script(league: HttpLeague, client: Client, token: str, referee: Member) -> None:
        for tool in ("play_by_hand", "get_order", "step_match"):
            for wrong, code in (({}, "E011"), ({"auth_token": "x"}, "E012")):
                refused = await client.call_tool(tool, {"match_id": "R1M1", **wrong})
                assert complaint_of(refused)["error_code"] == code
            unknown = await client.call_tool(tool, {"match_id": "R9M9", "auth_token": token})
            assert complaint_of(unknown)["error_code"] == "E015"
        async with spoken(referee.endpoint, "auto") as stranger:
            guess = {"match_id": "R1M1", "ticket": "tkt_guessed"}
            refused = await stranger.call_tool("collect_choices", guess)
            assert complaint_of(refused)["error_code"] == "E012"
        for _ in STEPS:
            await called(client, "step_match", match_id="R1M1", auth_token=token)

    with_a_match_by_hand(script)


@pytest.mark.parametrize("stage", ["REGISTRATION", "PLAYING"])
def test_a_match_that_cannot_be_chosen_is_refused_with_the_reason(stage: str) -> None:
    async def main(league: HttpLeague) -> None:
        token = await league.manager.organiser.appoint()
        await league.add_referee()
        for _ in range(2):
            await league.add_player()
        if stage == "PLAYING":
            await league.play()
        async with spoken(league.url, "auto") as client:
            asked = {"match_id": "R1M1", "auth_token": token}
            complaint = complaint_of(await client.call_tool("play_by_hand", asked))
            assert complaint["error_code"] == "E025"
            assert "there is no schedule" in complaint["detail"]

    in_league(main, awaited_players=2, awaited_referees=1)
