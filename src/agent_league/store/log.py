"""The log of a season: what happened goes in once, is heard at once, and is acknowledged when kept."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Raw

from agent_league.protocol import LeagueError
from agent_league.store.events import Event
from agent_league.vocabulary import Json

Listener: TypeAlias = Callable[[Event], None]

SOON = 0.05
"""Seconds that what nobody waits for may wait for company: a sync of its own is dear."""


class StoreError(LeagueError):
    """The store cannot be opened, or can no longer be written; the sentence says what to do."""


class Stored(NamedTuple):
    """An event, its place in the log, and what was said in the match that it ends."""

    seq: int
    event: Event
    transcript: Sequence[Json | Raw] = ()


class Sink(Protocol):
    """Where events go to stay."""

    def keep(self, *kept: Stored) -> Awaitable[None]:
        """Return when *kept*, and all before, survives whatever is promised to be survived."""
        ...

    def settled(self) -> Awaitable[None]:
        """Return when everything handed in so far is kept."""
        ...


class LeagueRow(NamedTuple):
    """A league that a store holds."""

    league_id: str
    opened_at: str
    settings: str
    matches: int
    ended: int
    """1 when its season has ended and everybody was told, else 0."""


class Store(Protocol):
    """Leagues, and what happened in each; every method may raise `StoreError`."""

    @property
    def name(self) -> str:
        """Where it is, without any password."""
        ...

    async def open(self, league_id: str, opened_at: str, settings: str) -> Sink:
        """Become the writer of a league, which is made if it is not there."""
        ...

    async def leagues(self) -> list[LeagueRow]: ...

    async def settings(self, league_id: str) -> str: ...

    def events(self, league_id: str, after: int = 0) -> AsyncIterator[list[Stored]]: ...

    async def match(self, league_id: str, match_id: str) -> list[Stored]: ...

    async def transcript(self, league_id: str, match_id: str) -> str | None: ...

    async def snapshot(self, league_id: str) -> tuple[int, str] | None: ...

    async def save_snapshot(self, league_id: str, seq: int, body: str) -> None: ...

    async def close(self) -> None: ...


class Forgetful:
    """Keeps nothing: the log lives as long as its process."""

    async def keep(self, *kept: Stored) -> None:
        """Let it go."""

    async def settled(self) -> None:
        """There is nothing to wait for."""


class EventLog:
    """Takes events in order. The season is always ahead of the disk by what is on its way there.

    So nothing is acknowledged before `append` returns, and a log that fails to keep an event
    keeps none after it: whoever opens it again finds a season that was once true.
    """

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink or Forgetful()
        self._seq = 0
        self._once: set[str] = set()
        self._told: Callable[[Event], bool] = lambda event: False
        self._listeners: list[Listener] = []
        self._skippable = True
        self._notes: list[Stored] = []
        self._due: asyncio.TimerHandle | None = None
        self._failure: StoreError | None = None
        self._failed = asyncio.Event()

    def __len__(self) -> int:
        return self._seq

    @property
    def lasting(self) -> bool:
        """Whether anything of this remains when the process ends."""
        return type(self._sink) is not Forgetful

    @property
    def skippable(self) -> bool:
        """Whether no listener must hear a season from its first event."""
        return self._skippable

    def listen(self, listener: Listener, *, whole: bool = True) -> None:
        """Tell *listener* what happens; *whole*: it is lost if earlier events are skipped."""
        self._listeners.append(listener)
        self._skippable = self._skippable and not whole

    def attach(self, sink: Sink) -> None:
        """Keep what is appended from now on in *sink*."""
        self._sink = sink

    def skip(self, seq: int, told: Callable[[Event], bool]) -> None:
        """Go on after event *seq* without hearing the first ones: *told* knows what they were.

        A key for every match that ended would be too many to load. The store has them all, and
        is the last to refuse what happened before.
        """
        self._seq, self._told = seq, told

    def replay(self, events: Iterable[Stored]) -> None:
        """Tell the listeners what happened before this log was opened."""
        for stored in events:
            self._take(stored.seq, stored.event)

    async def append(self, event: Event, transcript: Sequence[Json | Raw] = ()) -> bool:
        """Keep *event*; False if it had already happened. Either way, it is kept on return."""
        if self._had(event):
            await self.settled()
            return False
        self._take(self._seq + 1, event)
        await self._kept(self._sink.keep(*self._noted(), Stored(self._seq, event, transcript)))
        return True

    def note(self, event: Event) -> None:
        """Keep *event*, which nobody waits for: what follows it is not acknowledged before it is."""
        if self._had(event):
            return
        self._take(self._seq + 1, event)
        self._notes.append(Stored(self._seq, event))
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(SOON, self._keep_notes)

    def _noted(self) -> list[Stored]:
        """Return what was noted and is not on its way to the disk yet."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        notes, self._notes = self._notes, []
        return notes

    def _keep_notes(self) -> None:
        keeping = asyncio.ensure_future(self._sink.keep(*self._noted()))
        keeping.add_done_callback(self._notes_kept)

    def _notes_kept(self, keeping: "asyncio.Future[None]") -> None:
        error = None if keeping.cancelled() else keeping.exception()
        if isinstance(error, StoreError):
            self._failure = error
            self._failed.set()

    async def broken(self) -> StoreError:
        """Return why this log keeps nothing any more, as soon as that is so."""
        await self._failed.wait()
        return self._failure or StoreError("the log is broken")

    async def settled(self) -> None:
        """Return when everything appended so far is kept."""
        if notes := self._noted():
            await self._kept(self._sink.keep(*notes))
        else:
            await self._kept(self._sink.settled())

    async def _kept(self, keeping: Awaitable[None]) -> None:
        try:
            await keeping
        except StoreError as error:
            self._failure = error
            self._failed.set()
            raise

    def _had(self, event: Event) -> bool:
        return event.once is not None and (event.once in self._once or self._told(event))

    def _take(self, seq: int, event: Event) -> None:
        self._seq = seq
        if event.once is not None:
            self._once.add(event.once)
        for listener in self._listeners:
            listener(event)
