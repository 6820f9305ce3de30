"""Checks which agents answer: suspends those that do not, and brings them back when they do."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable
from contextlib import suppress
from math import inf

from agent_league.dialects.detection import is_answering
from agent_league.dialects.dialect import Peer
from agent_league.league.context import Context
from agent_league.own_time import own_time, timeout_at
from agent_league.protocol import Role
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.message import EVERYBODY
from agent_league.protocol.results import Termination
from agent_league.season.roster import AWAY, Entry, Lifecycle
from agent_league.store.events import AgentRecovered, AgentSuspended, MatchEnded
from agent_league.vocabulary import Json, PlayerId

FAILURES_TO_SUSPEND = 5
"""How many calls in a row an agent leaves unanswered until it is suspended."""
CALLS_PER_LOSS = 3
"""A match that is lost by silence counts as so many calls without an answer."""
FIRST_PROBE, LONGEST_PROBE_DELAY = 0.05, 5.0
LONGEST_FIRST_DELAY = 60.0
RETURN_PATIENCE = 60.0
"""How long a resumed league waits for its agents, counted from the last one that came back."""
_SILENCE = {Termination.TIMEOUT, Termination.UNREACHABLE}


class Liveness:
    """Keeps the states of all agents up to date; the only one who decides who is suspended."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._peers = context.peers
        self._roster = context.season.roster
        self._failures: dict[str, int] = defaultdict(int)
        """The unanswered calls of referees and of ours, since an agent last played or answered."""
        self._delays: dict[str, float] = {}
        """How long to wait before the first probe; doubles with each suspension without a match."""
        self.arriving: set[str] = set()
        """The agents that registered and have not answered yet."""
        self.answered: set[str] = set()
        """The agents that have answered at least once."""
        self._greetings: set[asyncio.Future[None]] = set()
        self._kept_out: set[str] = set()
        """The agents that come back only by registering again: that they answer is not enough."""
        self._returns: dict[str, asyncio.Event] = {}
        """For the guests that are waited for."""
        context.events.when_kept(MatchEnded, self._on_match_ended)
        context.events.when_kept(AgentRecovered, self._on_recovered)
        context.events.when_kept(AgentSuspended, self._on_suspended)

    def resume(self) -> None:
        """Wait again for the agents that were suspended when the league was interrupted."""
        for entry in self._roster.of(Role.REFEREE, Role.PLAYER):
            if entry.state is Lifecycle.SUSPENDED and not entry.pooled:
                self._context.spawn(self._await_recovery(entry.agent_id, FIRST_PROBE))

    async def await_return(self) -> None:
        """Wait until all agents of a league that was interrupted are back, as long as any come.

        Only those that are still missing then are suspended: on a busy machine an agent may need
        minutes to start, and nobody is to blame for that.
        """
        missing = {
            asyncio.ensure_future(self._await_recovery(entry.agent_id, 0.0)): entry
            for entry in self._roster.present(*EVERYBODY)
        }
        self.arriving |= {entry.agent_id for entry in missing.values()}
        with suppress(TimeoutError):
            while missing:
                async with timeout_at(own_time() + RETURN_PATIENCE):
                    back, _ = await asyncio.wait(missing, return_when=asyncio.FIRST_COMPLETED)
                for task in back:
                    self.arriving.discard(missing.pop(task).agent_id)
        for task, entry in missing.items():
            task.cancel()
            self.arriving.discard(entry.agent_id)
            await self.suspend(entry, "did not come back after the league was interrupted")

    async def wait_for_arrivals(self) -> None:
        """Wait until everybody who is arriving now has answered, or had the time to."""
        if self._greetings:
            await asyncio.wait(self._greetings)

    async def greet(self, entry: Entry) -> None:
        """Find out whether an agent answers; its port may open a moment after it registered."""
        self._kept_out.discard(entry.agent_id)
        greeting = asyncio.get_running_loop().create_future()
        self._greetings.add(greeting)
        self.arriving.add(entry.agent_id)
        try:
            patience = self._peers.patience.register_player
            if not await self._await_recovery(entry.agent_id, 0.0, patience):
                await self.suspend(entry, "never answered after registration")
        finally:
            self.arriving.discard(entry.agent_id)
            self._greetings.discard(greeting)
            greeting.set_result(None)

    def note_untaken_notice(self, entry: Entry) -> None:
        """Suspend *entry*, which did not take a notice, if that happens again and again."""
        if self._context.line(entry).failures >= FAILURES_TO_SUSPEND:
            self._context.spawn(self.suspend(entry, "does not take its messages"))

    async def count_unanswered(self, entry: Entry, calls: int, why: str) -> None:
        """Suspend *entry*, which left so many calls unanswered, if there were too many in a row."""
        self._failures[entry.agent_id] += calls
        if self._failures[entry.agent_id] >= FAILURES_TO_SUSPEND:
            await self.suspend(entry, why)

    def list_unanswered(self) -> dict[str, Json]:
        """Return how many calls in a row each agent has left unanswered."""
        return {agent_id: calls for agent_id, calls in self._failures.items() if calls}

    def note_answer(self, agent_id: str) -> None:
        """Forget the calls that an agent left unanswered before this answer."""
        self._failures.pop(agent_id, None)

    def _on_match_ended(self, ended: MatchEnded) -> None:
        if not (ended.forfeits or self._failures or self._delays):
            return  # as nearly always: there is nothing to forget
        for player in map(PlayerId, ended.players):
            why = ended.forfeits.get(player)
            if why in _SILENCE:
                self._context.spawn(self._check_silent(self._roster[player]))
            elif why is not Termination.SUSPENDED:
                self.note_answer(player)
                self._delays.pop(player, None)

    async def _check_silent(self, entry: Entry) -> None:
        """Count a match that *entry* lost by silence, unless it was only slow and answers us."""
        if await self._is_answering(entry):
            self.note_answer(entry.agent_id)
        else:
            calls = CALLS_PER_LOSS + 1
            await self.count_unanswered(entry, calls, "lost its matches by silence")

    async def check(self, entry: Entry, interval: float) -> None:
        """Suspend *entry* if nothing listens at its endpoint, at so many looks within *interval*.

        An agent that is only busy listens.
        """
        within = self._peers.patience.generic
        for _ in range(FAILURES_TO_SUSPEND):
            endpoint = self._roster[entry.agent_id].endpoint  # it may come back at another one
            if entry.pooled or await self._peers.wire.listens(endpoint, within):
                return
            await asyncio.sleep(interval / FAILURES_TO_SUSPEND)
        await self.suspend(entry, "has gone")

    async def await_guest(self, agent_id: str, within: float) -> None:
        """If *agent_id* is a guest that has gone, wait until it is back, but not longer.

        Only a guest that calls the league is there, so it cannot be asked to come back.
        """
        entry, wire = self._roster[agent_id], self._peers.wire
        if not entry.guest or await wire.listens(entry.endpoint, 0.0):
            return
        await self.suspend(entry, "has gone")
        if self._roster[agent_id].state is Lifecycle.SUSPENDED:
            back = self._returns.setdefault(agent_id, asyncio.Event())
            with suppress(TimeoutError):
                async with timeout_at(own_time() + within):
                    await back.wait()

    def keep_out(self, agent_id: str) -> None:
        """Do not bring back an agent, once it is suspended, until it registers again."""
        self._kept_out.add(agent_id)

    async def suspend(self, entry: Entry, why: str) -> None:
        """Give *entry* no match until it answers again."""
        now = self._roster[entry.agent_id]
        if now.state not in {*AWAY, Lifecycle.SHUTDOWN}:
            event = AgentSuspended(at=self._context.now(), agent_id=entry.agent_id, why=why)
            await self._context.events.append(event)

    def _on_suspended(self, event: AgentSuspended) -> None:
        """Wait for an agent to come back; one that is suspended again and again waits longer.

        An agent that answers us, and hangs in its matches, would otherwise delay every round.
        """
        if event.agent_id in self._kept_out or self._roster[event.agent_id].pooled:
            return
        delay = self._delays.get(event.agent_id, 1.0)
        self._delays[event.agent_id] = min(2 * delay, LONGEST_FIRST_DELAY)
        self._context.spawn(self._await_recovery(event.agent_id, delay))

    async def _await_recovery(self, agent_id: str, delay: float, patience: float = inf) -> bool:
        """Probe an agent, at growing intervals, until it answers; False if it does not in time."""
        ends = own_time() + patience
        while True:
            await asyncio.sleep(delay)
            if await self._probe(self._roster[agent_id]):
                await self._recover(agent_id)
                return True
            delay = min(max(FIRST_PROBE, 2 * delay), LONGEST_PROBE_DELAY)
            if own_time() + delay > ends:
                return False

    def _on_recovered(self, event: AgentRecovered) -> None:
        if event.agent_id in self._returns:
            self._returns.pop(event.agent_id).set()

    async def _recover(self, agent_id: str) -> None:
        """Forget the failures of an agent that answers; bring it back if it was suspended."""
        entry = self._roster[agent_id]
        self.answered.add(agent_id)
        self.note_answer(agent_id)
        self._context.line(entry).failures = 0
        if entry.state is Lifecycle.SUSPENDED:
            event = AgentRecovered(at=self._context.now(), agent_id=agent_id)
            await self._context.events.append(event)

    async def _probe(self, entry: Entry) -> bool:
        """Return whether *entry* answers; find out the dialect of a player."""
        within, wire = self._peers.patience.generic, self._peers.wire
        if entry.pooled:
            return True
        if entry.state is Lifecycle.SUSPENDED:
            is_there = await self._is_answering(entry)
        else:
            is_there = await wire.reaches(entry.endpoint, within)
        if not is_there:
            return False
        if entry.role is Role.PLAYER and entry.dialect is None:  # else its dialect is known
            peer, renew = Peer(entry.endpoint, entry.agent_id), entry.state is Lifecycle.REGISTERED
            with suppress(NoAnswerError):  # it answers; the next message to it shows more
                await self._peers.detect_dialect(peer, within, renew=renew)
        return True

    def _is_answering(self, entry: Entry) -> Awaitable[bool]:
        return is_answering(entry.endpoint, self._peers.wire, self._peers.patience.generic)
