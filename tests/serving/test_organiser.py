"""What the organiser may do, and nobody else."""

import asyncio
from typing import Any

from mcp import Client

from agent_league.season.season import Season
from agent_league.store.events import Event, MatchEnded, MatchVoided
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from serving.callers import complaint_of, in_league, spoken

ORDERS: dict[str, dict[str, Json]] = {
    "create_schedule": {},
    "start_league": {},
    "pause_league": {},
    "resume_league": {},
    "void_match": {"match_id": "R1M1", "reason": "a test"},
}


async def ordered(league: HttpLeague, order: str, token: str | None, **more: Json) -> Any:
    async with spoken(league.url, "auto") as client:
        return await ordered_by(client, order, token, **more)


async def ordered_by(client: Client, order: str, token: str | None, **more: Json) -> Any:
    given = {**ORDERS[order], **more, **({"auth_token": token} if token else {})}
    return await client.call_tool(order, given)


def test_orders_are_taken_from_the_organiser_alone() -> None:
    async def refusal(client: Client, order: str, token: str | None) -> str:
        refused = await ordered_by(client, order, token)
        return str(complaint_of(refused)["error_code"])

    async def script(league: HttpLeague) -> None:
        player = await league.add_player()
        async with spoken(league.url, "auto") as client:
            nobody = {order: await refusal(client, order, "x") for order in ORDERS}
            assert nobody == dict.fromkeys(ORDERS, "E012")
            await league.manager.organiser.appoint()
            for order in ORDERS:
                codes = [await refusal(client, order, t) for t in (None, "x", player.token)]
                assert codes == ["E011", "E012", "E012"], order

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
        refused = await ordered(league, "start_league", token)
        assert complaint_of(refused)["error_code"] == "E025"

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
        await opened.wait()
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
        await first.wait()
        match_id = next(iter(season.results))
        for _ in range(2):  # saying it again changes nothing
            done = await ordered(league, "void_match", token, match_id=match_id)
            assert not done.is_error, done.content
        await ordered(league, "resume_league", token)
        await playing
        assert sum(row.played for row in season.standings()) == 2 * (len(season.results) - 1)
        late = await ordered(league, "void_match", token, match_id="R2M1")
        assert complaint_of(late)["error_code"] == "E025"
        again = Season(season.settings)
        for event in league.events:
            again.apply(event)
        assert again.standings() == season.standings()
        (voided,) = [e for e in league.events if isinstance(e, MatchVoided)]
        assert (voided.match_id, voided.why) == (match_id, "a test")

    in_league(script, awaited_players=3)
