"""The referee pool: its workers take matches from a queue, and the league loses none of them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from agent_league.league.pool import MAX_CHUNK, QueuedPool, choose_chunk
from agent_league.protocol import tokens
from agent_league.protocol.play import StartMatch
from agent_league.running.pool_worker import PoolWorker
from agent_league.store import StoreError
from agent_league.store.events import AgentRegistered, AgentSuspended, MatchAssigned, MatchEnded
from agent_league.store.postgres_queue import PostgresQueue
from agent_league.store.queue import PoolJob, decode_job, encode_job
from league_box import LEAGUE_URL, Box
from timewarp import run

POOL_URL = "http://league/pool"


class MemoryQueue:
    """A queue that may lose jobs, deliver them twice, and be away."""

    def __init__(self, box: Box, seats: int = 4) -> None:
        self.box, self.seats = box, seats
        self.submitted: list[PoolJob] = []
        self.pending: list[bytes] = []
        self.taken: list[PoolJob] = []
        self.arrived = asyncio.Event()
        self.loses: Callable[[PoolJob], bool] = lambda job: False
        self.is_away = False

    async def count_seats(self) -> int:
        if self.is_away:
            raise StoreError("the queue is away")
        return self.seats

    async def list_queued(self, league_id: str) -> set[str]:
        jobs = [*map(decode_job, self.pending), *self.taken]
        return {key for job in jobs for key in job.keys}

    async def submit(self, jobs: Sequence[PoolJob]) -> None:
        self.submitted += jobs
        self.pending += [encode_job(job) for job in jobs if not self.loses(job)]
        self.arrived.set()

    async def find_leaders(self) -> dict[str, str]:
        return {self.box.settings.league_id: LEAGUE_URL}

    async def is_wanted(self, league_id: str, match_id: str, ticket_hash: str) -> bool:
        given = [e for e in self.box.happened(MatchAssigned) if e.match_id == match_id]
        ended = [e for e in self.box.happened(MatchEnded) if e.match_id == match_id]
        return not ended and given[-1].ticket_hash == ticket_hash

    async def work(self, worker: PoolWorker, times: int = 1) -> None:
        """Let *worker* play what is in the queue, each job so many times."""
        while True:
            await self.arrived.wait()
            self.arrived.clear()
            while self.pending:
                job = decode_job(self.pending.pop(0))
                self.taken.append(job)
                for _ in range(times):
                    await worker.play(job)
                self.taken.remove(job)


def make_worker(box: Box, queue: MemoryQueue) -> PoolWorker:
    return PoolWorker(cast(PostgresQueue, queue), box.net, queue.seats)


async def play(box: Box, queue: MemoryQueue, times: int = 1) -> None:
    """Play a league whose only referee is the pool."""
    await box.open()
    box.manager.use_pool(queue, POOL_URL)
    worker = make_worker(box, queue)
    working = asyncio.ensure_future(queue.work(worker, times))
    await box.fill()
    await box.manager.run()
    working.cancel()
    await box.close()


def make_box(players: int = 4, **settings: Any) -> Box:
    return Box(["random"] * players, referees=0, **settings)


def list_ended(box: Box) -> list[str]:
    return sorted(event.match_id for event in box.happened(MatchEnded))


def test_a_pool_without_any_other_referee_plays_a_league() -> None:
    box = make_box()
    queue = MemoryQueue(box)
    run(play(box, queue))
    assert list_ended(box) == ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"]
    (registered, *_) = [e for e in box.happened(AgentRegistered) if e.role == "referee"]
    assert (registered.agent_id, registered.pooled) == ("REF01", True)
    assert {event.referee_id for event in box.happened(MatchEnded)} == {"REF01"}
    assert not [one for one in box.exchanges if "/pool" in one.url]  # there is nobody to call


def test_a_job_that_is_delivered_twice_is_played_once() -> None:
    box = make_box()
    run(play(box, MemoryQueue(box), times=2))
    assert len(box.sent(StartMatch)) == 0
    assert len(list_ended(box)) == 6
    reports = [one for one in box.exchanges if one.kind == "MATCH_RESULT_REPORT"]
    assert len(reports) == 6


def test_matches_that_get_lost_in_the_queue_go_in_again() -> None:
    box = make_box()
    queue, seen = MemoryQueue(box), set[str]()

    def is_first(job: PoolJob) -> bool:
        is_new = not seen & {*job.keys}
        seen.update(job.keys)
        return is_new

    queue.loses = is_first
    run(play(box, queue))
    assert len(list_ended(box)) == 6
    assert len(queue.submitted) == 12


def test_a_pool_without_workers_is_suspended_and_comes_back() -> None:
    async def main() -> None:
        playing = asyncio.ensure_future(play(box, queue))
        await asyncio.sleep(5)
        assert not box.happened(AgentRegistered) or not list_ended(box)
        queue.seats = 4
        while not box.happened(MatchEnded):  # noqa: ASYNC110 - in virtual time
            await asyncio.sleep(0.01)
        queue.seats = 0
        await asyncio.sleep(3)
        queue.seats = 4
        await playing

    box = make_box(8)
    queue = MemoryQueue(box, seats=0)
    run(main())
    assert len(list_ended(box)) == 28
    assert all("no workers" in event.why for event in box.happened(AgentSuspended))


def test_a_pool_and_other_referees_share_the_matches() -> None:
    box = Box(["random"] * 8, referees=1, capacity=1)
    queue = MemoryQueue(box)
    run(play(box, queue))
    by_referee = {event.referee_id for event in box.happened(MatchEnded)}
    assert len(list_ended(box)) == 28
    assert len(by_referee) == 2


def test_the_queue_may_be_away_for_a_while(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        playing = asyncio.ensure_future(play(box, queue))
        await asyncio.sleep(5)
        queue.is_away = False
        await playing

    box = make_box()
    queue = MemoryQueue(box)
    queue.is_away = True
    run(main())
    assert len(list_ended(box)) == 6
    assert caplog.text.count("cannot be used now") == 1


def test_every_leader_makes_the_same_tickets_and_another_one_for_another_attempt() -> None:
    box = make_box()

    def make_pool() -> QueuedPool:
        liveness = box.manager.season_runner.liveness
        return QueuedPool(box.manager._context, liveness, MemoryQueue(box), POOL_URL)

    async def main() -> None:
        first = make_pool()
        ticket = first.make_ticket("R1M1")
        assert make_pool().make_ticket("R1M1") == ticket
        first.repeat("R1M1")
        again = first.make_ticket("R1M1")
        assert again != ticket
        assigned = MatchAssigned(
            at="", match_id="R1M1", referee_id="REF01", ticket_hash=tokens.hash_token(again)
        )
        box.season.assignments["R1M1"] = assigned
        assert make_pool().make_ticket("R1M1") == again

    run(main())


@pytest.mark.parametrize(
    ("ended", "seconds", "seats", "chunk"),
    [
        (0, 1.0, 10, 1),
        (10, 1.0, 10, 1),
        (200, 1.0, 10, 2),
        (10**6, 1.0, 10, MAX_CHUNK),
        (5, 0, 0, 1),
    ],
)
def test_short_matches_go_in_chunks(ended: int, seconds: float, seats: int, chunk: int) -> None:
    assert choose_chunk(ended, seconds, seats) == chunk
