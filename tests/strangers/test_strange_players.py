"""Players of other houses play with ours, and the league knows what each does otherwise."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from agent_league.journal import Journal
from agent_league.protocol import Role
from agent_league.store.events import AgentDisqualified
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague, played
from strangers.troupe import PLAYERS, UNHURRIED, Stranger, broken, registered, running


def league_of(*strangers: Stranger, ours: int = 1, strictness: str = "tolerant") -> HttpLeague:
    """Play a whole league of our players and *strangers*; return it as it ended."""

    async def script(league: HttpLeague) -> None:
        async with AsyncExitStack() as stack:
            await league.add_referee()
            for _ in range(ours):
                await league.add_player()
            for stranger in strangers:
                await stack.enter_async_context(running(stranger.name, "--manager", league.url))
                if not (strictness == "strict" and stranger.refused):
                    known = len(league.manager.season.roster.of(Role.PLAYER))
                    await registered(league, Role.PLAYER, known + 1)
            await asyncio.sleep(1.0 if any(s.name == "claimer" for s in strangers) else 0.0)
            league.manager.conductor.start_now()
            await league.play(60.0)

    return played(script, patience=UNHURRIED, strictness=strictness, heartbeat=5.0, farewell=2.0)


@pytest.mark.parametrize("stranger", PLAYERS, ids=[one.name for one in PLAYERS])
def test_a_stranger_plays_without_a_technical_loss_and_its_habits_are_known(
    stranger: Stranger,
) -> None:
    league = league_of(stranger)
    results = league.manager.season.results.values()
    assert [ended.termination for ended in results] == ["completed"]
    habits = stranger.habits - ({"rate-limit"} if stranger.name == "okay" else set())
    assert broken(league) == {stranger.name: habits}


def test_all_strangers_play_a_whole_league_with_each_other() -> None:
    league = league_of(*PLAYERS, ours=0)
    season = league.manager.season
    assert season.played == len(PLAYERS) * (len(PLAYERS) - 1) // 2
    assert {ended.termination for ended in season.results.values()} == {"completed"}
    expected = {stranger.name: stranger.habits for stranger in PLAYERS}
    assert broken(league) == expected


STRICTLY_IN = [stranger for stranger in PLAYERS if not stranger.refused]


@pytest.mark.parametrize("stranger", STRICTLY_IN, ids=[one.name for one in STRICTLY_IN])
def test_a_strict_league_disqualifies_a_stranger_for_its_habits(stranger: Stranger) -> None:
    league = league_of(stranger, ours=2, strictness="strict")
    (out,) = [event for event in league.events if isinstance(event, AgentDisqualified)]
    season = league.manager.season
    assert season.roster[out.agent_id].display_name.lower() == stranger.name
    lost = [ended for ended in season.results.values() if ended.technical_losses]
    assert {tuple(ended.technical_losses) for ended in lost} == {(out.agent_id,)}
    assert len(lost) == 2
    assert lost[-1].termination == "disqualified"
    assert broken(league) == {stranger.name: stranger.strictly}


REFUSED = [stranger for stranger in PLAYERS if stranger.refused]


@pytest.mark.parametrize("stranger", REFUSED, ids=[one.name for one in REFUSED])
def test_a_strict_league_does_not_let_a_stranger_in_that_registers_in_its_own_way(
    stranger: Stranger,
) -> None:
    class Refusals(Journal):
        def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
            refused.extend(details.get("rules", []))

    async def main() -> None:
        async with HttpLeague(strictness="strict") as league:
            league.manager.journal = Refusals()
            async with running(stranger.name, "--manager", league.url) as process:
                # It cannot read the refusal, and falls over its own feet.
                assert await asyncio.wait_for(process.wait(), 20) != 0
            assert league.manager.season.roster.of(Role.PLAYER) == []

    refused: list[str] = []
    asyncio.run(main())
    assert set(refused) == stranger.strictly
