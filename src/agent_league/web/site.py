"""The pages of one league: finds the page of a request, and answers with HTML or JSON."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from agent_league.http.exchange import (
    MISSING,
    Answer,
    PageAnswer,
    PageRequest,
    StreamedAnswer,
)
from agent_league.offer import compile_address
from agent_league.season.season import Stage
from agent_league.web.broadcast import Broadcast, Kind, Regions
from agent_league.web.league_view import Data, LeagueView
from agent_league.web.packing import takes_gzip
from agent_league.web.page import Page, list_pages
from agent_league.web.pages.live import describe_live
from agent_league.web.rendering import hash_asset, read_asset, render

HTML = "text/html; charset=utf-8"
TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""A page loads and does only what comes from this server: no text of an agent can be a script."""
SAFE = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-cache"),
    ("vary", "accept"),
)
_FOR_EVER = (("cache-control", "public, max-age=31536000, immutable"), *SAFE[:3])
_STREAM = (
    ("cache-control", "no-store"),
    ("x-accel-buffering", "no"),
    ("vary", "accept-encoding"),
)
LIVE_REGIONS = ("round", "podium", "playing", "table", "news")
"""The parts of the live page that the stream updates; each is a template of its own."""
KEPT_PAGES = 64
REST, LONGEST_REST = 20, 2.0
"""A page that took long to make is shown again for so many times that long, up to so many seconds."""


@dataclass(frozen=True)
class _Kept:
    """A page as it was made, to be shown to everybody who asks soon after."""

    body: bytes
    seq: int
    until: float


class LeagueSite:
    """The pages of one league."""

    def __init__(
        self,
        view: LeagueView,
        prefix: str = "",
        *,
        home: str | None = None,
        catch_up: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._view, self.prefix, self._home = view, prefix, home
        self._catch_up = catch_up
        self.broadcast = Broadcast(view, self._render_regions, catch_up)
        self._kept: dict[tuple[str, bytes, bool], _Kept] = {}
        paths = [(path, one) for one in list_pages() for path in (one.path, *one.aliases)]
        self._pages = [(compile_address(path), one) for path, one in paths]

    def show_any(self, request: PageRequest) -> PageAnswer | None:
        """Answer a request for a page, or for a file that all pages share."""
        return show_asset(request) or self.show(request)

    def show(self, request: PageRequest) -> PageAnswer | None:
        """Answer a request; None if there is no page of that path, which has no prefix."""
        path = request.path or "/"
        if path == "/stream":
            kind: Kind = "regions" if b"live" in request.query else "tick"
            return self._stream(kind, packed=takes_gzip(request))
        as_html = wants_html(request)
        if path == MISSING:
            return self._make_missing(is_html=True) if as_html else None
        plain = path.removesuffix(".json").rstrip("/") or "/"
        found = self._find(plain)
        if found is None:
            return None
        page, variables = found
        is_at_agent = self._view.is_live or not self.prefix
        is_agents_own = is_at_agent and plain == path and _is_told_by_agent(plain)
        if not as_html and is_agents_own and not self._view.hides_names:
            return None
        is_html = as_html and not path.endswith(".json")
        query = dict(parse_qsl(request.query.decode("ascii", "replace"), max_num_fields=20))
        key = (plain, request.query, is_html)
        return self._answer(page, {**query, **variables}, key)

    def _stream(self, kind: Kind, *, packed: bool) -> StreamedAnswer:
        chunks = self.broadcast.follow_packed(kind) if packed else self.broadcast.follow(kind)
        headers = (*_STREAM, ("content-encoding", "gzip")) if packed else _STREAM
        return StreamedAnswer(chunks, "text/event-stream; charset=utf-8", headers)

    def _find(self, path: str) -> tuple[Page, Mapping[str, str]] | None:
        for pattern, page in self._pages:
            if found := pattern.fullmatch(path):
                return page, found.groupdict()
        return None

    async def _answer(
        self, page: Page, arguments: Mapping[str, str], key: tuple[str, bytes, bool]
    ) -> Answer:
        if self._catch_up is not None:
            await self._catch_up()
        kind, kept = HTML if key[2] else "application/json", self._kept.get(key)
        seq, started_at = self._view.seq, time.perf_counter()
        if kept is not None and (kept.seq == seq or self._may_wait(kept, started_at)):
            return Answer(200, kept.body, kind, SAFE)
        data = await page.load(self._view, arguments)
        if data is None:
            return self._make_missing(is_html=key[2])
        body = self._make_html(page, data) if key[2] else self._make_json(page, data)
        if page.is_shared:
            now = time.perf_counter()
            rest = min(LONGEST_REST, REST * (now - started_at))
            self._keep(key, _Kept(body, seq, now + rest))
        return Answer(200, body, kind, SAFE)

    def _may_wait(self, kept: _Kept, now: float) -> bool:
        """Whether readers may still see *kept*; how a league ended, everybody sees at once."""
        return kept.until > now and self._view.season.stage is not Stage.COMPLETED

    def _keep(self, key: tuple[str, bytes, bool], kept: _Kept) -> None:
        self._kept.pop(key, None)
        self._kept[key] = kept
        if len(self._kept) > KEPT_PAGES:
            del self._kept[next(iter(self._kept))]

    def _make_missing(self, *, is_html: bool) -> Answer:
        text = "There is nothing here: no page, match or agent of this league has that name."
        if not is_html:
            return Answer(404, msgspec.json.encode({"error": text}))
        context = {**self._make_context("Not found", "/missing"), "text": text}
        return Answer(404, render("missing.html", self.link, context).encode(), HTML, SAFE)

    def _make_json(self, page: Page, data: Data) -> bytes:
        is_own = page.document is None or self._view.hides_names
        return msgspec.json.encode(
            data if is_own or page.document is None else page.document(self._view)
        )

    def _make_html(self, page: Page, data: Data) -> bytes:
        context = self._make_context(page.title, page.path, follows=page.refreshes)
        return render(page.template, self.link, {**context, **data}).encode()

    def _make_context(self, title: str, path: str, *, follows: bool = False) -> dict[str, Any]:
        return make_context(self._view, title, path) | {
            "follows": follows and self._view.is_followed,
            "home": self._home,
        }

    def link(self, path: str) -> str:
        """Return the address of a page or a file."""
        if path.startswith("/static/"):
            return f"{path}?v={hash_asset(path.removeprefix('/static/'))}"
        return f"{self.prefix}{path}"

    def _render_regions(self) -> Regions:
        data = describe_live(self._view)
        context = {**self._make_context("Live", "/"), **data}
        return {name: render(f"live/{name}.html", self.link, context) for name in LIVE_REGIONS}


def _is_told_by_agent(path: str) -> bool:
    """Whether programs get from a manager at *path* what it has always told them there."""
    return path == "/" or path.startswith("/players/")


def make_context(view: LeagueView, title: str, path: str) -> dict[str, Any]:
    """Return what the frame around every page needs."""
    season = view.season
    shown = [one for one in list_pages() if view.is_live or not one.only_live]
    return {
        "title": title,
        "path": path,
        "league_id": season.settings.league_id,
        "game_type": season.settings.game_type,
        "stage": season.stage,
        "paused": season.paused,
        "announcement": season.announcement and season.announcement.text,
        "menu": [(one.menu[1], one.path) for one in shown if one.menu is not None],
        "is_followed": view.is_followed,
        "is_static": False,
        "seq": view.seq,
    }


def show_asset(request: PageRequest) -> Answer | None:
    """Answer the request of a file that all pages share."""
    path = "/static/favicon.svg" if request.path == "/favicon.ico" else request.path
    if not path.startswith("/static/"):
        return None
    body = read_asset(path.removeprefix("/static/"))
    return body and Answer(200, body, TYPES[path.rpartition(".")[2]], _FOR_EVER)  # type: ignore[return-value]  # no file is empty


def wants_html(request: PageRequest) -> bool:
    """Whether a browser asks: everybody else gets JSON."""
    return any(name == b"accept" and b"text/html" in value for name, value in request.headers)
