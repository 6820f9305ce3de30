"""What every store can do; `sqlite` and `postgres` say how a database does it."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from agent_league.store import schema
from agent_league.store.chain import Line, make_first_link, publish_settings
from agent_league.store.codec import decode_row, make_line
from agent_league.store.errors import StoreError
from agent_league.store.log import StoredEvent
from agent_league.store.queue import MatchQueue
from agent_league.store.writer import Writer

Durability: TypeAlias = Literal["power", "process"]
"""What is survived: the loss of power, or only the death of the process."""

PAGE = 10_000
RECORD_PAGE = 1_000
"""Fewer, because the messages of the matches come with them."""


class LeagueRow(NamedTuple):
    """A league that a store holds."""

    league_id: str
    opened_at: str
    settings: str
    matches: int
    ended: int
    """1 when its season has ended and everybody was told, else 0."""


class RecordedEvent(NamedTuple):
    """An event as it is stored."""

    line: Line
    columns: tuple[Any, Any, Any]
    """When it happened, its match and its key: each stands in the body, too."""
    body: str
    messages: str | None
    """The transcript of the match that it ends, as JSON."""


class Store(ABC):
    """Leagues, and what happened in each; every method may raise `StoreError`.

    Each league has one writer at a time. A database has to do no more than the abstract methods.
    """

    def __init__(self) -> None:
        self._writers: dict[str, Writer] = {}
        self._addresses: dict[str, str] = {}

    @property
    @abstractmethod
    def name(self) -> str:
        """Where it is, without any password."""

    @abstractmethod
    async def execute(self, sql: str, *parameters: Any) -> list[Any]:
        """Execute one statement in a transaction of its own; return the rows it selects."""

    @abstractmethod
    async def start_writer(self, league_id: str) -> Writer:
        """Lock the league for writing; the error says who holds the lock."""

    async def wait_for_turn(self, league_id: str) -> None:
        """Return when no living program leads the league."""
        raise StoreError(f"{self.name}: only a store in PostgreSQL can be shared by managers")

    async def announce(self, league_id: str, address: str) -> None:
        """Tell everybody who reads the store where the league's manager listens."""
        self._addresses[league_id] = address

    async def find_leader(self, league_id: str) -> str | None:
        """Return where the manager listens that leads a league; None if that is not known."""
        return self._addresses.get(league_id)

    def open_queue(self) -> MatchQueue | None:
        """Return the queue from which workers take matches; None if the store has none."""
        return None

    async def close(self) -> None:
        """Write what is waiting, and release every league."""
        for writer in self._writers.values():
            await writer.close()

    async def release(self, league_id: str) -> None:
        """Write what is waiting for a league, and let others run it."""
        writer = self._writers.pop(league_id, None)
        if writer is not None:
            await writer.close()

    async def open(self, league_id: str, opened_at: str, settings: str) -> Writer:
        """Return the writer of a league, which is made if it is not there."""
        writer = self._writers[league_id] = await self.start_writer(league_id)
        await writer.write([(schema.INSERT_LEAGUE, (league_id, opened_at, settings))])
        writer.link = await self._find_last_link(league_id)
        return writer

    async def _find_last_link(self, league_id: str) -> str:
        """Return the link of the last event; of the league itself if no event has one."""
        for (link,) in await self.execute(schema.SELECT_LAST_LINK, league_id):
            if link is not None:
                return str(link)
        return make_first_link(league_id, *await self.opening(league_id))

    async def opening(self, league_id: str) -> tuple[str, str]:
        """Return when a league was opened, and the settings that may be published."""
        for opened_at, settings in await self.execute(schema.SELECT_OPENING, league_id):
            return str(opened_at), publish_settings(str(settings))
        raise StoreError(f"{self.name} holds no league {league_id!r}")

    async def signing_key(self, league_id: str, new_key: str) -> str:
        """Return the key with which a league signs; if it has none yet, *new_key* becomes it."""
        if writer := self._writers.get(league_id):
            await writer.write([(schema.INSERT_KEY, (league_id, new_key))])
        for (key,) in await self.execute(schema.SELECT_KEY, league_id):
            return str(key)
        return new_key

    async def record(self, league_id: str) -> AsyncIterator[RecordedEvent]:
        """Yield every event of a league as it is stored, with its line of the record."""
        after = 0
        while rows := await self.execute(schema.SELECT_RECORD, league_id, after, RECORD_PAGE):
            for seq, at, kind, version, match_id, once, link, body, messages in rows:
                line = make_line(seq, kind, version, body, messages, link)
                yield RecordedEvent(line, (at, match_id, once), body, messages)
            after = rows[-1][0]

    async def leagues(self) -> list[LeagueRow]:
        """Return every league, the oldest first."""
        return [LeagueRow(*row) for row in await self.execute(schema.SELECT_LEAGUES)]

    async def settings(self, league_id: str) -> str:
        """Return the settings that a league was opened with."""
        for (settings,) in await self.execute(schema.SELECT_SETTINGS, league_id):
            return str(settings)
        raise StoreError(f"{self.name} holds no league {league_id!r}")

    async def events(self, league_id: str, after: int = 0) -> AsyncIterator[list[StoredEvent]]:
        """Yield what happened in a league, page by page, after event number *after*."""
        while rows := await self.execute(schema.SELECT_EVENTS, league_id, after, PAGE):
            if rows[-1][0] != after + len(rows):
                await self._check_events(league_id, rows[-1][0])
            yield [decode_row(*row) for row in rows]
            after = rows[-1][0]

    async def _check_events(self, league_id: str, last: int) -> None:
        """Raise `StoreError` if an event up to number *last* is missing."""
        for (there,) in await self.execute(schema.COUNT_EVENTS, league_id, last):
            if there != last:
                problem = f"{last - there} of the first {last} events of {league_id} are missing"
                raise StoreError(f"{self.name} is damaged: {problem}")

    async def read_page(self, league_id: str, after: int, limit: int) -> list[StoredEvent]:
        """Return up to *limit* events after event number *after*."""
        rows = await self.execute(schema.SELECT_EVENTS, league_id, after, limit)
        return [decode_row(*row) for row in rows]

    async def match_events(self, league_id: str, match_ids: Sequence[str]) -> list[StoredEvent]:
        """Return what happened in these matches, in order."""
        rows = await self._select_matches(schema.SELECT_MATCH_EVENTS, league_id, match_ids)
        return [decode_row(*row) for row in rows]

    async def transcripts(self, league_id: str, match_ids: Sequence[str]) -> dict[str, str]:
        """Return the messages of those matches of which they were kept, each as a JSON array."""
        rows = await self._select_matches(schema.SELECT_TRANSCRIPTS, league_id, match_ids)
        return {str(match_id): str(body) for match_id, body in rows}

    async def _select_matches(
        self, sql: str, league_id: str, match_ids: Sequence[str]
    ) -> list[Any]:
        if not match_ids:
            return []
        marks = ", ".join("?" * len(match_ids))
        return await self.execute(sql.format(marks), league_id, *match_ids)

    async def transcript(self, league_id: str, match_id: str) -> str | None:
        """Return the messages of a match as a JSON array, or None if they were not kept."""
        for (body,) in await self.execute(schema.SELECT_TRANSCRIPT, league_id, match_id):
            return str(body)
        return None

    async def snapshot(self, league_id: str) -> tuple[int, str] | None:
        """Return the last snapshot of a league, after the number of its last event.

        Raises `StoreError` if the store lacks an event that the snapshot counts.
        """
        for seq, body in await self.execute(schema.SELECT_SNAPSHOT, league_id):
            await self._check_events(league_id, int(seq))
            return int(seq), str(body)
        return None

    async def save_snapshot(self, league_id: str, seq: int, body: str) -> None:
        """Keep a snapshot after the events in it; if that fails, events can still be written."""
        if writer := self._writers.get(league_id):
            await writer.keep()
        await self.execute(schema.SAVE_SNAPSHOT, league_id, seq, body)
