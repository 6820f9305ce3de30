"""One stream of updates for all spectators: made once, sent to everybody, never waited for."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from agent_league.season.season import Stage
from agent_league.web.league_view import LeagueView
from agent_league.web.packing import HEAD, pack

Regions: TypeAlias = Mapping[str, str]
"""The HTML of each part of the live page, by the id of its element."""
Kind: TypeAlias = Literal["regions", "tick"]
"""What a spectator wants: the parts of the live page, or only to hear that something changed."""

INTERVAL, LONGEST_INTERVAL = 0.4, 3.0
"""Seconds between two updates."""
SHARE = 0.03
"""How much of the time of the process updates may take; they become rarer before they take more."""
HEARTBEAT = 15.0
"""Seconds after which a stream says that it is still there."""
FAREWELL = 1.0
"""Seconds that spectators have to take the last update."""
_ALIVE = b": still here\n\n"
_RETRY = b"retry: 1000\n\n"


class Update(NamedTuple):
    """The state of the league after event *seq*, as bytes for each kind of spectator."""

    number: int
    seq: int
    whole: bytes
    """All regions, for a spectator that does not have the update before."""
    changed: bytes
    """Only the regions that changed."""
    tick: bytes


class Broadcast:
    """Sends the state of one league to all who look at it.

    A spectator that reads slowly gets fewer updates, each of them the latest. The updates of all
    spectators together take a small share of the time of the process.
    """

    def __init__(
        self,
        view: LeagueView,
        render: Callable[[], Regions],
        catch_up: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._view, self._render, self._catch_up = view, render, catch_up
        self.spectators: Counter[Kind] = Counter()
        self._regions: Regions = {}
        self._update: Update | None = None
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_over = False
        self._nobody = asyncio.Event()

    async def follow_packed(self, kind: Kind) -> AsyncIterator[bytes]:
        """Yield the same as `follow`, as one gzip stream: much less to send to many."""
        yield HEAD
        async with aclosing(self.follow(kind)) as pieces:
            async for piece in pieces:
                yield pack(piece)

    async def follow(self, kind: Kind) -> AsyncGenerator[bytes, None]:
        """Yield what a spectator is sent, until it leaves or the league is no longer served."""
        self.spectators[kind] += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())
        try:
            yield _RETRY
            seen = -1
            while True:
                update = self._update
                if update is not None and update.number != seen:
                    yield _choose(update, kind, seen)
                    seen = update.number
                    continue
                if self._is_over:
                    return
                if not await self._wait():
                    yield _ALIVE
        finally:
            self.spectators[kind] -= 1
            if not self.spectators.total():
                self._nobody.set()

    async def _wait(self) -> bool:
        """Wait for the next update; False if it is time to say that the stream is still there."""
        try:
            async with asyncio.timeout(HEARTBEAT):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def finish(self) -> None:
        """Send the last update to everybody, and end all streams."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._nobody.clear()
        if not self.spectators.total():
            return
        self._publish()
        self._is_over = True
        self._wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL):
                await self._nobody.wait()

    async def _run(self) -> None:
        """Make updates as long as anybody wants them."""
        while self.spectators.total():
            started_at = time.perf_counter()
            if self._catch_up is not None:
                await self._catch_up()
            if self._update is None or self._update.seq != self._view.seq:
                self._publish()
                await asyncio.sleep(0)  # in this turn of the loop it is sent
                await asyncio.sleep(0)
            spent = time.perf_counter() - started_at
            await asyncio.sleep(min(LONGEST_INTERVAL, max(INTERVAL, spent / SHARE)))

    def _publish(self) -> None:
        seq, number = self._view.seq, self._update.number + 1 if self._update else 0
        regions = self._render() if self.spectators["regions"] else {}
        changed = {key: html for key, html in regions.items() if self._regions.get(key) != html}
        self._regions = regions
        state = {"seq": seq, "over": self._view.season.stage is Stage.COMPLETED}
        self._update = Update(
            number,
            seq,
            _encode(seq, state | {"regions": regions}),
            _encode(seq, state | {"regions": changed}),
            _encode(seq, state),
        )
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _choose(update: Update, kind: Kind, seen: int) -> bytes:
    if kind == "tick":
        return update.tick
    return update.changed if seen == update.number - 1 else update.whole


def _encode(seq: int, data: object) -> bytes:
    """Return one event of a stream; its id is the number of the last event that it shows."""
    return b"id: %d\ndata: %b\n\n" % (seq, msgspec.json.encode(data))
