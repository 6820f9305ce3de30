"""The referee pool: one referee of the league, played by any number of workers behind a queue."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from agent_league.agent import log
from agent_league.chance import derive_secret
from agent_league.clock import format_exact_time
from agent_league.extras import MissingExtraError
from agent_league.game import GAMES
from agent_league.league.context import Context
from agent_league.league.liveness import Liveness
from agent_league.protocol import Role, tokens
from agent_league.protocol.play import StartMatch
from agent_league.season.roster import AWAY, Entry
from agent_league.store import DeposedError, StoreError
from agent_league.store.events import AgentRecovered, AgentRegistered, MatchEnded
from agent_league.store.queue import MatchQueue, PoolJob, cut_into_jobs, make_key

WATCH_S = 1.0
"""How often the workers are counted, and the queue is compared with what is to be played."""
REPAIR_S = 3.0
"""A match that has been neither in the queue nor reported for so long goes in again."""
JOB_S = 0.1
"""Matches are put together until a job takes a worker about so long."""
GATHER_S = 0.02
"""How long short matches wait for each other."""
MAX_CHUNK = 8
DEPTH, SHORT_DEPTH = 2, 16
"""How many matches are in the queue for each seat: few, so that an order is seldom outdated."""
VERSION = "1.0.0"
MAX_ATTEMPTS = 20


def choose_chunk(ended: int, seconds: float, seats: int) -> int:
    """Return how many matches go into a job, if so many have *ended* on so many *seats*."""
    if not seats or seconds <= 0:
        return 1
    return max(1, min(MAX_CHUNK, int(ended / seconds / seats * JOB_S)))


class Pool(Protocol):
    """What the dispatcher uses of the pool."""

    def owns(self, referee_id: str) -> bool:
        """Whether *referee_id* is the pool."""
        ...

    def make_ticket(self, match_id: str) -> str:
        """Return the ticket of the present attempt at a match."""
        ...

    def put(self, order: StartMatch) -> None:
        """Have a match played by whichever worker takes it."""
        ...

    def take_back(self, match_id: str) -> None:
        """Forget a match that has ended, or that another referee gets."""
        ...

    def repeat(self, match_id: str) -> None:
        """Make the next attempt at a match a new one: the result of this one does not count."""
        ...


class NoPool:
    """Owns no match."""

    def owns(self, referee_id: str) -> bool:
        return False

    def make_ticket(self, match_id: str) -> str:
        return tokens.new_ticket()

    def put(self, order: StartMatch) -> None:
        raise NotImplementedError

    def take_back(self, match_id: str) -> None:
        """Do nothing."""

    def repeat(self, match_id: str) -> None:
        """Do nothing."""


class QueuedPool:
    """Puts matches into the queue, and again if they get lost there.

    All leaders of a league make the same token and the same tickets for the pool, from the key of
    the league. So a worker goes on with a match when another manager takes over.
    """

    def __init__(
        self, context: Context, liveness: Liveness, queue: MatchQueue, endpoint: str
    ) -> None:
        self._context, self._season = context, context.season
        self._liveness, self._queue, self._endpoint = liveness, queue, endpoint
        self._league_id = context.season.settings.league_id
        known = [one for one in self._season.roster.of(Role.REFEREE) if one.pooled]
        self.referee_id: str | None = known[0].agent_id if known else None
        self._attempts: Counter[str] = Counter()
        self._open: dict[str, tuple[StartMatch, float]] = {}
        """The matches that the pool has: the order of each, and when it was last put in."""
        self._waiting: list[StartMatch] = []
        self._queued: set[str] = set()
        """What was in the queue when it was last looked at."""
        self._is_flushing = False
        self._ended = 0
        """The matches of the pool that have ended since the workers were last counted."""
        self._chunk = 1
        self._complaint = ""
        context.events.when_kept(MatchEnded, self._on_match_ended)

    def owns(self, referee_id: str) -> bool:
        return referee_id == self.referee_id

    def make_ticket(self, match_id: str) -> str:
        given = self._season.assignments.get(match_id)
        if given is not None and match_id not in self._attempts:
            attempts = range(MAX_ATTEMPTS)  # perhaps made by the leader before this one
            hashes = (tokens.hash_token(self._derive_ticket(match_id, n)) for n in attempts)
            earlier = [n for n, digest in enumerate(hashes) if digest == given.ticket_hash]
            self._attempts[match_id] = earlier[0] if earlier else 0
        return self._derive_ticket(match_id, self._attempts[match_id])

    def _derive_ticket(self, match_id: str, attempt: int) -> str:
        secret = derive_secret(self._context.keyring.league_key, "ticket", match_id, str(attempt))
        return f"tkt_{secret}"

    def _derive_token(self, referee_id: str) -> str:
        secret = derive_secret(self._context.keyring.league_key, "pool", referee_id)
        return f"tok_{referee_id}_{secret}"

    def repeat(self, match_id: str) -> None:
        self._attempts[match_id] += 1
        self._open.pop(match_id, None)

    def take_back(self, match_id: str) -> None:
        self._open.pop(match_id, None)

    def put(self, order: StartMatch) -> None:
        self._open[order.match_id] = order, asyncio.get_running_loop().time()
        self._waiting.append(order)
        if not self._is_flushing:
            self._is_flushing = True
            self._context.spawn(self._flush())

    async def _flush(self) -> None:
        """Put what waits into the queue, and what comes in meanwhile."""
        try:
            while self._waiting:
                if self._chunk > 1:
                    await asyncio.sleep(GATHER_S)
                orders, self._waiting = self._waiting, []
                await self._context.events.flush()  # a worker reads there who has the match
                wanted = [order for order in orders if order.match_id in self._open]
                await self._submit([one for one in wanted if _key(one) not in self._queued])
        finally:
            self._is_flushing = False

    async def _submit(self, orders: Sequence[StartMatch]) -> None:
        if not orders or self.referee_id is None:
            return
        referee_id, token = self.referee_id, self._derive_token(self.referee_id)

        def make_job(chunk: list[StartMatch]) -> PoolJob:
            return PoolJob(self._league_id, referee_id, token, chunk)

        try:
            await self._queue.submit(list(cut_into_jobs(orders, self._chunk, make_job)))
        except (StoreError, MissingExtraError) as error:  # the next look repairs it
            self._complain(error)

    async def run(self) -> None:
        """Keep the pool in the league as long as it has workers, and the queue complete."""
        loop = asyncio.get_running_loop()
        looked_at = loop.time()
        while True:
            try:
                seats = await self._queue.count_seats()
                if self.referee_id is not None:
                    self._queued = set(await self._queue.list_queued(self._league_id))
                self._chunk = choose_chunk(self._ended, loop.time() - looked_at, seats)
                self._ended, looked_at = 0, loop.time()
                await self._adapt(seats)
                await self._repair(loop.time())
                self._complaint = ""
            except DeposedError:
                return
            except StoreError as error:
                self._complain(error)
            await asyncio.sleep(WATCH_S)

    def _complain(self, error: Exception) -> None:
        if str(error) != self._complaint:
            log.warning("the referee pool cannot be used now: %s", error)
        self._complaint = str(error)

    async def _adapt(self, seats: int) -> None:
        """Let the pool join, leave, or take more or fewer matches, as its workers come and go."""
        capacity = seats * (DEPTH if self._chunk == 1 else SHORT_DEPTH)
        entry = self._season.roster.get(self.referee_id or "")
        if not seats:
            if entry is not None:
                await self._liveness.suspend(entry, "has no workers")
        elif entry is None or not capacity <= entry.capacity <= seats * SHORT_DEPTH:
            await self._register(entry, seats, capacity)
        elif entry.state in AWAY:
            event = AgentRecovered(at=self._context.now(), agent_id=entry.agent_id)
            await self._context.events.append(event)

    async def _register(self, entry: Entry | None, seats: int, capacity: int) -> None:
        roster, now = self._season.roster, self._context.clock()
        referee_id = entry.agent_id if entry else roster.free_id(Role.REFEREE, "")
        lifetime = timedelta(hours=self._season.settings.token_hours)
        event = AgentRegistered(
            at=self._context.now(),
            role=Role.REFEREE,
            agent_id=referee_id,
            display_name=f"Referee pool ({seats} seats)",
            version=VERSION,
            endpoint=self._endpoint,
            game_types=sorted(GAMES),
            token_hash=tokens.hash_token(self._derive_token(referee_id)),
            expires=format_exact_time(now + lifetime),
            capacity=capacity,
            pooled=True,
        )
        self.referee_id = referee_id
        await self._context.events.append(event)

    async def _repair(self, now: float) -> None:
        """Put the matches in again that should be in the queue, and are not."""
        lost = [
            order
            for order, put_in_at in self._open.values()
            if put_in_at < now - REPAIR_S and _key(order) not in self._queued
        ]
        self._open |= {order.match_id: (order, now) for order in lost}
        await self._submit(lost)

    def _on_match_ended(self, ended: MatchEnded) -> None:
        self._attempts.pop(ended.match_id, None)
        if self._open.pop(ended.match_id, None) is not None:
            self._ended += 1


def _key(order: StartMatch) -> str:
    return make_key(order.match_id, order.ticket)
