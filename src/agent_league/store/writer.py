"""The writer of one league: keeps its events in order, and lets many share one transaction."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

from agent_league.store.codec import Rows, Statement, group_rows, make_statements
from agent_league.store.errors import StoreError
from agent_league.store.log import StoredEvent


class _PendingWrite(NamedTuple):
    """Statements for one transaction, and the future of the caller that waits for them."""

    statements: Sequence[Statement]
    done: "asyncio.Future[None]"


class Writer(ABC):
    """Writes to one league. After one failure it writes nothing more.

    So whoever opens the league again finds no event that came after a lost one.
    """

    def __init__(self, store: str, league_id: str) -> None:
        self.store, self.league_id = store, league_id
        self.link = ""
        """The link of the hash chain after the last event; set when the league is opened."""
        self._waiting: list[_PendingWrite] = []
        self._draining: asyncio.Task[None] | None = None
        self._failure: StoreError | None = None
        self.on_failure: Callable[[StoreError], None] = lambda error: None
        """Called when a write fails, even if nobody awaits it."""

    @abstractmethod
    async def commit(self, rows: Rows) -> None:
        """Return when *rows* are kept, all of them in one transaction, or raise `StoreError`."""

    @abstractmethod
    async def disconnect(self) -> None:
        """Release the connection and the league's lock."""

    def keep(self, *records: StoredEvent) -> "asyncio.Future[None]":
        """Return a future that is done when *records*, and all before them, are kept."""
        try:
            statements, self.link = make_statements(self.league_id, records, self.link)
            return self.write(statements)
        except StoreError as error:
            self._failure = error
            raise

    def write(self, statements: Sequence[Statement]) -> "asyncio.Future[None]":
        """Write *statements* in one transaction, with all that come in until it begins."""
        done = asyncio.get_running_loop().create_future()
        if self._failure is not None:
            done.set_exception(type(self._failure)(str(self._failure)))
            return done
        self._waiting.append(_PendingWrite(statements, done))
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        return done

    async def close(self) -> None:
        """Write what is waiting, then release the league."""
        if self._draining is not None:
            await asyncio.wait({self._draining})
        self._failure = self._failure or StoreError(f"{self.store} is closed")
        await self.disconnect()

    async def _drain(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            failure: StoreError | None = StoreError(f"{self.store}: writing was interrupted")
            try:
                if self._failure is not None:
                    raise self._failure
                if rows := group_rows([work.statements for work in batch]):
                    await self.commit(rows)
                failure = None
            except StoreError as error:
                failure = error
            finally:  # even if this task is cancelled: nobody must wait for ever
                self._failure = self._failure or failure
                if failure is not None:
                    self.on_failure(failure)
                _resolve(batch if failure is None else [*batch, *self._waiting], failure)
        self._draining = None


def _resolve(batch: list[_PendingWrite], failure: StoreError | None) -> None:
    for work in batch:
        if work.done.done():
            continue
        if failure is None:
            work.done.set_result(None)
        else:  # an error for each: every waiter adds its own traceback to the one it gets
            work.done.set_exception(type(failure)(str(failure)))
