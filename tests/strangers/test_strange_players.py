"""Third-party players play with ours, and the league notes how each one deviates."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from agent_league.agent_log import AgentLog
from agent_league.protocol import Role
from agent_league.store.events import AgentDisqualified
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague, played_with_programs
from strangers.third_party import (
    PLAYERS,
    UNHURRIED,
    ThirdParty,
    broken,
    registered,
    running,
    until,
)


def league_of(*agents: ThirdParty, ours: int = 1, strictness: str = "tolerant") -> HttpLeague:
    """Play a whole league of our players and *agents*; return it as it ended."""

    async def script(league: HttpLeague) -> None:
        async with AsyncExitStack() as stack:
            await league.add_referee()
            for _ in range(ours):
                await league.add_player()
            for agent in agents:
                await stack.enter_async_context(running(agent.name, "--manager", league.url))
                if not (strictness == "strict" and agent.refused):
                    known = len(league.manager.season.roster.of(Role.PLAYER))
                    await registered(league, Role.PLAYER, known + 1)
            if any(agent.name == "claimer" for agent in agents) and strictness == "tolerant":
                await until(league, lambda: "registered-expected" in broken(league)["claimer"])
            league.manager.season_runner.start_now()
            await league.play()

    return played_with_programs(
        script, patience=UNHURRIED, strictness=strictness, heartbeat=5.0, farewell=2.0
    )


@pytest.mark.parametrize("agent", PLAYERS, ids=[one.name for one in PLAYERS])
def test_a_third_party_player_plays_without_a_technical_loss_and_its_deviations_are_known(
    agent: ThirdParty,
) -> None:
    league = league_of(agent)
    results = league.manager.season.results.values()
    assert [ended.termination for ended in results] == ["completed"]
    deviations = agent.deviations - ({"rate-limit"} if agent.name == "okay" else set())
    assert broken(league) == {agent.name: deviations}


def test_all_third_party_players_play_a_whole_league_with_each_other() -> None:
    league = league_of(*PLAYERS, ours=0)
    season = league.manager.season
    assert season.played == len(PLAYERS) * (len(PLAYERS) - 1) // 2
    assert {ended.termination for ended in season.results.values()} == {"completed"}
    expected = {agent.name: agent.deviations for agent in PLAYERS}
    assert broken(league) == expected


STRICTLY_IN = [agent for agent in PLAYERS if not agent.refused]


@pytest.mark.parametrize("agent", STRICTLY_IN, ids=[one.name for one in STRICTLY_IN])
def test_a_strict_league_disqualifies_an_agent_for_its_deviations(agent: ThirdParty) -> None:
    league = league_of(agent, ours=2, strictness="strict")
    (out,) = [event for event in league.events if isinstance(event, AgentDisqualified)]
    season = league.manager.season
    assert season.roster[out.agent_id].display_name.lower() == agent.name
    lost = [ended for ended in season.results.values() if ended.technical_losses]
    assert {tuple(ended.technical_losses) for ended in lost} == {(out.agent_id,)}
    assert len(lost) == 2
    assert lost[-1].termination == "disqualified"
    assert broken(league) == {agent.name: agent.strictly}


REFUSED = [agent for agent in PLAYERS if agent.refused]


@pytest.mark.parametrize("agent", REFUSED, ids=[one.name for one in REFUSED])
def test_a_strict_league_does_not_admit_an_agent_that_registers_in_its_own_way(
    agent: ThirdParty,
) -> None:
    class Refusals(AgentLog):
        def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
            refused.extend(details.get("rules", []))

    async def main() -> None:
        async with HttpLeague(strictness="strict") as league:
            league.manager.agent_log = Refusals()
            async with running(agent.name, "--manager", league.url) as process:
                # It cannot read the refusal, and falls over its own feet.
                assert await asyncio.wait_for(process.wait(), 20) != 0
            assert league.manager.season.roster.of(Role.PLAYER) == []

    refused: list[str] = []
    asyncio.run(main())
    assert set(refused) == agent.strictly
