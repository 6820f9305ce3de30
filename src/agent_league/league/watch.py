"""Who still answers: suspends agents that do not, and brings them back when they do."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress

from agent_league.agent import Agent
from agent_league.clock import written
from agent_league.league.acquaintance import acquainted
from agent_league.league.roster import AWAY, Entry, Lifecycle, Roster
from agent_league.protocol import Role
from agent_league.store.events import AgentRecovered, AgentSuspended, Event, MatchEnded
from agent_league.transport import NoAnswerError

FAILURES_TO_SUSPEND = 5
FAILURES_PER_ABSENCE = 3
"""A match lost by absence stands for three calls that were not answered."""
ABSENT = {"timeout", "unreachable", "suspended", "both_forfeit"}
FIRST_PROBE, LONGEST_PROBE_DELAY = 0.05, 15.0


class Watch:
    """Follows the lives of the league's members."""

    def __init__(
        self,
        manager: Agent,
        roster: Roster,
        append: Callable[[Event], Awaitable[bool]],
        lost: Callable[[Entry], None],
        back: Callable[[Entry], None],
    ) -> None:
        self._manager = manager
        self._roster = roster
        self._append = append
        self._lost = lost
        self._back = back
        self._missed: dict[str, int] = defaultdict(int)
        self.arriving: set[str] = set()
        """Those who registered and have not yet been seen to answer."""

    def resume(self) -> None:
        """Look after those again who were suspended when the league was interrupted."""
        for entry in self._roster.of(Role.REFEREE, Role.PLAYER):
            if entry.state is Lifecycle.SUSPENDED:
                self._manager.spawn(self._await_recovery(entry.agent_id))

    async def greet(self, entry: Entry) -> None:
        """See whether a newcomer answers; its port may open a moment after it registered."""
        self.arriving.add(entry.agent_id)
        try:
            patience = self._manager.patience.register_player
            if await self._answers(entry, patience):
                await self._recovered(entry.agent_id)
            else:
                await self._suspend(entry, "never answered after registration")
        finally:
            self.arriving.discard(entry.agent_id)

    def failed(self, entry: Entry) -> None:
        """Take note that *entry* did not take what it was sent."""
        if self._manager.line(entry.endpoint).breaker.is_open:
            self._manager.spawn(self._suspend(entry, "does not take its messages"))

    def match_ended(self, ended: MatchEnded) -> None:
        """Take note of who was there for a match, and who was not."""
        for player in ended.players:
            absent = player in ended.technical_losses and ended.termination in ABSENT
            self._missed[player] = self._missed[player] + FAILURES_PER_ABSENCE if absent else 0
            if self._missed[player] >= FAILURES_TO_SUSPEND:
                why = "lost its matches by absence"
                self._manager.spawn(self._suspend(self._roster[player], why))

    async def suspend(self, entry: Entry, why: str) -> None:
        await self._suspend(entry, why)

    async def check(self, entry: Entry) -> None:
        """Suspend *entry* if nobody listens at its endpoint; one that is busy does."""
        within = self._manager.patience.generic
        if not await self._manager.wire.listens(entry.endpoint, within):
            await self._suspend(entry, "has gone")

    async def _suspend(self, entry: Entry, why: str) -> None:
        now = self._roster[entry.agent_id]
        if now.state in {*AWAY, Lifecycle.SHUTDOWN}:
            return
        at = written(self._manager.clock())
        await self._append(AgentSuspended(at=at, agent_id=entry.agent_id, why=why))
        self._lost(entry)
        self._manager.spawn(self._await_recovery(entry.agent_id))

    async def _await_recovery(self, agent_id: str) -> None:
        if await self._answers(self._roster[agent_id], float("inf"), first_delay=1.0):
            await self._recovered(agent_id)

    async def _recovered(self, agent_id: str) -> None:
        """Take an agent that answers again back at once; one that was never away, too."""
        entry = self._roster[agent_id]
        self._missed[agent_id] = 0
        self._manager.line(entry.endpoint).breaker.succeeded()
        if entry.state is Lifecycle.SUSPENDED:
            at = written(self._manager.clock())
            await self._append(AgentRecovered(at=at, agent_id=agent_id))
            self._back(entry)

    async def _answers(self, entry: Entry, patience: float, first_delay: float = 0.0) -> bool:
        """Probe again and again, ever more slowly, until something answers."""
        now = asyncio.get_running_loop().time
        ends, delay = now() + patience, first_delay
        while now() + delay <= ends:
            await asyncio.sleep(delay)
            if await self._met(self._roster[entry.agent_id]):
                return True
            delay = min(max(FIRST_PROBE, 2 * delay), LONGEST_PROBE_DELAY)
        return False

    async def _met(self, entry: Entry) -> bool:
        """See whether *entry* answers, and if it plays, in which dialect it is spoken to."""
        within = self._manager.patience.generic
        if not await self._manager.wire.reaches(entry.endpoint, within):
            return False
        if entry.role is Role.PLAYER:
            with suppress(NoAnswerError):  # it is there; whoever speaks to it next finds out more
                await acquainted(self._manager, entry)
        return True
