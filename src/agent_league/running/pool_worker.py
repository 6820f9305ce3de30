"""A worker of the referee pool: takes matches of any league from the queue, and referees them."""

import asyncio
import logging
import os
import secrets
import socket
from contextlib import suppress

from agent_league.agent_log import AgentLog
from agent_league.game import GAMES
from agent_league.http.exchange import Wire
from agent_league.protocol import LeagueError, tokens
from agent_league.protocol.play import StartMatch
from agent_league.protocol.registration import RefereeMeta
from agent_league.referee.pooled import PooledReferee
from agent_league.running.members import flush_regularly
from agent_league.running.serve import open_client
from agent_league.running.specs import VERSION
from agent_league.store import StoreError
from agent_league.store.postgres_queue import SIGN_ON_S, PostgresQueue
from agent_league.store.queue import PoolJob

log = logging.getLogger("agent_league")


class PoolWorker:
    """Plays the matches of each job one after the other; *seats* jobs at once."""

    def __init__(
        self, queue: PostgresQueue, wire: Wire, seats: int, agent_log: AgentLog | None = None
    ) -> None:
        self._queue, self._wire, self._seats = queue, wire, seats
        self._log = agent_log or AgentLog()
        self.worker_id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        """Another one each time: a worker that is started again does not continue its dead self."""
        self._referees: dict[tuple[str, str], PooledReferee] = {}
        self._leaders: dict[str, str] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Take jobs until *stop* is set, then end those that were begun."""
        await self._queue.install()
        living = asyncio.ensure_future(self._sign_on_regularly())
        try:
            await self._queue.run(self.play, self._seats, stop)
        finally:
            living.cancel()
            with suppress(StoreError):
                await self._queue.sign_off(self.worker_id)
            for referee in self._referees.values():
                await referee.close()

    async def _sign_on_regularly(self) -> None:
        """Say every second that this worker lives, and look who leads."""
        while True:
            with suppress(StoreError):
                await self._queue.sign_on(self.worker_id, self._seats)
                self._follow(await self._queue.find_leaders())
            await asyncio.sleep(SIGN_ON_S)

    def _follow(self, leaders: dict[str, str]) -> None:
        self._leaders = leaders
        for (league_id, _), referee in self._referees.items():
            if league_id in leaders:
                referee.lead_to(leaders[league_id])

    async def play(self, job: PoolJob) -> None:
        """Play the matches of *job* that have no result yet."""
        referee = await self._find_referee(job)
        for order in job.orders:
            if await self._is_wanted(job.league_id, order):
                await self._play_one(referee, job.league_id, order)

    async def _is_wanted(self, league_id: str, order: StartMatch) -> bool:
        """Whether the match is still to be played; without PostgreSQL nobody knows, so it is."""
        ticket_hash = tokens.hash_token(order.ticket)
        with suppress(StoreError):
            return await self._queue.is_wanted(league_id, order.match_id, ticket_hash)
        return True

    async def _play_one(self, referee: PooledReferee, league_id: str, order: StartMatch) -> None:
        try:
            is_kept = await referee.referee_match(order)
        except LeagueError as error:
            log.warning("%s of %s cannot be refereed here: %s", order.match_id, league_id, error)
            return
        name = "RESULT_ACKNOWLEDGED" if is_kept else "RESULT_REFUSED"
        self._log.note(name, league_id=league_id, match_id=order.match_id)

    async def _find_referee(self, job: PoolJob) -> PooledReferee:
        key = job.league_id, job.referee_id
        while job.league_id not in self._leaders:  # perhaps one manager takes over from another
            self._follow(await self._queue.find_leaders())
            if job.league_id not in self._leaders:
                await asyncio.sleep(SIGN_ON_S)
        if key not in self._referees:
            meta = RefereeMeta(
                display_name="Referee pool",
                version=VERSION,
                game_types=sorted(GAMES),
                contact_endpoint="",
                max_concurrent_matches=self._seats,
            )
            url = self._leaders[job.league_id]
            referee = PooledReferee(job.referee_id, self._wire, url, meta=meta)
            referee.league_id = job.league_id
            referee.set_log(self._log)
            self._referees[key] = referee
        self._referees[key].token = job.token
        return self._referees[key]


async def run_pool_worker(
    address: str, seats: int, stop: asyncio.Event, agent_log: AgentLog | None = None
) -> None:
    """Run a worker for the leagues of the store at *address* until *stop* is set."""
    queue = PostgresQueue(address, "the queue of the referee pool")
    own_log = agent_log or AgentLog()
    async with open_client() as wire, flush_regularly([own_log]):
        try:
            await PoolWorker(queue, wire, seats, own_log).run(stop)
        finally:
            await queue.close()
