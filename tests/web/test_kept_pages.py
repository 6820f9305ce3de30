"""Every page works from a store alone, as HTML for people and as JSON for programs."""

import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from agent_league.http.exchange import Answer, PageRequest
from agent_league.running.event_loop import run
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import load_season
from agent_league.store.sqlite import SqliteStore
from agent_league.vocabulary import Json
from agent_league.web.kept_site import KeptSite
from agent_league.web.page import PAGES
from web.played import HOSTILE, PREFIX, get, get_json, play_league, with_pages

VARIABLES = {"match_id": "R1M1", "agent_id": "P01", "referee_id": "REF01"}
PATHS = sorted(
    path.format(**VARIABLES)
    for page in PAGES.values()
    if not page.only_live
    for path in (page.path, *page.aliases)
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "league.db"
    play_league(path)
    return path


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_html_for_a_browser_and_json_for_a_program(store: Path, path: str) -> None:
    async def look(site: KeptSite) -> tuple[Answer, Answer, Answer]:
        here = f"{PREFIX}{path}"
        dotted = f"{PREFIX}/live.json" if path == "/" else f"{here}.json"
        return await get(site, here), await get(site, here, html=False), await get(site, dotted)

    html, plain, dotted = with_pages(store, look)
    assert (html.status, html.content_type) == (200, "text/html; charset=utf-8")
    assert html.body.startswith(b"<!doctype html>")
    for twin in (plain, dotted):
        assert (twin.status, twin.content_type) == (200, "application/json")
        msgspec.json.decode(twin.body)


@pytest.mark.parametrize("path", PATHS)
def test_names_of_players_are_text_and_nothing_else(store: Path, path: str) -> None:
    page = with_pages(store, lambda site: get(site, f"{PREFIX}{path}"))
    found = Reader(page.body.decode())
    assert "script" not in found.tags[found.tags.index("body") :]
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"]
    assert "49" not in re.findall(r"שלום (\S+)", found.text)


def test_the_table_shows_every_hostile_name_as_it_was_given(store: Path) -> None:
    page = with_pages(store, lambda site: get(site, f"{PREFIX}/"))
    text = Reader(page.body.decode()).text
    assert [name for name in HOSTILE if name not in text] == []


def test_the_policy_lets_a_page_load_nothing_from_elsewhere(store: Path) -> None:
    page = with_pages(store, lambda site: get(site, f"{PREFIX}/"))
    headers = dict(page.headers)
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    places = re.findall(rb'(?:src|href|action)="([^"]*)"', page.body)
    assert [one for one in places if not one.startswith((b"/", b"#", b"?"))] == []


def test_the_page_of_a_match_has_every_message_of_its_transcript(store: Path) -> None:
    async def look(site: KeptSite) -> tuple[Answer, Json]:
        return await get(site, f"{PREFIX}/matches/R1M1"), await get_json(
            site, f"{PREFIX}/matches/R1M1"
        )

    html, data = with_pages(store, look)
    kept = msgspec.json.decode(run(read_transcript(store)))
    assert [one["content"] for one in data["messages"]] == [one["message"] for one in kept]
    assert html.body.count(b"<summary>") == len(kept)
    replies = [one for one in data["messages"] if one["took_ms"] is not None]
    assert replies
    assert all(0 <= one["took_ms"] <= one["limit_ms"] for one in replies)
    assert b"curl -s" in html.body
    assert b"Copy as curl" in html.body


async def read_transcript(path: Path) -> str:
    store = SqliteStore(path)
    try:
        return await store.transcript("league_2025_even_odd", "R1M1") or ""
    finally:
        await store.close()


def test_the_pages_agree_with_the_season(store: Path) -> None:
    async def look(site: KeptSite) -> tuple[Json, Json, Json]:
        return (
            await get_json(site, f"{PREFIX}/live"),
            await get_json(site, f"{PREFIX}/crosstable"),
            await get_json(site, f"{PREFIX}/agents/P01"),
        )

    async def load() -> list[tuple[str, int]]:
        opened = SqliteStore(store)
        try:
            settings = LeagueSettings.read(await opened.settings("league_2025_even_odd"))
            season = await load_season(opened, settings, whole=True)
            return [(row.player_id, row.points) for row in season.standings()]
        finally:
            await opened.close()

    live, cross, agent = with_pages(store, look)
    expected = run(load())
    assert [(row["id"], row["points"]) for row in live["standings"]] == expected
    assert [(row["id"], row["points"]) for row in cross["rows"]] == expected
    wins = {
        row["id"]: sum(mark == "W" for cell in row["cells"] for _, mark in cell)
        for row in cross["rows"]
    }
    assert wins == {row["id"]: row["wins"] for row in live["standings"]}
    assert len(agent["matches"]) == 3
    assert sum(agent["choices"].values()) == 3


@pytest.mark.parametrize(
    "path", ["/matches/R9M9", "/agents/P77", "/matches/%2e%2e", "/agents/REF01"]
)
def test_what_is_not_there_is_said_in_words(store: Path, path: str) -> None:
    page = with_pages(store, lambda site: get(site, f"{PREFIX}{path}"))
    assert page.status == 404
    assert b"nothing here" in page.body


def test_aliases_show_no_name_and_no_address_of_a_player(store: Path) -> None:
    async def look(site: KeptSite) -> bytes:
        paths = [path for path in PATHS if path != "/"]
        pages = [await get(site, f"{PREFIX}{path}") for path in PATHS]
        twins = [await get(site, f"{PREFIX}{path}", html=False) for path in paths]
        return b"".join(page.body for page in (*pages, *twins))

    everything = with_pages(store, look, aliases=True).decode()
    assert [name for name in HOSTILE if name in everything or escape(name) in everything] == []
    assert "127.0.0.1" not in everything
    assert "Amber Badger" in everything


def test_the_list_of_leagues_leads_to_each(store: Path) -> None:
    async def look(site: KeptSite) -> tuple[Answer, Json]:
        return await get(site, "/"), await get_json(site, "/leagues.json")

    html, data = with_pages(store, look)
    assert f'href="{PREFIX}/"'.encode() in html.body
    assert [row["is_over"] for row in data["leagues"]] == [True]


def test_files_of_pages_may_be_kept_for_ever_and_nothing_else_is_read(store: Path) -> None:
    async def look(site: KeptSite) -> tuple[Answer, object]:
        return await get(site, "/static/style.css"), site.show(PageRequest("/static/../site.py"))

    style, outside = with_pages(store, look)
    assert style.content_type == "text/css; charset=utf-8"
    assert "immutable" in dict(style.headers)["cache-control"]
    assert outside is None
