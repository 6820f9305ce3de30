"""A league that was played over HTTP and kept in a store, and its pages."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from agent_league.http.exchange import Answer, PageRequest
from agent_league.player import Player, load_brain
from agent_league.protocol.registration import PlayerMeta
from agent_league.store.sqlite import SqliteStore
from agent_league.vocabulary import Json
from agent_league.web.kept_site import KeptSite
from end_to_end.http_league import HttpLeague

T = TypeVar("T")
HTML = ((b"accept", b"text/html,application/xhtml+xml"),)
PREFIX = "/leagues/league_2025_even_odd"
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "\"'><script>alert(2)</script>",
    "שלום {{7*7}} &amp; [/]",
    '=HYPERLINK("http://evil")',
)


def play_league(path: Path, names: Sequence[str] = HOSTILE) -> None:
    """Play a league whose players have *names*, and keep it in a store at *path*."""

    async def main() -> None:
        league = HttpLeague(awaited_players=len(names))
        league.store = SqliteStore(path)
        async with league:
            await league.add_referee()
            for name in names:
                await add_player(league, name)
            await league.play()
        await league.store.close()

    asyncio.run(main())


async def add_player(league: HttpLeague, name: str, strategy: str = "random") -> None:
    def make(url: str) -> Player:
        meta = PlayerMeta(
            display_name=name, version="1.0.0", game_types=["even_odd"], contact_endpoint=url
        )
        brain = load_brain(strategy)
        return Player("honest", league.wire, league.url, meta=meta, brain=brain, seed=name)

    await league.join(make)


def with_pages(path: Path, work: Callable[[KeptSite], Awaitable[T]], *, aliases: bool = False) -> T:
    """Return what *work* makes of the pages of the store at *path*."""

    async def main() -> T:
        store = SqliteStore(path)
        try:
            site = KeptSite(store, aliases=aliases)
            await site.open()
            return await work(site)
        finally:
            await store.close()

    return asyncio.run(main())


async def get(site: KeptSite, path: str, query: bytes = b"", *, html: bool = True) -> Answer:
    """Return the answer to a browser, or else to a program."""
    found = site.show(PageRequest(path, query, HTML if html else ()))
    if isinstance(found, Answer):
        return found
    assert isinstance(found, Awaitable), f"nothing at {path}"
    return await found


async def get_json(site: KeptSite, path: str, query: bytes = b"") -> Json:
    answer = await get(site, path, query, html=False)
    assert answer.status == 200, answer
    return msgspec.json.decode(answer.body)
