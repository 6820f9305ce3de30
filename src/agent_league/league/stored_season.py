"""The season of a league in its store: opened or resumed, with a snapshot now and then."""

import asyncio
from functools import partial

import msgspec

from agent_league.agent import log
from agent_league.http.exchange import StreamedAnswer
from agent_league.league.context import Context
from agent_league.season.snapshots import copy_season, has_happened, restore_latest
from agent_league.store import StoreError
from agent_league.store.events import MatchEnded, RoundClosed
from agent_league.store.record import CONTENT_TYPE, write_record
from agent_league.store.store import Store
from agent_league.vocabulary import Json

SNAPSHOT_INTERVAL = 5_000
"""How many results may come in before the next snapshot."""
MOST_IN_MEMORY = 5_000
"""How many results are kept in memory; the store has them all."""


class StoredSeason:
    """Connects a season with a store; a league without one keeps nothing, and nothing is read."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._season, self._events = context.season, context.events
        self._league_id = context.season.settings.league_id
        self._store: Store | None = None
        self._results = 0
        """How many have come in since the last snapshot."""
        self._saving = asyncio.Lock()

    async def open(self, store: Store) -> None:
        """Keep the events in *store* from now on; replay those that it has of this league."""
        self._store = store
        settings = msgspec.json.encode(self._season.settings).decode()
        writer = await store.open(self._league_id, self._context.now(), settings)
        writer.on_failure = self._events.fail
        self._events.attach(writer)
        keyring = self._context.keyring
        keyring.league_key = await store.signing_key(self._league_id, keyring.league_key)
        after = await restore_latest(self._season, store) if self._events.skippable else 0
        if after:
            self._events.skip(after, partial(has_happened, self._season))
        self._events.listen(self._count_result, MatchEnded, needs_all_events=False)
        self._events.when_kept(RoundClosed, self._forget_past)
        async for page in store.events(self._league_id, after):
            self._events.replay(page)

    async def read_match(self, match_id: str) -> MatchEnded | None:
        """Return how a match ended, with its details; None if it has not ended."""
        ended = self._season.results.get(match_id)
        if ended is not None or self._store is None or not self._season.is_past(match_id):
            return ended
        for stored in await self._store.match_events(self._league_id, [match_id]):
            if isinstance(stored.event, MatchEnded):
                return stored.event
        return None

    async def read_transcript(self, match_id: str) -> Json | None:
        """Return the messages of a match once it has ended; until then they are secret."""
        ended = match_id in self._season.results or self._season.is_past(match_id)
        if self._store is None or not ended:
            return None
        found = await self._store.transcript(self._league_id, match_id)
        return msgspec.json.decode(found) if found else None

    def find_record(self) -> StreamedAnswer | None:
        """Return the record of the league, from which anybody can verify it; None without a store."""
        if self._store is None:
            return None
        return StreamedAnswer(write_record(self._store, self._league_id), CONTENT_TYPE)

    async def save_snapshot(self) -> None:
        """Save the state of the season; a failure is logged, and does no harm."""
        if self._store is None:
            return
        async with self._saving:
            self._results = 0
            seq, copy = len(self._events), copy_season(self._season)
            body = await asyncio.to_thread(copy.encode)
            try:
                await self._store.save_snapshot(self._league_id, seq, body)
            except StoreError as error:
                log.warning("no snapshot was kept: %s", error)

    def _forget_past(self, event: RoundClosed) -> None:
        """Drop the matches of earlier rounds if there are many: a season may have a million."""
        if len(self._season.results) > MOST_IN_MEMORY:
            self._season.forget_past()
            self._events.forget_keys(MatchEnded, partial(has_happened, self._season))

    def _count_result(self, ended: MatchEnded) -> None:
        self._results += 1
        if self._results == SNAPSHOT_INTERVAL:  # not above: saving resets the count only later
            self._context.spawn(self.save_snapshot())
