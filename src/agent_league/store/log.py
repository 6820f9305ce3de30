"""The log of a season: an event goes in once, is applied at once, and is acted on when it is kept."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from agent_league.store.errors import StoreError
from agent_league.store.events import Event

Kind = TypeVar("Kind", bound=Event)
Listener: TypeAlias = Callable[[Any], None]

NOTE_DELAY_S = 0.025
"""Events nobody awaits are written with the next batch, at the latest after twice these seconds."""


class StoredEvent(NamedTuple):
    """An event, its number in the log, and the transcript of the match that it ends."""

    seq: int
    event: Event
    transcript: str = ""
    """A JSON list of messages; empty if there is none."""


def apply_events(events: Iterable[StoredEvent], apply: Callable[[StoredEvent], None]) -> None:
    """Apply stored events; raise `StoreError` for one that does not fit those before it."""
    for stored in events:
        try:
            apply(stored)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            kind = type(stored.event).__name__
            raise StoreError(f"event {stored.seq} ({kind}) is damaged: {error!r}") from error


class Sink(Protocol):
    """Keeps events."""

    def keep(self, *records: StoredEvent, may_wait: bool = False) -> Awaitable[None]:
        """Return what is done when *records*, and all before them, are kept; `KEPT` if they are.

        If they *may_wait*, more are expected in a moment, and can be written with them.
        """
        ...


class _Kept:
    def __await__(self) -> Generator[None, None, None]:
        yield from ()


KEPT: Final[Awaitable[None]] = _Kept()
"""There is nothing to wait for."""


class NullSink:
    """Keeps nothing: the log ends with its process."""

    def keep(self, *records: StoredEvent, may_wait: bool = False) -> Awaitable[None]:
        """Drop *records*."""
        return KEPT


class EventLog:
    """Takes events in order, and tells its listeners twice: at once, and when an event is kept.

    The season is ahead of the disk by the events that are still being written. So nothing is
    acknowledged before `append` returns, and a log that fails to keep an event keeps none after
    it: opened again, it has a state that the season was in.
    """

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink or NullSink()
        self._seq = 0
        self._once: set[str] = set()
        self._has_happened: Callable[[Event], bool] = lambda event: False
        self._listeners: list[tuple[Listener, Sequence[type[Event]]]] = []
        self._listeners_of: dict[type[Event], Sequence[Listener]] = {}
        """Those that are called with each kind of event, once one has happened."""
        self._kept_listeners: dict[type[Event], list[Listener]] = defaultdict(list)
        self.skippable = True
        """Whether no listener needs the events from the first one on."""
        self._notes: list[StoredEvent] = []
        self._due: asyncio.TimerHandle | None = None
        self._failure: StoreError | None = None
        self._failed = asyncio.Event()

    def __len__(self) -> int:
        return self._seq

    @property
    def link(self) -> str | None:
        """The link of the hash chain after the last event that is kept, or is just being written."""
        return getattr(self._sink, "link", None)

    @property
    def is_durable(self) -> bool:
        """Whether its events outlive the process."""
        return type(self._sink) is not NullSink

    def listen(
        self,
        listener: Callable[[Kind], None],
        *kinds: type[Kind],
        needs_all_events: bool = True,
    ) -> None:
        """Call *listener* with every event at once, before it is kept; replayed events included.

        If it names *kinds*, it is called only with these. *needs_all_events*: it cannot do without
        the events that a snapshot lets us skip.
        """
        self._listeners.append((listener, kinds))
        self._listeners_of.clear()
        self.skippable = self.skippable and not needs_all_events

    def when_kept(self, kind: type[Kind], listener: Callable[[Kind], None]) -> None:
        """Call *listener* with every event of *kind* that is added, once it is kept.

        Replayed events are left out: what follows from them was done before, or is done on resume.
        """
        self._kept_listeners[kind].append(listener)

    def attach(self, sink: Sink) -> None:
        """Keep what is appended from now on in *sink*."""
        self._sink = sink

    def skip(self, seq: int, has_happened: Callable[[Event], bool]) -> None:
        """Continue after event *seq* without the events before; *has_happened* knows about them.

        To load a key for every match that ended would take too long. The store has all keys, and
        refuses an event that happened before.
        """
        self._seq, self._has_happened = seq, has_happened

    def forget_keys(self, kind: type[Event], has_happened: Callable[[Event], bool]) -> None:
        """Keep no keys of events of *kind* in memory any more; *has_happened* knows about them."""
        prefix = kind.once_key.partition("{")[0]
        self._once = {key for key in self._once if not key.startswith(prefix)}
        self._has_happened = has_happened

    def replay(self, events: Iterable[StoredEvent]) -> None:
        """Tell the listeners about events from before this log was opened."""
        apply_events(events, lambda stored: self._apply(stored.seq, stored.event))

    async def append(self, event: Event, transcript: str = "") -> bool:
        """Keep *event*; return False if it had already happened. In both cases it is kept by then."""
        if self.has_happened(event):
            await self.flush()
            return False
        kept = self.add(event, transcript)
        if kept is not None:
            await asyncio.shield(kept)  # whoever waits may be cancelled: it is kept all the same
        return True

    def add(
        self,
        event: Event,
        transcript: str = "",
        may_wait: Callable[[], bool] = lambda: False,
    ) -> "asyncio.Future[None] | None":
        """Keep *event*, which has not happened yet; return what is done then, or None if it is.

        Once the listeners know about it, *may_wait* says whether more such events are expected in
        a moment, which can be written with it.
        """
        self._apply(self._seq + 1, event)
        records = [*self._take_notes(), StoredEvent(self._seq, event, transcript)]
        return self._hand_over(records, may_wait=may_wait())

    def note(self, event: Event) -> None:
        """Keep *event* without waiting; no later event is acknowledged before it is kept."""
        if self.has_happened(event):
            return
        self._apply(self._seq + 1, event)
        self._notes.append(StoredEvent(self._seq, event))
        if self._due is None:
            self._plan_notes()

    def _take_notes(self) -> list[StoredEvent]:
        """Return the noted events that are not being written yet."""
        notes, self._notes = self._notes, []
        return notes

    def _plan_notes(self) -> None:
        """Have the first noted event written in a moment, if it is not written with another before."""
        loop, first = asyncio.get_running_loop(), self._notes[0]
        self._due = loop.call_later(NOTE_DELAY_S, self._keep_notes, first)

    def _keep_notes(self, first: StoredEvent) -> None:
        self._due = None
        if self._notes and self._notes[0] is not first:  # those of now are newer
            self._plan_notes()
        elif self._notes:
            with suppress(StoreError):
                self._hand_over(self._take_notes())

    def _hand_over(
        self, records: list[StoredEvent], *, may_wait: bool = False
    ) -> "asyncio.Future[None] | None":
        """Have *records* kept, and call the listeners then."""
        try:
            keeping = self._sink.keep(*records, may_wait=may_wait)
        except StoreError as error:
            self.fail(error)
            raise
        if keeping is KEPT:
            self._confirm(records)
            return None
        kept = keeping if isinstance(keeping, asyncio.Future) else asyncio.ensure_future(keeping)
        kept.add_done_callback(partial(self._end_keeping, records))
        return kept

    def _end_keeping(self, records: list[StoredEvent], kept: "asyncio.Future[None]") -> None:
        if kept.cancelled():
            return
        error = kept.exception()
        if error is None:
            self._confirm(records)
        elif isinstance(
            error, StoreError
        ):  # who waits gets it too; `wait_for_failure` tells others
            self.fail(error)

    def _confirm(self, records: list[StoredEvent]) -> None:
        for _, event, _ in records:
            for listener in self._kept_listeners.get(type(event), ()):
                listener(event)

    def close(self) -> None:
        """Stop the timer, which would keep all of a league in memory."""
        if self._due is not None:
            self._due.cancel()

    def fail(self, error: StoreError) -> None:
        """Note that nothing more is kept."""
        self._failure = self._failure or error
        self._failed.set()

    async def wait_for_failure(self) -> StoreError:
        """Wait until this log fails to keep an event, and return the error."""
        await self._failed.wait()
        return self._failure or StoreError("the log is broken")

    async def flush(self) -> None:
        """Return when everything appended so far is kept."""
        kept = self._hand_over(self._take_notes())
        if kept is not None:
            await asyncio.shield(kept)

    def has_happened(self, event: Event) -> bool:
        """Whether *event* is one that happens once, and has."""
        if not event.once_key:
            return False
        return event.once in self._once or self._has_happened(event)

    def _apply(self, seq: int, event: Event) -> None:
        self._seq = seq
        if (once := event.once) is not None:
            self._once.add(once)
        kind = type(event)
        for listener in self._listeners_of.get(kind) or self._find_listeners(kind):
            listener(event)

    def _find_listeners(self, kind: type[Event]) -> Sequence[Listener]:
        found = [listener for listener, kinds in self._listeners if not kinds or kind in kinds]
        self._listeners_of[kind] = found
        return found
