"""What the organiser may do, and nobody else."""

import asyncio
from typing import Any

import pytest

from agent_league.league.season import Season
from agent_league.store.events import Event, MatchEnded, MatchVoided
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from mcp_server.callers import in_league, spoken

ORDERS: dict[str, dict[str, Json]] = {
    "create_schedule": {},
    "start_league": {},
    "pause_league": {},
    "resume_league": {},
    "void_match": {"match_id": "R1M1", "reason": "a test"},
}


async def ordered(league: HttpLeague, order: str, token: str | None, **more: Json) -> Any:
    given = {**ORDERS[order], **more, **({"auth_token": token} if token else {})}
    async with spoken(league.url, "auto") as client:
        return await client.call_tool(order, given)


@pytest.mark.parametrize("order", ORDERS)
def test_orders_are_taken_from_the_organiser_alone(order: str) -> None:
    async def script(league: HttpLeague) -> None:
        player = await league.add_player()
        codes = [(await ordered(league, order, "x")).structured_content["error_code"]]
        await league.manager.organiser.appoint()
        for token in (None, "x", player.token):
            refused = await ordered(league, order, token)
            assert refused.is_error
            codes.append(refused.structured_content["error_code"])
        assert codes == ["E012", "E011", "E012", "E012"]

    in_league(script)


def test_a_new_organiser_replaces_the_old_one() -> None:
    async def script(league: HttpLeague) -> None:
        old = await league.manager.organiser.appoint()
        new = await league.manager.organiser.appoint()
        assert (await ordered(league, "pause_league", old)).is_error
        assert not (await ordered(league, "pause_league", new)).is_error

    in_league(script)


def test_the_schedule_is_drawn_for_those_who_are_there_and_final_once_begun() -> None:
    async def script(league: HttpLeague) -> None:
        token = await league.manager.organiser.appoint()
        await league.add_referee()
        for _ in range(3):
            await league.add_player()
        before = (await ordered(league, "create_schedule", token)).structured_content
        assert not before["final"]
        assert not (await ordered(league, "start_league", token)).is_error
        await league.play()
        after = (await ordered(league, "create_schedule", token)).structured_content
        assert after["final"]
        assert [_pairs(r) for r in before["rounds"]] == [_pairs(r) for r in after["rounds"]]

    in_league(script)


def _pairs(round_: Any) -> list[tuple[str, str]]:
    return [(match["player_A_id"], match["player_B_id"]) for match in round_["matches"]]


def test_a_league_of_too_few_does_not_start() -> None:
    async def script(league: HttpLeague) -> None:
        token = await league.manager.organiser.appoint()
        await league.add_player()
        refused = (await ordered(league, "start_league", token)).structured_content
        assert refused["error_code"] == "E025"

    in_league(script)


def test_no_match_begins_while_the_league_is_paused() -> None:
    async def script(league: HttpLeague) -> None:
        token, season = await league.manager.organiser.appoint(), league.manager.season
        await ordered(league, "pause_league", token)
        await league.add_referee()
        for _ in range(2):
            await league.add_player()
        playing = asyncio.ensure_future(league.play())
        opened = asyncio.Event()
        league.events.listen(lambda event: opened.set() if season.round_id else None)
        await asyncio.wait_for(opened.wait(), 10)
        async with spoken(league.url, "auto") as client:
            for _ in range(5):  # each a round trip over the network: time enough to begin
                assert (await client.call_tool("get_standings", {})).structured_content
        assert season.paused
        assert not season.assignments
        await ordered(league, "resume_league", token)
        await playing
        assert len(season.results) == 1

    in_league(script, awaited_players=2)


def test_a_voided_match_does_not_count_and_stays_in_the_record() -> None:
    async def script(league: HttpLeague) -> None:
        token, season = await league.manager.organiser.appoint(), league.manager.season
        await league.add_referee()
        for _ in range(3):
            await league.add_player()
        first = asyncio.Event()

        def hold(event: Event) -> None:
            if isinstance(event, MatchEnded) and not first.is_set():
                season.paused = True  # at once, or the season might be over before we void anything
                first.set()

        league.events.listen(hold)
        playing = asyncio.ensure_future(league.play())
        await asyncio.wait_for(first.wait(), 10)
        match_id = next(iter(season.results))
        for _ in range(2):  # saying it again changes nothing
            done = await ordered(league, "void_match", token, match_id=match_id)
            assert not done.is_error, done.structured_content
        await ordered(league, "resume_league", token)
        await playing
        assert sum(row.played for row in season.standings()) == 2 * (len(season.results) - 1)
        late = await ordered(league, "void_match", token, match_id="R2M1")
        assert late.structured_content["error_code"] == "E025"
        again = Season(season.settings)
        for event in league.events:
            again.apply(event)
        assert again.standings() == season.standings()
        (voided,) = [e for e in league.events if isinstance(e, MatchVoided)]
        assert (voided.match_id, voided.why) == (match_id, "a test")

    in_league(script, awaited_players=3)
