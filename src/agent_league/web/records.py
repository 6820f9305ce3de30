"""What a page reads that no season keeps in memory: the events and the messages of matches."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from agent_league.season.season import Season
from agent_league.store.events import Event, MatchEnded
from agent_league.store.log import StoredEvent
from agent_league.store.store import Store

Entry = dict[str, Any]
"""One line of a transcript: its time, from whom, to whom, and a message, an error or an excerpt."""


class Records(Protocol):
    """Reads what is kept of the matches of one league."""

    async def read_events(self, match_ids: Sequence[str]) -> list[Event]:
        """Return the events of these matches, in order."""
        ...

    async def read_transcripts(self, match_ids: Sequence[str]) -> Mapping[str, list[Entry]]:
        """Return the messages of those of these matches whose messages are kept."""
        ...

    async def read_log(self, after: int, limit: int) -> list[StoredEvent]:
        """Return up to *limit* events after the number *after*."""
        ...


class StoredRecords:
    """Reads a store."""

    def __init__(self, store: Store, league_id: str) -> None:
        self._store, self._league_id = store, league_id

    async def read_events(self, match_ids: Sequence[str]) -> list[Event]:
        return [
            stored.event for stored in await self._store.match_events(self._league_id, match_ids)
        ]

    async def read_transcripts(self, match_ids: Sequence[str]) -> Mapping[str, list[Entry]]:
        bodies = await self._store.transcripts(self._league_id, match_ids)
        return {match_id: parse_entries(body) for match_id, body in bodies.items()}

    async def read_log(self, after: int, limit: int) -> list[StoredEvent]:
        return await self._store.read_page(self._league_id, after, limit)


class RememberedRecords:
    """Knows only what a league without a store still has in memory."""

    def __init__(self, season: Season) -> None:
        self._season = season
        self.events: list[Event] = []
        """What has happened, from the first event on, while there is no store to read it from."""

    async def read_events(self, match_ids: Sequence[str]) -> list[Event]:
        season = self._season
        found = ((season.assignments.get(one), season.results.get(one)) for one in match_ids)
        return [event for pair in found for event in pair if event is not None]

    async def read_transcripts(self, match_ids: Sequence[str]) -> Mapping[str, list[Entry]]:
        return {}

    async def read_log(self, after: int, limit: int) -> list[StoredEvent]:
        events = self.events[after : after + limit]
        return [StoredEvent(seq, event) for seq, event in enumerate(events, after + 1)]


def parse_entries(body: str) -> list[Entry]:
    """Return the lines of a transcript; a referee may report what it likes, so some may be left out."""
    try:
        entries = msgspec.json.decode(body, type=list[dict[str, Any]])
    except msgspec.DecodeError:
        return []
    return [entry for entry in entries if _is_readable(entry)]


def _is_readable(entry: Entry) -> bool:
    return all(isinstance(entry.get(key), str) for key in ("at", "from", "to"))


async def read_results(
    season: Season, records: Records, match_ids: Sequence[str]
) -> dict[str, MatchEnded]:
    """Return the results of these matches, from memory where it has them."""
    found = {one: season.results[one] for one in match_ids if one in season.results}
    missing = [one for one in match_ids if one not in found]
    for event in await records.read_events(missing) if missing else ():
        if isinstance(event, MatchEnded):
            found[event.match_id] = event
    return {one: found[one] for one in match_ids if one in found}
