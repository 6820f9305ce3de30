"""Every page can be seen at every stage of a league: after each event that can happen."""

import asyncio

from agent_league.http.exchange import Answer, PageRequest
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.web.league_view import LeagueView
from agent_league.web.page import list_pages
from agent_league.web.records import RememberedRecords
from agent_league.web.site import LeagueSite
from store.samples import STORED
from web.played import HTML

VARIABLES = {"match_id": "R1M1", "agent_id": "P01", "referee_id": "REF01"}
PATHS = [one.path.format(**VARIABLES) for one in list_pages()]


def test_every_page_can_be_seen_after_every_event() -> None:
    season = Season(LeagueSettings(seed="7"))
    view = LeagueView(season, RememberedRecords(season))
    view.find_gauges = dict
    site = LeagueSite(view)

    async def look(path: str) -> Answer:
        shown = site.show(PageRequest(path, b"", HTML))
        assert shown is not None
        assert not hasattr(shown, "chunks")
        return await shown if not isinstance(shown, Answer) else shown

    async def look_at_all() -> None:
        for path in [*PATHS, "/matches/R3M1"]:
            page = await look(path)
            assert page.status in {200, 404}
            assert b"<h1" in page.body

    asyncio.run(look_at_all())
    for stored in STORED:
        season.apply(stored.event)
        view.note(stored.seq, stored.event)
        asyncio.run(look_at_all())


def test_a_match_that_has_not_begun_says_so() -> None:
    season = Season(LeagueSettings(seed="7"))
    view = LeagueView(season, RememberedRecords(season))
    started = next(n for n, one in enumerate(STORED) if type(one.event).__name__ == "RoundOpened")
    for stored in STORED[: started + 1]:
        season.apply(stored.event)
    answer = LeagueSite(view).show(PageRequest("/matches/R1M1", b"", HTML))

    async def look() -> Answer:
        return await answer  # type: ignore[misc, no-any-return]  # it is no stream

    assert b"shown when it is over" in asyncio.run(look()).body
