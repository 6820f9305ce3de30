"""Whoever follows a league learns how it ended, even if the league closes at once."""

import asyncio

import pytest

from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AnnouncementMade, Event, SeasonEnded
from agent_league.web.followers import PATIENCE, Followers
from agent_league.web.league_view import LeagueView
from agent_league.web.pages.events import load
from agent_league.web.records import RememberedRecords
from timewarp import run

NOON = "2025-01-15T12:00:00.000Z"
NEWS = AnnouncementMade(at=NOON, text="lunch")
END = SeasonEnded(at=NOON, champion="P01")


async def measure_wait(followers: Followers) -> float:
    """Return how many seconds the end of the league waits for *followers*."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    await followers.wait_for_requests()
    return loop.time() - began


def test_a_league_without_followers_ends_at_once() -> None:
    assert run(measure_wait(Followers())) == 0


def test_the_end_waits_until_everybody_who_was_just_told_has_asked_again() -> None:
    async def main() -> float:
        followers = Followers()
        followers.note_answer(7)
        followers.note_answer(7)
        waiting = asyncio.ensure_future(measure_wait(followers))
        await asyncio.sleep(0.2)
        followers.note_request(7)
        await asyncio.sleep(0.2)
        assert not waiting.done()
        followers.note_request(7)
        return await waiting

    assert run(main()) == pytest.approx(0.4)


def test_nobody_waits_for_a_follower_that_has_left() -> None:
    async def main() -> tuple[float, float]:
        followers = Followers()
        followers.note_answer(7)
        return await measure_wait(followers), await measure_wait(followers)

    first, second = run(main())
    assert first == pytest.approx(PATIENCE)
    assert second < PATIENCE / 10


@pytest.mark.parametrize(
    ("happened", "query", "is_awaited"),
    [
        ([NEWS], {"wait": ""}, True),
        ([NEWS, END], {"wait": ""}, False),
        ([NEWS], {}, False),
    ],
)
def test_who_waits_for_news_is_expected_again_until_it_knows_the_end(
    happened: list[Event], query: dict[str, str], is_awaited: bool
) -> None:
    async def main() -> float:
        season = Season(LeagueSettings(seed="7"))
        records = RememberedRecords(season)
        records.events.extend(happened)
        view = LeagueView(season, records)
        await load(view, {"after": "0", **query})
        return await measure_wait(view.followers)

    assert (run(main()) > 0) == is_awaited
