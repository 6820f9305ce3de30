"""A manager shows its league while it is played, and no move before its match is over."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from agent_league.http.client import HttpClient
from agent_league.season.season import Season, Stage
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import Event, MatchAssigned, MatchEnded
from agent_league.store.sqlite import SqliteStore
from agent_league.vocabulary import Json
from agent_league.web.league_view import LeagueView
from agent_league.web.live_site import LiveSite
from agent_league.web.pages.match import load
from agent_league.web.records import RememberedRecords
from end_to_end.http_league import HttpLeague
from serving.callers import sent
from store.samples import STORED
from web.played import add_player

BROWSER = {"accept": "text/html"}


def show_live(league: HttpLeague, *, aliases: bool = False) -> LiveSite:
    manager = league.manager
    site = LiveSite(manager.season, manager.events, manager.measure, aliases=aliases)
    manager.spectators = site
    return site


async def read_json(league: HttpLeague, path: str) -> Json:
    wire = HttpClient()
    try:
        # The first page of a process loads the templates, which takes long on a busy machine.
        answer = await wire.get(league.url.removesuffix("/mcp") + path, 60.0)
        return msgspec.json.decode(answer.body)
    finally:
        await wire.close()


def test_a_league_is_shown_from_registration_to_its_end() -> None:
    async def main() -> None:
        async with HttpLeague(awaited_players=3) as league:
            show_live(league)
            root = league.url.removesuffix("/mcp")
            await league.add_referee()
            await add_player(league, "Ada")
            page = await sent(root + "/", b"", BROWSER, "GET")
            assert b"Registration is open" in page.frame
            assert b"Ada" in page.frame
            await add_player(league, "Bob")
            await add_player(league, "Cem")
            await league.play()
            assert league.manager.season.stage is Stage.COMPLETED
            page = await sent(root + "/", b"", BROWSER, "GET")
            assert b"The league is over" in page.frame
            live = await read_json(league, "/live.json")
            rows = league.manager.season.standings()
            assert [row["points"] for row in live["standings"]] == [row.points for row in rows]

    asyncio.run(main())


def test_a_program_still_gets_what_the_agent_says_about_itself() -> None:
    async def main() -> None:
        async with HttpLeague() as league:
            show_live(league)
            about = await read_json(league, "/")
            assert (about["agent"], about["stage"]) == ("league_manager", "REGISTRATION")

    asyncio.run(main())


def test_a_league_with_aliases_tells_no_name_at_any_address() -> None:
    async def main() -> None:
        async with HttpLeague(awaited_players=2) as league:
            show_live(league, aliases=True)
            await league.add_referee()
            await add_player(league, "Ada Lovelace")
            await add_player(league, "Bob Ross")
            await league.play()
            root = league.url.removesuffix("/mcp")
            paths = ["/", "/live", "/standings", "/schedule", "/status", "/record", "/health"]
            paths += ["/players/P01", "/agents/P01", "/matches/R1M1", "/log", "/events", "/compare"]
            for path in [*paths, *(f"{one}.json" for one in paths[1:])]:
                for headers in (BROWSER, {}):
                    page = await sent(root + path, b"", headers, "GET")
                    told = [name for name in ("Ada", "Lovelace", "Bob") if name in str(page.frame)]
                    assert told == [], path
                    assert page.frame, path
            page = await sent(root + "/standings", b"", BROWSER, "GET")
            assert b"Amber Badger" in page.frame

    asyncio.run(main())


def test_no_move_is_shown_before_its_match_is_over() -> None:
    async def main() -> None:
        async with HttpLeague(awaited_players=2) as league:
            show_live(league)
            seen: list[Json] = []

            def look(event: object) -> None:
                if isinstance(event, MatchAssigned):
                    reading.append(asyncio.ensure_future(read_json(league, "/matches/R1M1.json")))

            reading: list[asyncio.Future[Json]] = []
            league.events.listen(look)
            await league.add_referee()
            await add_player(league, "Ada")
            await add_player(league, "Bob")
            await league.play()
            seen += [await one for one in reading]
            early = [one for one in seen if one["status"] == "SCHEDULED"]
            assert seen
            for one in early:
                assert (one["messages"], one["first"]["choice"], one["details"]) == ([], None, {})
            after = await read_json(league, "/matches/R1M1.json")
            assert after["first"]["choice"] in {"even", "odd"}

    asyncio.run(main())


class LateRecords(RememberedRecords):
    """Records that take so long to read that a match ends meanwhile."""

    def __init__(self, season: Season, ended: MatchEnded) -> None:
        super().__init__(season)
        self._ended = ended

    async def read_events(self, match_ids: Sequence[str]) -> list[Event]:
        before = await super().read_events(match_ids)
        self._season.apply(self._ended)
        return before


def test_a_match_that_ends_while_it_is_read_is_shown_as_over() -> None:
    events = [stored.event for stored in STORED]
    place = next(n for n, event in enumerate(events) if isinstance(event, MatchEnded))
    ended, season = events[place], Season(LeagueSettings(seed="7"))
    assert isinstance(ended, MatchEnded)
    for event in events[:place]:
        season.apply(event)
    view = LeagueView(season, LateRecords(season, ended))
    shown = asyncio.run(load(view, {"match_id": ended.match_id}))
    assert shown is not None
    assert (shown["status"], shown["state"]) == (ended.status, "over")


def test_a_monitoring_system_reads_the_numbers_of_the_league(tmp_path: Path) -> None:
    async def main() -> None:
        league, store = HttpLeague(awaited_players=3), SqliteStore(tmp_path / "league.db")
        league.store = store
        async with league:
            await show_live(league).open(store)
            await league.add_referee()
            for name in ("Ada", "Bob {x}", "Cem"):
                await add_player(league, name)
            await league.play()
            page = await sent(league.url.removesuffix("/mcp") + "/metrics", b"", {}, "GET")
            await store.close()
        samples = {
            (one.name, *sorted(one.labels.values())): one.value
            for family in text_string_to_metric_families(page.frame.decode())
            for one in family.samples
        }
        ended = [samples["league_matches_total", one] for one in ("win", "draw", "technical_loss")]
        assert sum(ended) == 3
        assert samples["league_agents", "player", "shutdown"] == 3
        assert samples["league_match_duration_seconds_count",] == 3
        assert samples["league_round",] == 3
        for message in ("GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"):
            assert samples["league_rpc_duration_seconds_count", message] == 6
        assert samples["league_unmeasured_matches_total",] == 0
        assert b"Bob" not in page.frame

    asyncio.run(main())


def test_a_person_who_asks_for_nothing_gets_a_page_and_a_program_an_error() -> None:
    async def main() -> None:
        async with HttpLeague() as league:
            show_live(league)
            root = league.url.removesuffix("/mcp")
            page = await sent(root + "/nowhere", b"", BROWSER, "GET")
            assert page.status == 404
            assert b"Back to the league" in page.frame
            error = await sent(root + "/nowhere", b"", {}, "GET")
            assert (error.status, error.frame) == (404, {"error": "there is nothing at /nowhere"})

    asyncio.run(main())
