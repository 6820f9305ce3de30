"""A league as files that open from a disk: the same pages, its data, and a poster."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from agent_league.protocol import Role
from agent_league.season.match_rows import MATCH_COLUMNS, make_match_row
from agent_league.season.season import Stage
from agent_league.store.events import Event, MatchEnded
from agent_league.store.log import StoredEvent
from agent_league.web.drawing.poster import draw_poster
from agent_league.web.league_view import Data, LeagueView, MatchLine, list_matches
from agent_league.web.page import PAGES, Arguments, Page, list_pages
from agent_league.web.pages.agent import Played, describe_player
from agent_league.web.pages.live import list_standings
from agent_league.web.pages.match import describe_match
from agent_league.web.pages.schedule import ROUNDS_AT_ONCE
from agent_league.web.records import Entry, Records
from agent_league.web.rendering import STATIC, render
from agent_league.web.site import make_context
from agent_league.web.tables import Tables

BATCH = 250
"""How many matches are read at once."""
MESSAGE_KEYS = (
    *("number", "at", "sender", "receiver", "kind", "type"),
    *("took_ms", "limit_ms", "attempt", "content"),
)
MESSAGE_COLUMNS = ("match_id", *MESSAGE_KEYS[:-1])
EVENT_COLUMNS = ("seq", "at", "event", "match_id", "agent_id")
STANDING_COLUMNS = ("rank", "id", "name", "played", "wins", "draws", "losses", "points", "form")


class ReportRecords:
    """All events of a league in memory, and its transcripts in its store."""

    def __init__(self, events: Sequence[StoredEvent], transcripts: Records) -> None:
        self.events = events
        self._transcripts = transcripts
        self._by_match: dict[str, list[Event]] = defaultdict(list)
        for stored in events:
            if match_id := getattr(stored.event, "match_id", None):
                self._by_match[match_id].append(stored.event)

    async def read_events(self, match_ids: Sequence[str]) -> list[Event]:
        return [event for one in match_ids for event in self._by_match.get(one, ())]

    async def read_transcripts(self, match_ids: Sequence[str]) -> Mapping[str, list[Entry]]:
        return await self._transcripts.read_transcripts(match_ids)

    async def read_log(self, after: int, limit: int) -> list[StoredEvent]:
        return list(self.events[after : after + limit])


class Report:
    """Writes the pages of one league, which *view* shows, into a folder."""

    def __init__(
        self, view: LeagueView, records: ReportRecords, out: Path, *, parquet: bool = False
    ) -> None:
        self._view, self._records, self._out = view, records, out
        self._tables = Tables(self._write, parquet=parquet)
        self._messages: list[Data] = []
        """All messages of all matches, for the data."""
        self._times: dict[str, list[float]] = defaultdict(list)
        """How long the answers of each player took."""
        self.files = 0

    async def write(self) -> None:
        """Write everything; files that are there already are replaced."""
        for name in ("matches", "agents", "referees", "docs", "static", "data"):
            (self._out / name).mkdir(parents=True, exist_ok=True)
        for path in STATIC.iterdir():
            self._write(f"static/{path.name}", path.read_bytes())
        await self._write_matches()
        self._write_players()
        await self._write_others()
        self._write_data()

    async def _write_matches(self) -> None:
        page, written = PAGES["match"], 0
        lines = list(list_matches(self._view.season))
        async for ids, transcripts in self._read_transcripts([one.match.match_id for one in lines]):
            for line, match_id in zip(lines[written:], ids, strict=False):
                known = await self._records.read_events([match_id])
                data = describe_match(self._view, line, known, transcripts.get(match_id, ()))
                for message in data["messages"]:
                    self._messages.append({key: message[key] for key in MESSAGE_KEYS})
                    self._messages[-1]["match_id"] = match_id
                    if message["took_ms"] is not None and message["kind"] == "message":
                        self._times[message["sender"]].append(message["took_ms"])
                self._write_page(page, f"/matches/{match_id}", data)
            written += len(ids)

    async def _read_transcripts(
        self, match_ids: Sequence[str]
    ) -> AsyncIterator[tuple[Sequence[str], Mapping[str, list[Entry]]]]:
        for start in range(0, len(match_ids), BATCH):
            ids = match_ids[start : start + BATCH]
            yield ids, await self._records.read_transcripts(ids)

    def _write_players(self) -> None:
        season = self._view.season
        rows = {row["id"]: row for row in list_standings(self._view)}
        lines: dict[str, list[MatchLine]] = defaultdict(list)
        results: dict[str, dict[str, MatchEnded]] = defaultdict(dict)
        for line in list_matches(season):
            ended = season.results.get(line.match.match_id)
            for player in (line.match.first, line.match.second):
                lines[player].append(line)
                if ended is not None:
                    results[player][ended.match_id] = ended
        for entry in season.roster.of(Role.PLAYER):
            player = entry.agent_id
            times = self._times[f"player:{player}"]
            played = Played(rows.get(player), lines[player], results[player], times)
            data = describe_player(self._view, entry, played)
            self._write_page(PAGES["agent"], f"/agents/{player}", data)

    async def _write_others(self) -> None:
        for entry in self._view.season.roster.of(Role.REFEREE):
            arguments = {"referee_id": entry.agent_id}
            await self._write_loaded(PAGES["referee"], f"/referees/{entry.agent_id}", arguments)
        for start in range(1, max(2, self._view.season.total_rounds + 1), ROUNDS_AT_ONCE):
            path = f"/schedule?from={start}"
            await self._write_loaded(PAGES["schedule"], path, {"from": str(start)})
        for page in list_pages():
            if "{" not in page.path and not page.only_live and page is not PAGES["schedule"]:
                await self._write_loaded(page, page.path, {})

    async def _write_loaded(self, page: Page, path: str, arguments: Arguments) -> None:
        data = await page.load(self._view, arguments)
        if data is not None:
            self._write_page(page, path, data)

    def _write_page(self, page: Page, path: str, data: Data) -> None:
        place = find_file(path)
        up = "../" * place.count("/")
        context = make_context(self._view, page.title, page.path)
        context |= {"is_static": True, "is_followed": False, "follows": False, "home": None}
        html = render(page.template, lambda where: up + find_file(where), context | data)
        self._write(place, html.encode())

    def _write_data(self) -> None:
        view, season = self._view, self._view.season
        standings = list_standings(view)
        results = [
            stored.event for stored in self._records.events if isinstance(stored.event, MatchEnded)
        ]
        names = view.names()
        matches = [make_match_row(season, ended, names) for ended in results]
        tables = self._tables
        tables.write_table("standings", STANDING_COLUMNS, standings)
        tables.write_table("matches", MATCH_COLUMNS, matches)
        events = [{"seq": one.seq, **view.publish(one.event)} for one in self._records.events]
        tables.write_lines("events", EVENT_COLUMNS, events)
        tables.write_lines("messages", MESSAGE_COLUMNS, self._messages)
        facts = {
            "league_id": season.settings.league_id,
            "game_type": season.settings.game_type,
            "is_over": season.stage is Stage.COMPLETED,
            "players": len(standings),
            "matches": season.played,
            "date": results[-1].at[:10] if results else "not played yet",
        }
        self._write("poster.svg", draw_poster(facts, standings).encode())

    def _write(self, name: str, content: bytes) -> None:
        (self._out / name).write_bytes(content)
        self.files += 1


@cache
def find_file(path: str) -> str:
    """Return the file of a page, or of what pages share, from its path in a league."""
    if path.startswith("/static/"):
        return path.removeprefix("/")
    if path == "/":
        return "index.html"
    plain, _, query = path.removeprefix("/").partition("?from=")
    return f"{plain}{'' if query in {'', '1'} else f'-{query}'}.html"
