"""What is being played: the matches of each open round, and who has to finish a match first."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection

from agent_league.league.context import Context
from agent_league.store.events import (
    EndOrdered,
    Event,
    LeagueContinued,
    LeaguePaused,
    MatchEnded,
    ScheduledMatch,
)


class OpenMatches:
    """The matches that are to be played now, grouped by who waits for them."""

    def __init__(self) -> None:
        self._groups: dict[str, asyncio.Future[None]] = {}
        """For each match, what is done when all of its group have ended."""
        self._left: Counter[asyncio.Future[None]] = Counter()
        """How many matches of each group have not ended."""
        self._reported: set[str] = set()
        """Those whose result is being kept."""

    def __contains__(self, match_id: str) -> bool:
        return match_id in self._groups

    def __bool__(self) -> bool:
        return bool(self._left)

    def add(self, match_ids: Collection[str]) -> "asyncio.Future[None]":
        """Open these matches; the future is done when all of them have ended."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if match_ids:
            self._groups |= dict.fromkeys(match_ids, over)
            self._left[over] = len(match_ids)
        else:
            over.set_result(None)
        return over

    def join(self, match_id: str) -> None:
        """Open one more match; whoever waits for the latest group waits for it too."""
        self._groups[match_id] = latest = next(reversed(self._left))
        self._left[latest] += 1

    def report(self, match_id: str) -> None:
        """Note that the result of a match is there, and is being kept."""
        if match_id in self._groups:
            self._reported.add(match_id)

    @property
    def are_all_reported(self) -> bool:
        """Whether nothing is left to do but to keep results."""
        return len(self._reported) == len(self._groups)

    def end(self, match_id: str) -> None:
        over = self._groups.pop(match_id, None)
        self._reported.discard(match_id)
        if over is None:
            return
        self._left[over] -= 1
        if not self._left[over]:
            del self._left[over]
            if not over.done():
                over.set_result(None)

    def drop(self, over: "asyncio.Future[None]") -> None:
        """Forget the group that nobody waits for any more."""
        if self._left.pop(over, None):
            self._groups = {one: group for one, group in self._groups.items() if group is not over}
            self._reported &= self._groups.keys()


class Pause:
    """Lets matches begin, unless the organiser has paused or ended the league."""

    def __init__(self, context: Context) -> None:
        self._season = context.season
        self._is_over = asyncio.Event()
        for kind in (LeaguePaused, LeagueContinued, EndOrdered):
            context.events.when_kept(kind, self._apply)

    async def wait_until_over(self) -> None:
        """Wait until matches may begin; mostly they may, and after the end they never do."""
        if self.holds:
            self._apply()
            await self._is_over.wait()

    @property
    def holds(self) -> bool:
        """Whether no match may begin now."""
        return self._season.paused or self._season.ended_early is not None

    def _apply(self, event: Event | None = None) -> None:
        (self._is_over.clear if self.holds else self._is_over.set)()


class PlayersInTurn:
    """Lets every player play its matches one after the other, in the order of the rounds."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Future[None]] = {}
        """By match."""
        self._latest: dict[str, asyncio.Future[None]] = {}
        """The latest match of each player."""

    def queue(self, match: ScheduledMatch, begin: Callable[[], None]) -> None:
        """Call *begin* when both players have finished the matches that were queued before."""
        players = (match.first, match.second)
        earlier = {one for one in map(self._latest.get, players) if one and not one.done()}
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running[match.match_id] = ended
        self._latest.update(dict.fromkeys(players, ended))
        left = len(earlier)

        def count_down(_: "asyncio.Future[None]") -> None:
            nonlocal left
            left -= 1
            if left == 0:
                begin()

        for one in earlier:
            one.add_done_callback(count_down)
        if not earlier:
            begin()

    def on_match_ended(self, event: MatchEnded) -> None:
        ended = self._running.pop(event.match_id, None)
        if ended is not None:
            ended.set_result(None)
