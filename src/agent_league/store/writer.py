"""The writer of one league: keeps its events in order, and lets many share one transaction."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from agent_league.store.codec import Rows, Statement, group_rows, make_statements
from agent_league.store.errors import StoreError
from agent_league.store.log import StoredEvent

GROUP_DELAY_S = 0.02
"""What may wait for others is written with them, at the latest after these seconds."""


class _PendingWrite(NamedTuple):
    """What is to be written in one transaction, and the future of the caller that waits for it."""

    make_statements: Callable[[], Sequence[Statement]]
    """Called when the transaction begins: to encode many events in a row takes half as long."""
    done: "asyncio.Future[None]"


class Writer(ABC):
    """Writes to one league. After one failure it writes nothing more.

    So whoever opens the league again finds no event that came after a lost one.
    """

    def __init__(self, store: str, league_id: str) -> None:
        self.store, self.league_id = store, league_id
        self.link = ""
        """The link of the hash chain after the last event in a transaction; set when the league is opened."""
        self._waiting: list[_PendingWrite] = []
        self._is_urgent = False
        """Whether some of it must not wait for others."""
        self._due: asyncio.Handle | None = None
        """Begins the next transaction; None while one is being written."""
        self._idle: asyncio.Future[None] | None = None
        """Done when everything is written; None if it is."""
        self._failure: StoreError | None = None
        self.on_failure: Callable[[StoreError], None] = lambda error: None
        """Called when a write fails, even if nobody awaits it."""

    @abstractmethod
    def commit(self, rows: Rows) -> Awaitable[None]:
        """Wait until *rows* are kept, all of them in one transaction, or raise `StoreError`."""

    @abstractmethod
    async def disconnect(self) -> None:
        """Release the connection and the league's lock."""

    def keep(self, *records: StoredEvent, may_wait: bool = False) -> "asyncio.Future[None]":
        """Return a future that is done when *records*, and all before them, are kept.

        If they *may_wait*, more are expected in a moment, and written with them.
        """
        return self._add(partial(self._encode, records), may_wait=may_wait)

    def write(self, statements: Sequence[Statement]) -> "asyncio.Future[None]":
        """Write *statements* in one transaction, with all that come in until it begins."""
        return self._add(lambda: statements)

    def _encode(self, records: Sequence[StoredEvent]) -> Sequence[Statement]:
        statements, self.link = make_statements(self.league_id, records, self.link)
        return statements

    def _add(
        self, make_statements: Callable[[], Sequence[Statement]], *, may_wait: bool = False
    ) -> "asyncio.Future[None]":
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        if self._failure is not None:
            done.set_exception(type(self._failure)(str(self._failure)))
            return done
        self._waiting.append(_PendingWrite(make_statements, done))
        is_first = self._idle is None
        if is_first:
            self._idle = loop.create_future()
        is_sooner = not may_wait and not self._is_urgent
        self._is_urgent = self._is_urgent or not may_wait
        if is_first or (is_sooner and self._due is not None):
            self._plan_transaction(loop)
        return done

    async def close(self) -> None:
        """Write what is waiting, then release the league."""
        if self._idle is not None:
            await asyncio.wait({self._idle})
        self._failure = self._failure or StoreError(f"{self.store} is closed")
        await self.disconnect()

    def _plan_transaction(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the next transaction begin at once, or a little later if all that waits may wait."""
        if self._due is not None:
            self._due.cancel()
        if self._is_urgent:
            self._due = loop.call_soon(self._begin_transaction, loop)
        else:
            self._due = loop.call_later(GROUP_DELAY_S, self._begin_transaction, loop)

    def _begin_transaction(self, loop: asyncio.AbstractEventLoop) -> None:
        """Write all that is waiting in one transaction."""
        self._due, self._is_urgent = None, False
        batch, self._waiting = self._waiting, []
        committing = self._start_commit(batch, loop)
        committing.add_done_callback(partial(self._end_transaction, loop, batch))

    def _end_transaction(
        self,
        loop: asyncio.AbstractEventLoop,
        batch: list[_PendingWrite],
        committing: "asyncio.Future[None]",
    ) -> None:
        failure = find_failure(self.store, committing)
        if failure is not None:
            self._failure = self._failure or failure
            self.on_failure(failure)
            batch, self._waiting = [*batch, *self._waiting], []
        if self._waiting:
            self._plan_transaction(loop)
        elif self._idle is not None:
            self._idle.set_result(None)
            self._idle = None
        _resolve(batch, failure)

    def _start_commit(
        self, batch: list[_PendingWrite], loop: asyncio.AbstractEventLoop
    ) -> "asyncio.Future[None]":
        done = loop.create_future()
        try:
            if self._failure is not None:
                raise self._failure
            rows = group_rows([work.make_statements() for work in batch])
        except StoreError as error:  # of an earlier transaction, or an event cannot be encoded
            done.set_exception(error)
            return done
        if rows:
            return asyncio.ensure_future(self.commit(rows))
        done.set_result(None)
        return done


def find_failure(store: str, writing: "asyncio.Future[Any]") -> StoreError | None:
    """Return why *writing*, which has ended, has failed; None if it has not."""
    if writing.cancelled():
        return StoreError(f"{store}: writing was interrupted")
    error = writing.exception()
    if error is None or isinstance(error, StoreError):
        return error
    return StoreError(f"{store}: writing was interrupted by {error!r}")


def _resolve(batch: list[_PendingWrite], failure: StoreError | None) -> None:
    for work in batch:
        if work.done.done():
            continue
        if failure is None:
            work.done.set_result(None)
        else:  # an error for each: every waiter adds its own traceback to the one it gets
            work.done.set_exception(type(failure)(str(failure)))
