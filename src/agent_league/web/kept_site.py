"""The leagues that a store keeps, as pages: no manager is needed, and nothing is written."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import msgspec

from agent_league.http.exchange import MISSING, Answer, PageAnswer, PageRequest
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import restore_latest
from agent_league.store.log import apply_events
from agent_league.store.store import LeagueRow, Store
from agent_league.web.league_view import LATEST, LeagueView
from agent_league.web.records import StoredRecords
from agent_league.web.rendering import hash_asset, render
from agent_league.web.site import HTML, SAFE, LeagueSite, show_asset, wants_html

MOST_READ = 16
"""How many leagues of a store are in memory at once."""
POLL_SECONDS = 0.4
"""Seconds between two looks for new events of a league that is played elsewhere."""
PREFIX = "/leagues/"
_LIST = frozenset({"/leagues", "/leagues/", "/leagues.json"})
_NOTHING = "There is nothing here: no page or league of this store has that name."


class KeptLeague:
    """One league of a store. If it has not ended, its events are read as they come."""

    def __init__(self, store: Store, row: LeagueRow, prefix: str, *, aliases: bool) -> None:
        settings = LeagueSettings.read(row.settings)
        self._store, self._league_id = store, row.league_id
        self._season = Season(settings)
        self.view = LeagueView(self._season, StoredRecords(store, row.league_id), aliases=aliases)
        self.view.follows_store = not row.ended
        self.site = LeagueSite(self.view, prefix, home="/leagues", catch_up=self.catch_up)
        self._is_read = False
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    async def catch_up(self) -> None:
        """Read what has happened since the last time."""
        async with self._reading:
            now = time.perf_counter()
            if self._is_read and (
                not self.view.follows_store or now - self._read_at < POLL_SECONDS
            ):
                return
            if not self._is_read:
                await self._begin()
            async for page in self._store.events(self._league_id, self.view.seq):
                apply_events(page, lambda stored: self._season.apply(stored.event))
                for stored in page:
                    self.view.note(stored.seq, stored.event)
            self._is_read, self._read_at = True, time.perf_counter()

    async def _begin(self) -> None:
        """Begin with the last snapshot, and with the events before it that pages still show."""
        view = self.view
        view.seq = await restore_latest(self._season, self._store)
        if view.seq:
            first = max(0, view.seq - LATEST)
            for stored in await view.records.read_log(first, view.seq - first):
                view.note(stored.seq, stored.event)


class KeptSite:
    """The pages of every league of a store."""

    def __init__(
        self,
        store: Store,
        *,
        front: str | None = None,
        aliases: bool = False,
        describe: Callable[[str], str | None] = lambda league_id: None,
    ) -> None:
        """*describe* tells how far a league is that is run here; None: it is not."""
        self._store, self._aliases, self._describe = store, aliases, describe
        self._front = front
        """The league whose pages are where a manager has them, if there is one."""
        self._leagues: dict[str, KeptLeague] = {}
        """Those that were looked at last; the others are read again when somebody asks."""

    async def open(self) -> None:
        """Find the league in front, if there is one."""
        if self._front is not None:
            await self._load(self._front)

    async def _load(self, league_id: str) -> bool:
        """Read a league of the store; False if there is none of that id."""
        rows = [row for row in await self._store.leagues() if row.league_id == league_id]
        for row in rows:
            prefix = "" if league_id == self._front else f"{PREFIX}{quote(league_id, safe='')}"
            league = KeptLeague(self._store, row, prefix, aliases=self._aliases)
            self._leagues[league_id] = league
        others = [one for one in self._leagues if one not in (league_id, self._front)]
        for one in others[: max(0, len(self._leagues) - MOST_READ)]:
            del self._leagues[one]
        return bool(rows)

    def show(self, request: PageRequest) -> PageAnswer | None:
        """Answer a request; None if there is no page of that path."""
        if asset := show_asset(request):
            return asset
        if request.path in _LIST or (request.path == "/" and self._front is None):
            return self._list_leagues(request)
        league_id, _, rest = request.path.removeprefix(PREFIX).partition("/")
        if request.path.startswith(PREFIX):
            return self._show_league(request, league_id, rest)
        if self._front:
            return self._leagues[self._front].site.show(request)
        return _make_missing(request) if request.path == MISSING else None

    def _show_league(self, request: PageRequest, league_id: str, rest: str) -> PageAnswer:
        """Answer a request for a page of one league."""
        league = self._leagues.get(league_id)
        if league is None:
            return self._look_again(request, league_id, rest)
        asked, missing = (request._replace(path=f"/{one}") for one in (rest, "404"))
        return league.site.show(asked) or league.site.show(missing) or _make_missing(request)

    async def _look_again(self, request: PageRequest, league_id: str, rest: str) -> Answer:
        """Answer a request for a league that has not been read yet."""
        found = self._show_league(request, league_id, rest) if await self._load(league_id) else None
        if isinstance(found, Awaitable):
            return await found
        return found if isinstance(found, Answer) else _make_missing(request)

    async def _list_leagues(self, request: PageRequest) -> Answer:
        kept = reversed(await self._store.leagues())
        rows = [
            {
                **describe_league(row, is_front=row.league_id == self._front),
                "state": self._describe(row.league_id),
            }
            for row in kept
        ]
        if not wants_html(request) or request.path.endswith(".json"):
            return Answer(200, msgspec.json.encode({"leagues": rows}), headers=SAFE)
        context = {**_FRAME, "title": "Leagues", "rows": rows}
        return Answer(200, render("leagues.html", _link, context).encode(), HTML, SAFE)


def _make_missing(request: PageRequest) -> Answer:
    """Return what somebody is told who asks for a page or a league that is not there."""
    if not wants_html(request):
        return Answer(404, msgspec.json.encode({"error": _NOTHING}), headers=SAFE)
    context = {**_FRAME, "title": "Not found", "text": _NOTHING}
    return Answer(404, render("missing.html", _link, context).encode(), HTML, SAFE)


def describe_league(row: LeagueRow, *, is_front: bool) -> dict[str, Any]:
    """Return what the list of leagues shows of one."""
    settings = LeagueSettings.read(row.settings)
    return {
        "league_id": row.league_id,
        "opened_at": row.opened_at,
        "game_type": settings.game_type,
        "matches": row.matches,
        "is_over": bool(row.ended),
        "path": "/" if is_front else f"{PREFIX}{quote(row.league_id, safe='')}/",
    }


def _link(path: str) -> str:
    return (
        f"{path}?v={hash_asset(path.rpartition('/')[2])}" if path.startswith("/static/") else path
    )


_FRAME: dict[str, Any] = {
    "path": "/leagues",
    "league_id": "Agent League",
    "game_type": "all leagues of this store",
    "stage": "",
    "announcement": None,
    "menu": [],
    "home": None,
    "is_followed": False,
    "is_static": False,
    "follows": False,
    "seq": 0,
}
