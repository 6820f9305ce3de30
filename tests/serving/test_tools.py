"""How a tool is written down once, and what it may do while it is called."""

import asyncio
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from agent_league.agent import Agent
from agent_league.http.memory import Network
from agent_league.league import LeagueManager
from agent_league.offer import Caller, InputNeededError, Offer, ToolCard
from agent_league.player import Player
from agent_league.protocol import ErrorCode, ProtocolError, Role
from agent_league.referee import Referee
from agent_league.serving.tools import Served
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from serving.callers import MODES, in_league, sent, spoken

every_era = pytest.mark.parametrize("mode", MODES)
FORM = {"type": "object", "properties": {"move": {"type": "string"}}, "required": ["move"]}


def card(name: str, call: Any, **more: Any) -> ToolCard:
    return ToolCard(name, f"A tool to be tested: {name}.", call, slow=True, **more)


async def wait_a_while(arguments: dict[str, Json], caller: Caller) -> Json:
    for done in range(3):
        await caller.progress(done, 3, f"step {done}")
    return {"waited": True}


def ask_twice(arguments: dict[str, Json], caller: Caller) -> Json:
    for key in ("first", "second"):
        if key not in caller.answers:
            raise InputNeededError(key, f"Your {key} move?", FORM)
    return {key: answer["content"]["move"] for key, answer in caller.answers.items()}


def who(arguments: dict[str, Json], caller: Caller) -> Json:
    if caller.token is None:
        raise ProtocolError(ErrorCode.AUTH_TOKEN_MISSING, "auth_token: who are you?")
    return {"token": caller.token}


class Richer(LeagueManager):
    """A manager with tools that wait and ask."""

    def offer(self) -> Offer:
        offer = super().offer()
        mine = (card("wait", wait_a_while), card("ask", ask_twice), card("who", who))
        return replace(offer, tools=(*offer.tools, *mine))


async def richer(league: HttpLeague) -> str:
    return await league.serve(Richer(league.manager.settings, league.wire, league.events))


@every_era
def test_a_tool_says_how_far_it_has_come(mode: str) -> None:
    received: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        received.append((progress, total, message))

    async def script(league: HttpLeague) -> None:
        async with spoken(await richer(league), mode) as client:
            result = await client.call_tool("wait", {}, progress_callback=hear)
        assert result.structured_content == {"waited": True}
        assert received == [(n, 3, f"step {n}") for n in range(3)]

    in_league(script)


@every_era
def test_a_tool_asks_a_person_as_often_as_it_must(mode: str) -> None:
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"move": f"m{len(asked)}"})

    async def script(league: HttpLeague) -> None:
        async with spoken(await richer(league), mode, elicitation_callback=answer) as client:
            result = await client.call_tool("ask", {})
        assert result.structured_content == {"first": "m1", "second": "m2"}
        assert asked == ["Your first move?", "Your second move?"]

    in_league(script)


@every_era
def test_a_client_without_a_person_is_told_so(mode: str) -> None:
    async def script(league: HttpLeague) -> None:
        async with spoken(await richer(league), mode) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("ask", {})
        assert caught.value.error.code == -32021

    in_league(script)


def test_a_tool_is_called_in_the_league_dialect_too() -> None:
    async def script(league: HttpLeague) -> None:
        url, reply = await richer(league), {"content-type": "application/json"}
        body = b'{"jsonrpc":"2.0","id":1,"method":"%b","params":{"auth_token":"t"}}'
        assert (await sent(url, body % b"wait", reply)).frame["result"] == {"waited": True}
        assert (await sent(url, body % b"who", reply)).frame["result"] == {"token": "t"}

    in_league(script)


def test_two_tools_of_one_name_are_a_mistake() -> None:
    class Idle(Agent):
        role = Role.PLAYER

    offer = Offer(tools=[card("same", who), card("same", who)])
    with pytest.raises(ValueError, match="two tools"):
        assert Served(Idle("idle", Network()), offer, {}).tools


def test_every_tool_has_a_description_and_valid_schemas() -> None:
    async def script(league: HttpLeague) -> None:
        members = [await league.add_referee(), await league.add_player()]
        assert isinstance(members[0], Referee)
        assert isinstance(members[1], Player)
        for agent in (league.manager, *members):
            for tool in Served(agent, agent.offer(), agent.handlers()).tools.values():
                jsonschema.Draft202012Validator.check_schema(dict(tool.input_schema))
                jsonschema.Draft202012Validator.check_schema(dict(tool.output_schema))
                assert tool.description

    in_league(script)


def test_the_sdk_is_left_cleanly_when_its_first_caller_gives_up() -> None:
    async def main() -> None:
        async with HttpLeague() as league:
            giving_up = asyncio.ensure_future(
                sent(league.url, b"", {"accept": "text/event-stream"}, "GET")
            )
            await asyncio.sleep(0)
            giving_up.cancel()
            async with spoken(league.url, "auto") as client:
                assert (await client.list_tools()).tools

    asyncio.run(main())
